#!/usr/bin/env node
// npm run maintain -- mutants: plants faults with cargo-mutants (Rust) and Stryker (JavaScript),
// and lists those that no test finds. A survivor is a missing assertion or a superfluous line, or
// changes nothing that a test could see. Fails if tests find less than 95 % of the faults.
//
//   usage: node tools/check/mutants.mjs rust|js [OPTIONS]
//
//     --since    the lines that changed since a commit; default: the last tag, else HEAD~1
//     --whole    instead, all lines
//     --sample   about this number of these lines (JavaScript) or faults (Rust); default all
//     --seed     which of them, default 0
//     --in       only faults in this file or folder, such as lib/chat; default all
//     --spec     JavaScript: the specs that may find the faults, such as core/decode; default all
//
// Needs cargo-mutants (cargo install --locked cargo-mutants); npx gets Stryker. Each fault in Rust
// takes a build of its crate's tests and a run of them, and Stryker runs all its specs once before
// the first fault. .github/workflows/weekly.yml runs both, with the number of the week as the seed.

import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { specNames, specOf } from './specs.mjs'
import { root, run, stop } from '../setup.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    since: { type: 'string' },
    whole: { type: 'boolean', default: false },
    sample: { type: 'string' },
    seed: { type: 'string', default: '0' },
    in: { type: 'string', multiple: true },
    spec: { type: 'string', multiple: true },
  },
})
const [seed, sample] = [values.seed, values.sample ?? Infinity].map(Number)
if (!Number.isInteger(seed) || seed < 0) stop('--seed is a whole number')
if (!(sample >= 1) || sample % 1 > 0) stop('--sample is a whole number above 0')
if (values.whole && values.since !== undefined) stop('--whole and --since name other lines')

const output = path.join(root, 'target', 'mutants')
/** The last version for Node 20. */
const STRYKER = '9.6.1'
/** Percentage of faults that tests must find. The others leave space for equivalent ones. */
const GOAL = 95
/** Exit statuses of cargo-mutants: all faults found, some missed, some found by their time. */
const CARGO_MUTANTS_RAN = [0, 2, 3]
/** What JavaScript consists of, apart from generated modules. */
const SOURCES = values.in ?? ['index.js', 'lib', 'cli', 'dropins', 'packages', 'web']
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 })

fs.mkdirSync(output, { recursive: true })
const kinds = { rust, js }
if (!Object.hasOwn(kinds, positionals[0] ?? '')) stop('usage: npm run maintain -- mutants rust|js [OPTIONS]')
process.exit(kinds[positionals[0]]() ? 0 : 1)

/** The commit since which lines have changed: the last release. */
function since() {
  if (values.since !== undefined) return values.since
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', 'HEAD~1'], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : 'HEAD~1'
}

function nothing() {
  console.log('no line to plant a fault in')
  return true
}

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
  if (!values.whole) {
    const diff = path.join(output, 'since.diff')
    const changed = git('diff', since(), '--', '*.rs')
    if (changed === '') return nothing()
    fs.writeFileSync(diff, changed)
    common.push('--in-diff', diff)
  }
  const listed = execFileSync('cargo', [...common, '--list', '--json'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  const { every, first } = step(JSON.parse(listed).length)
  const { status } = spawnSync('cargo', [...common, '--sharding', 'round-robin', '--shard', `${first}/${every}`], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  return CARGO_MUTANTS_RAN.includes(status) && reachesGoal(path.join(output, 'mutants.out'))
}

/** Whether the lists of cargo-mutants have enough faults that a test or its time limit found. */
function reachesGoal(folder) {
  const count = (name) => fs.readFileSync(path.join(folder, `${name}.txt`), 'utf8').split('\n').length - 1
  const [missed, found] = [count('missed'), count('caught') + count('timeout')]
  console.log(`found: ${found} of ${found + missed}`)
  return found >= (GOAL / 100) * (found + missed)
}

function js() {
  const lines = values.whole ? allLines() : changedLines()
  const { every, first } = step(lines.length)
  const mutate = lines.filter((_, at) => at % every === first)
  if (mutate.length === 0) return nothing()
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
    thresholds: { high: 100, low: GOAL, break: GOAL },
  }
  const file = path.join(output, 'stryker.json')
  fs.writeFileSync(file, JSON.stringify(config))
  const packages = ['core', 'tap-runner'].map((name) => `--package=@stryker-mutator/${name}@${STRYKER}`)
  return run('npx', ['--yes', ...packages, '--', 'stryker', 'run', file], { shell: process.platform === 'win32' })
}

/** The lines of JavaScript in which a fault can be, as Stryker takes them: `FILE:FIRST-LAST`. */
function allLines() {
  return git('ls-files', '--', ...SOURCES)
    .split('\n')
    .filter((file) => /\.m?js$/.test(file) && !file.includes('/test/'))
    .flatMap((file) => {
      const lines = fs.readFileSync(path.join(root, file), 'utf8').split('\n')
      return lines.flatMap((line, at) => (isCode(line) ? [`${file}:${at + 1}-${at + 1}`] : []))
    })
}

/** Whether a line is neither empty, nor a comment, nor only closes something. */
function isCode(line) {
  return !/^\s*(?:$|\/\/|\/?\*|[)\]}])/.test(line)
}

/** Those lines that have changed. */
function changedLines() {
  const changed = new Set()
  let file
  for (const line of git('diff', '--unified=0', since(), '--', ...SOURCES).split('\n')) {
    file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1] ?? file
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    for (let at = Number(first); at < Number(first) + Number(count); at++) changed.add(`${file}:${at}-${at}`)
  }
  return allLines().filter((line) => changed.has(line))
}
