#!/usr/bin/env node
// npm run sanitize: runs the core's tests with ThreadSanitizer and AddressSanitizer, and the specs
// with an addon that is built with AddressSanitizer.
//
// usage: npm run maintain -- sanitize [threads | tests [TEST…] | specs [SPEC…]]     default: all
// three
//
// TEST is a part of a test's path, such as batch::; SPEC is a part of a spec's folder and name.
//
// Needs Linux, `rustup toolchain install nightly --component rust-src`, and gcc. The specs also
// need the files that `npm run build` writes. Tests that try every interleaving are skipped: they
// switch stacks, which sanitizers do not support.
//
// For the specs the addon is built with the system allocator, and the sanitizer's runtime is
// preloaded into Node. Leaks are not reported, because Node itself ends with allocated memory.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root, run, stop } from '../setup.mjs'
import { CORE_SPECS, named, specNames } from './specs.mjs'

const TARGET = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`

/**
 * The specs that call the addon in their own process. The others start programs (the preloaded
 * runtime would be loaded there too), build or pack, or measure memory or time.
 */
const SPECS = [
  ...CORE_SPECS,
  ...named('core', 'split split-markdown split-blocks hostile-calls printing models-by-name first-tries queue-stats'),
  ...named('core', 'other-files cpu-levels slices short-texts'),
  ...named('dropins', 'calls limits'),
  'packages/js-tiktoken/test/js-tiktoken',
  ...named('cli', 'encode-decode-count on-error parquet'),
  ...named('chat', 'templates limits agents'),
  ...named('packages/corpus/test', 'json-field corpus parquet combinations'),
  ...named('conformance', 'golden limits stream'),
]

/** Excluded tests of these specs: they measure memory or time. */
const EXCLUDED_TESTS = ['equal bytes share one tokenizer in memory', 'damaged and malicious files']

/** Filters for the tests with several threads: those of the core, of memory and of training. */
const THREADS = [
  'batch::',
  'fuzzing::tests::random::rows',
  'fuzzing::tests::random::parts',
  'shared::tests::',
  'slab::tests::',
  'table::tests::',
  'count::tests::',
  'unigram::tests::',
]

/**
 * Sanitized builds are slow. Dependencies are optimized like the core, and debug information has
 * only line tables.
 */
const PROFILE = ['profile.dev.debug="line-tables-only"', 'profile.dev.package."*".opt-level=1'].flatMap((option) => [
  '--config',
  option,
])

const [what, ...wanted] = process.argv.slice(2)
if (what !== undefined && !['threads', 'tests', 'specs'].includes(what))
  stop('usage: npm run maintain -- sanitize [threads | tests [TEST…] | specs [SPEC…]]')
const wants = (name) => what === undefined || what === name
const failed = []
if (wants('threads') && !runTests('thread', ['-Zbuild-std'], THREADS)) failed.push('the tests with ThreadSanitizer')
if (wants('tests') && !runTests('address', [], wanted)) failed.push('the tests with AddressSanitizer')
if (wants('specs')) failed.push(...failedSpecs(wanted))
if (failed.length > 0) stop(`failed with a sanitizer: ${failed.join(', ')}`)

/**
 * Runs tests of the crates with a target folder for the sanitizer. Returns whether all passed
 * without a report. Stops if no test has one of the names, as after a module has moved.
 */
function runTests(sanitizer, options, names) {
  const env = {
    ...process.env,
    RUSTFLAGS: `-Zsanitizer=${sanitizer}`,
    CARGO_TARGET_DIR: path.join(root, 'target', 'sanitize', sanitizer),
    CARGO_INCREMENTAL: '0',
    ASAN_OPTIONS: 'detect_leaks=0',
    TSAN_OPTIONS: 'halt_on_error=1',
  }
  const args = [
    '+nightly',
    'test',
    ...PROFILE,
    ...options,
    '--target',
    TARGET,
    '--workspace',
    '--exclude',
    'tokenlane',
    '--lib',
    '--',
    '--skip',
    'interleaving',
    ...names,
  ]
  const listed = spawnSync('cargo', [...args, '--list'], { cwd: root, env, encoding: 'utf8', stdio: [0, 'pipe', 2] })
  const unknown = names.filter((name) => !listed.stdout.includes(name))
  if (listed.status === 0 && unknown.length > 0) stop(`no test has ${unknown.join(' or ')} in its path`)
  return run('cargo', args, { env })
}

/** Builds the addon with AddressSanitizer, and runs specs. Returns the names of failed specs. */
function failedSpecs(wanted) {
  if (!fs.existsSync(path.join(root, 'native.js'))) stop('native.js is missing: run "npm run build" first')
  const folder = path.join(root, 'target', 'sanitize', 'address')
  const build = { env: { ...process.env, RUSTFLAGS: '-Zsanitizer=address', CARGO_TARGET_DIR: folder } }
  const args = ['+nightly', 'build', ...PROFILE, '--target', TARGET, '--package', 'tokenlane', '--no-default-features']
  if (!run('cargo', args, build)) stop('the build of the addon with the sanitizer failed')
  const addon = path.join(folder, 'tokenlane.node')
  fs.copyFileSync(path.join(folder, TARGET, 'debug', 'libtokenlane.so'), addon)
  const runtime = spawnSync('gcc', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).stdout?.trim()
  if (!runtime || !fs.existsSync(runtime))
    stop('libasan.so is missing: install gcc (Debian: apt install build-essential)')
  // Reports go to files, because the test runner drops the output of a process that aborts.
  const reports = path.join(folder, 'reports')
  fs.rmSync(reports, { recursive: true, force: true })
  fs.mkdirSync(reports)
  const env = {
    ...process.env,
    LD_PRELOAD: runtime,
    ASAN_OPTIONS: `detect_leaks=0:abort_on_error=1:log_path=${path.join(reports, 'report')}`,
    NAPI_RS_NATIVE_LIBRARY_PATH: addon,
  }
  // A pattern that matches a parent test also runs its subtests, and the root test has a name too.
  const names = `/^(?!${['<root>', ...EXCLUDED_TESTS].join('|')})/`
  return specNames().filter((name) => {
    if (!(wanted.length > 0 ? wanted.some((part) => name.includes(part)) : SPECS.includes(name))) return false
    const passed = run(
      process.execPath,
      [
        '--test',
        '--test-reporter=dot',
        '--test-timeout=900000',
        `--test-name-pattern=${names}`,
        path.join(root, '__test__', `${name}.test.mjs`),
      ],
      { env },
    )
    const found = fs.readdirSync(reports).map((file) => path.join(reports, file))
    for (const file of found) {
      console.log(fs.readFileSync(file, 'utf8').slice(0, 4000))
      fs.rmSync(file)
    }
    const clean = passed && found.length === 0
    console.log(`${clean ? 'ok    ' : 'NOT OK'} ${name}`)
    return !clean
  })
}
