#!/usr/bin/env node
// npm run sanitize: the core's tests under ThreadSanitizer and AddressSanitizer, and the Node specs with an addon that the latter watches.
//
//   usage: npm run sanitize [-- threads | tests | specs [SPEC…]]     all three unless told; SPEC is part of a file's name
//
// Linux, with `rustup toolchain install nightly --component rust-src` and gcc. Models of every interleaving are left out: they
// switch stacks, of which sanitizers know nothing.
//
// For the specs the addon is built with the system's allocator, and Node is started with the runtime of the sanitizer loaded before
// everything else. Leaks are not looked for: Node itself ends with memory in use.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { root, run, stop } from './setup.mjs'

const TARGET = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`

/**
 * Kept out: what builds, packs or starts other programs, which the sanitizer would be loaded into as well; the pages; what
 * measures memory, of which the sanitizer keeps what was freed; and what loads a library that answers for `dlsym`, with which the
 * sanitizer starts in no program.
 */
const OTHERS = ['08-memory', '10-exports', '11-pack', '12-start', '18-external-memory', '18-memory-pool', '19-onnx', '23-page', '24-page', '25-api', '26-wasm']

/** Of the others, tests that measure memory or time. */
const MEASURES = ['the same bytes are one tokenizer in memory', 'files that are damaged or made to do harm']

/** Of the core's tests, those in which threads meet: parts of their names. */
const THREADS = ['batch::', 'memory::shared::', 'memory::table::', 'word_cache::shared::', 'fuzzing::tests::random::rows', 'fuzzing::tests::random::parts']

/**
 * The compiler has more to do for a sanitizer than the tests have: what the core depends on is compiled as the core itself is,
 * and only lines are kept of what debuggers read.
 */
const PROFILE = ['profile.dev.debug="line-tables-only"', 'profile.dev.package."*".opt-level=1'].flatMap((option) => ['--config', option])

const [what, ...wanted] = process.argv.slice(2)
if (what !== undefined && !['threads', 'tests', 'specs'].includes(what)) stop('usage: npm run sanitize [-- threads | tests | specs [SPEC…]]')
const wants = (name) => what === undefined || what === name
const failed = []
if (wants('threads') && !testsUnderWatch('thread', ['-Zbuild-std'], THREADS)) failed.push('the tests under ThreadSanitizer')
if (wants('tests') && !testsUnderWatch('address', [], [])) failed.push('the tests under AddressSanitizer')
if (wants('specs')) failed.push(...failedUnderWatch(wanted))
if (failed.length > 0) stop(`failed under a sanitizer: ${failed.join(', ')}`)

/** Runs tests of the core, built apart from others; says whether all passed and nothing was reported. */
function testsUnderWatch(sanitizer, options, names) {
  const env = {
    ...process.env,
    RUSTFLAGS: `-Zsanitizer=${sanitizer}`,
    CARGO_TARGET_DIR: path.join(root, 'target', 'sanitize', sanitizer),
    CARGO_INCREMENTAL: '0',
    ASAN_OPTIONS: 'detect_leaks=0',
    TSAN_OPTIONS: 'halt_on_error=1',
  }
  const args = ['+nightly', 'test', ...PROFILE, ...options, '--target', TARGET, '--package', 'tokenlane-core', '--lib', '--', '--skip', 'interleaving', ...names]
  return run('cargo', args, { env })
}

/** Builds the addon, apart from other builds, and runs specs with it; gives the names of those that failed. */
function failedUnderWatch(wanted) {
  const folder = path.join(root, 'target', 'sanitize', 'address')
  const build = { env: { ...process.env, RUSTFLAGS: '-Zsanitizer=address', CARGO_TARGET_DIR: folder } }
  const args = ['+nightly', 'build', ...PROFILE, '--target', TARGET, '--package', 'tokenlane', '--no-default-features']
  if (!run('cargo', args, build)) stop('the addon did not build with the sanitizer')
  const addon = path.join(folder, 'tokenlane.node')
  fs.copyFileSync(path.join(folder, TARGET, 'debug', 'libtokenlane.so'), addon)
  const runtime = spawnSync('gcc', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).stdout?.trim()
  if (!runtime || !fs.existsSync(runtime)) stop('there is no libasan.so: install gcc (Debian: apt install build-essential)')
  // The test runner keeps what a process says before it ends.
  const reports = path.join(folder, 'reports')
  fs.rmSync(reports, { recursive: true, force: true })
  fs.mkdirSync(reports)
  const env = {
    ...process.env,
    LD_PRELOAD: runtime,
    ASAN_OPTIONS: `detect_leaks=0:abort_on_error=1:log_path=${path.join(reports, 'report')}`,
    NAPI_RS_NATIVE_LIBRARY_PATH: addon,
  }
  const files = fs.readdirSync(path.join(root, '__test__'), { recursive: true }).filter((name) => name.endsWith('.test.mjs'))
  // A test is run whose parent's name fits, too, and the parent of all has a name of its own.
  const names = `/^(?!${['<root>', ...MEASURES].join('|')})/`
  return files.sort().filter((name) => {
    if (wanted.length > 0 ? !wanted.some((part) => name.includes(part)) : OTHERS.some((other) => name.startsWith(other))) return false
    const passed = run(process.execPath, ['--test', '--test-reporter=dot', '--test-timeout=900000', `--test-name-pattern=${names}`, path.join(root, '__test__', name)], { env })
    const told = fs.readdirSync(reports).map((file) => path.join(reports, file))
    for (const file of told) {
      console.log(fs.readFileSync(file, 'utf8').slice(0, 4000))
      fs.rmSync(file)
    }
    const clean = passed && told.length === 0
    console.log(`${clean ? 'ok    ' : 'NOT OK'} ${name}`)
    return !clean
  })
}
