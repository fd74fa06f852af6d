#!/usr/bin/env node
// npm run maintain -- mutants: plants faults with cargo-mutants (Rust) and Stryker (JavaScript),
// and lists those that no test finds. A survivor is a missing assertion or a superfluous line.
//
//   usage: node tools/check/mutants.mjs rust|js [OPTIONS]
//
//     --since    the lines that changed since a commit, the default: HEAD~1
//     --sample   instead, about this number of lines (JavaScript) or faults (Rust) of the whole
//     --seed     which of them, default 0
//     --in       only faults in this file or folder, such as lib/chat; default all
//     --spec     JavaScript: the specs that may find the faults, such as core/decode; default all
//
// Needs cargo-mutants (cargo install --locked cargo-mutants); npx gets Stryker. Each fault in Rust
// takes a build of its crate's tests and a run of them, and Stryker runs all its specs once before
// the first fault.

import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { specNames, specOf } from './specs.mjs'
import { root, run, stop } from '../setup.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    since: { type: 'string', default: 'HEAD~1' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '0' },
    in: { type: 'string', multiple: true },
    spec: { type: 'string', multiple: true },
  },
})
const [seed, sample] = [values.seed, values.sample ?? '1'].map(Number)
if (!Number.isInteger(seed) || seed < 0) stop('--seed is a whole number')
if (!Number.isInteger(sample) || sample < 1) stop('--sample is a whole number above 0')

const output = path.join(root, 'target', 'mutants')
/** What JavaScript consists of, apart from generated modules. */
const SOURCES = values.in ?? ['index.js', 'lib', 'cli', 'dropins', 'packages', 'web']
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 })

fs.mkdirSync(output, { recursive: true })
const kinds = { rust, js }
if (!Object.hasOwn(kinds, positionals[0] ?? '')) stop('usage: npm run maintain -- mutants rust|js [OPTIONS]')
process.exit(kinds[positionals[0]]() ? 0 : 1)

/** The distance at which about `sample` of `count` are taken, and the first one, by the seed. */
function step(count) {
  const every = Math.max(1, Math.floor(count / sample))
  return { every, first: seed % every }
}

function rust() {
  if (spawnSync('cargo', ['mutants', '--version']).status !== 0)
    stop('there is no cargo-mutants: "cargo install --locked cargo-mutants" gets it')
  const files = (values.in ?? []).flatMap((name) => ['--file', name.endsWith('.rs') ? name : `${name}/**`])
  const common = ['mutants', '--workspace', '--output', output, ...files]
  // The property tests draw the same cases each time, as in `npm test`; nobody debugs a mutant.
  const env = { ...process.env, PROPTEST_RNG_SEED: '1', CARGO_PROFILE_DEV_DEBUG: '0' }
  if (values.sample === undefined) {
    const diff = path.join(output, 'since.diff')
    fs.writeFileSync(diff, git('diff', values.since, '--', '*.rs'))
    return run('cargo', [...common, '--in-diff', diff], { env })
  }
  const listed = execFileSync('cargo', [...common, '--list', '--json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  const { every, first } = step(JSON.parse(listed).length)
  return run('cargo', [...common, '--sharding', 'round-robin', '--shard', `${first}/${every}`], { env })
}

function js() {
  const mutate = values.sample === undefined ? changedLines() : sampledLines()
  if (mutate.length === 0) stop('no line of JavaScript to plant a fault in')
  const testFiles = (values.spec ?? specNames()).map((name) => specOf(name).file)
  const config = {
    mutate,
    testRunner: 'tap',
    tap: { testFiles, nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'] },
    ignorePatterns: ['target', '/.git', '/fuzz', '/docs/api', '*.tgz'],
    // A type that a fault breaks is no fault of a running program.
    disableTypeChecks: false,
    reporters: ['clear-text', 'json'],
    jsonReporter: { fileName: path.join(output, 'js.json') },
    tempDirName: path.join('target', 'mutants', 'js'),
    concurrency: 2,
    timeoutMS: 120_000,
  }
  const file = path.join(output, 'stryker.json')
  fs.writeFileSync(file, JSON.stringify(config))
  // The last version for Node 20.
  const packages = ['core', 'tap-runner'].map((name) => `--package=@stryker-mutator/${name}@9`)
  return run('npx', ['--yes', ...packages, '--', 'stryker', 'run', file], { shell: process.platform === 'win32' })
}

/** The changed lines of JavaScript, as Stryker takes them: `FILE:FIRST-LAST`. */
function changedLines() {
  const found = []
  let file
  for (const line of git('diff', '--unified=0', values.since, '--', ...SOURCES).split('\n')) {
    file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1] ?? file
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (first === undefined || count === '0' || !/\.m?js$/.test(file)) continue
    found.push(`${file}:${first}-${Number(first) + Number(count) - 1}`)
  }
  return found
}

/** Lines of the whole that are neither empty nor comments. */
function sampledLines() {
  const files = git('ls-files', '--', ...SOURCES).split('\n')
  const lines = files
    .filter((file) => /\.m?js$/.test(file))
    .flatMap((file) =>
      fs
        .readFileSync(path.join(root, file), 'utf8')
        .split('\n')
        .flatMap((text, at) => (/^\s*(?:$|\/\/|\/?\*|[)\]}])/.test(text) ? [] : [`${file}:${at + 1}-${at + 1}`])),
    )
  const { every, first } = step(lines.length)
  return lines.filter((_, at) => at % every === first).slice(0, sample)
}
