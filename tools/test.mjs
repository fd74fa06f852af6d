#!/usr/bin/env node
// npm test: runs every check of the project, and prints the time of each. First installs missing
// dependencies and builds the addon.
//
//   usage: node tools/test.mjs [--only NAME] [--long]
//
//   --only   runs the checks whose name has this part
//   --long   runs the specs of LONG_SPECS and all Rust tests, too, with random cases in the
//            property tests
//
// The last line is the count of the Node specs. Specs that were skipped as a whole are listed above
// it, with the reason and the command that runs them, and so is @tokenlane/web if it cannot be
// built here.

import { spawn, spawnSync } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'

import { named, specNames, specOf } from './check/specs.mjs'
import { NO_TARGET, buildIsOld, checkCompilers, checkNode, install, root, run, stop, webIsOld } from './setup.mjs'

const { values } = parseArgs({ options: { only: { type: 'string' }, long: { type: 'boolean' } } })

checkNode()

// A build from an empty target folder takes longer with it, and CI always has one.
if (process.env.CI) process.env.CARGO_INCREMENTAL = '0'

// The property tests draw the same cases each time, so that a change fails by what it changes.
// `cargo test` without this variable draws others.
if (!values.long) process.env.PROPTEST_RNG_SEED ??= '1'

// The specs test what the addon does, not its speed. The profile `quick` of Cargo.toml has no
// link-time optimization, and its addon checks overflows and debug assertions. The release workflow
// runs the specs on the addon that it publishes; `npm run build` and the benchmarks build it, too.
//
// The addon and the Rust tests are built with the same packages, profile and target: Cargo then
// compiles what both need once. The specs of @tokenlane/web test crates/web, which has no tests in
// Rust. It has the same profile, too: both need the same macros.
const QUICK_BUILD = ['--profile', 'quick']
const PACKAGES = ['--workspace', '--exclude', 'tokenlane-web']
const FORMATTING = 'formatting (cargo fmt)'
const RUST_TESTS = 'Rust tests (cargo test)'
// A test that takes a minute is ignored without --long.
const IGNORED = values.long ? ['--', '--include-ignored'] : []
/** The folder of the specs of corpora and training. */
const CORPUS = 'packages/corpus/test'
/** They start first, so that no core is idle at the end. */
const LONGEST_SPECS = [
  ...named(CORPUS, 'job-queue s3 hostile-jobs'),
  ...['conformance/golden', 'chat/limits', 'cli/hostile-input', 'package/exports', 'package/pack'],
]

/**
 * What hostile input, jobs, files and calls can do, combinations of options, jobs in stores, and
 * the page in a browser.
 */
const LONG_SPECS = [
  ...['cli/hostile-input', 'packages/requests/test/bodies'],
  ...['page-chromium', 'page-modes', 'page-view'].map((name) => `packages/page/test/${name}`),
  ...['core/file-limits', 'core/growth', 'chat/limits', 'dropins/limits'],
  ...named(CORPUS, 'content-jobs content-real hostile-redis signals combinations hostile-jobs'),
  ...named(CORPUS, 's3 stores hub-datasets flips'),
]
/** They need @tokenlane/web, whose build begins after the Rust tests. So they start last. */
const WEB_SPECS = [
  ...['web', 'dropins', 'memory'].map((name) => `packages/web/test/${name}`),
  'packages/requests/test/web',
]

/** @typedef {[name: string, check: () => boolean | Promise<boolean>][]} Checks */

/** @type {Checks} They run while the addon is built. Clippy and rustdoc are in `npm run lint`. */
const LINTS = [
  [FORMATTING, () => run('cargo', ['fmt', '--all', '--check'])],
  ['lints of JavaScript (biome)', () => run(process.execPath, ['tools/maintain.mjs', 'lint'])],
  ['cycles of modules', () => run(process.execPath, ['tools/maintain.mjs', 'cycles'])],
  ['widths of comments', () => run(process.execPath, ['tools/maintain.mjs', 'widths'])],
]
/** @type {Checks[]} They run side by side: a compiler and the specs leave gaps to each other. */
const TESTS = [
  [
    [RUST_TESTS, rustTests],
    ['@tokenlane/web', async () => (await webBuild()) !== FAILED],
  ],
  [
    ['the addon', () => addonBuilt],
    ['types of JavaScript (tsc)', () => shown(process.execPath, ['tools/maintain.mjs', 'types'])],
    ['Node specs (node --test)', nodeSpecs],
  ],
]

let summary = []
install()
// A release tests its addons in images without a compiler.
if (buildIsOld() || [FORMATTING, RUST_TESTS].some(isWanted)) checkCompilers()
/** A promise of how the build of @tokenlane/web ended, once it has begun. */
let webBuilt
const FAILED = 'its build failed'
// Lints and Rust tests run meanwhile. The types of native.js exist only after this build.
const addonBuilt = buildAddon()

const failed = []
await inTurn(LINTS)
await Promise.all(TESTS.map(inTurn))
if (!(await addonBuilt)) stop('the addon did not build; the output of the compiler is above')
if (failed.length > 0) console.log(`\nfailed: ${failed.join(', ')}`)
const noWeb = await webBuilt
if (noWeb !== undefined) console.log(`\nNOT TESTED: @tokenlane/web and its drop-ins: ${noWeb}`)
if (summary.length > 0) console.log(`\n${summary.join('\n')}`)
process.exit(failed.length > 0 ? 1 : 0)

function isWanted(check) {
  return values.only === undefined || check.includes(values.only)
}

/** Runs checks one after the other. */
async function inTurn(checks) {
  for (const [name, check] of checks) {
    if (!isWanted(name)) continue
    console.log(`\n── ${name} ──`)
    const start = performance.now()
    const passed = await check()
    console.log(`── ${name}: ${passed ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1e3).toFixed(1)} s`)
    if (!passed) failed.push(name)
  }
}

/** Runs a command without blocking, and shows its output when it has ended. */
async function shown(command, args) {
  const { status, output } = await collect(command, args)
  console.log(output)
  return status === 0
}

/** Runs the Rust tests, which the build of the addon has compiled. */
async function rustTests() {
  if (!(await addonBuilt)) return false
  const cargoTest = ['test', ...QUICK_BUILD, '--target', hostTarget(), ...PACKAGES, '--quiet']
  const passed = await shown('cargo', [...cargoTest, '--lib', '--tests', ...IGNORED])
  return passed && (await shown('cargo', [...cargoTest, '--doc']))
}

/** The target of this machine, which `napi build` passes to Cargo. */
function hostTarget() {
  const { stdout } = spawnSync('rustc', ['--version', '--verbose'], { encoding: 'utf8' })
  return stdout.match(/^host: (\S+)/m)[1]
}

/**
 * Builds the addon if a source is newer, and the Rust tests if they run. The output is shown when
 * the build has ended.
 */
async function buildAddon() {
  run(process.execPath, ['tools/model-entries.mjs'])
  if (!buildIsOld()) return true
  const tests = isWanted(RUST_TESTS) ? [...PACKAGES, '--lib', '--tests'] : []
  const { status, output } = await collect('npm', [
    'run',
    '--silent',
    'build:debug',
    '--',
    ...QUICK_BUILD,
    '--',
    ...tests,
  ])
  console.log(output)
  return status === 0
}

/**
 * Builds @tokenlane/web if a source is newer, once. Resolves with why there is no build, or with
 * undefined.
 */
function webBuild() {
  webBuilt ??= buildWeb()
  return webBuilt
}

async function buildWeb() {
  await addonBuilt
  if (!webIsOld()) return undefined
  const { status, output } = await collect(process.execPath, ['tools/platforms/web.mjs', '--quick'])
  console.log(output)
  if (status === NO_TARGET) return output.trim().split('\n').at(-1)
  return status === 0 ? undefined : FAILED
}

/** Runs a command without blocking; resolves with its exit status and its output. */
function collect(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      shell: process.platform === 'win32' && command === 'npm',
      ...options,
    })
    const parts = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, output: Buffer.concat(parts).toString() }))
  })
}

/** Runs all spec files: one more at a time than there are cores, but at most three. */
async function nodeSpecs() {
  if (!(await addonBuilt)) return false
  const others = specNames().filter((name) => ![...LONGEST_SPECS, ...WEB_SPECS].includes(name))
  const all = [...LONGEST_SPECS, ...others, ...WEB_SPECS]
  const names = values.long ? all : all.filter((name) => !LONG_SPECS.includes(name))
  const fileOf = (name) => path.join(root, specOf(name).file)
  const files = names.map(fileOf)
  const needWeb = WEB_SPECS.map(fileOf)
  const results = []
  const waiting = [...files]
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (needWeb.includes(file)) await webBuild()
      results.push(await nodeSpec(file))
    }
  }
  await Promise.all(Array.from({ length: Math.min(3, os.availableParallelism() + 1) }, worker))
  const sum = (word) => results.reduce((total, { counts }) => total + counts[word], 0)
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : ''
  const leftOut = results.filter(({ counts }) => counts.pass + counts.fail === 0)
  const long = LONG_SPECS.filter((name) => !names.includes(name))
  summary = [
    ...(long.length > 0 ? [`left out: ${long.join(', ')}: npm test -- --long runs them`] : []),
    ...leftOut.map(({ name, reason }) => `left out: ${name}: ${reason ?? 'it has no tests'}`),
    `${sum('pass')} passed, ${sum('fail')} failed${skipped}`,
  ]
  return results.every(({ passed }) => passed)
}

/** Runs a spec file. Prints its result, and its output if it failed. */
async function nodeSpec(file) {
  // Without --test, which would start a second process for the file.
  const start = performance.now()
  const { status, output } = await collect(process.execPath, ['--test-reporter=tap', file], { timeout: 600_000 })
  const seconds = ((performance.now() - start) / 1e3).toFixed(1)
  const count = (word) => Number(output.match(`\n# ${word} (\\d+)`)?.[1] ?? 0)
  const counts = { pass: count('pass'), fail: count('fail'), skipped: count('skipped') }
  const name = path.relative(root, file)
  const reason = output.match(/# SKIP ([^\n]+)/)?.[1]
  const remarks = [
    `${counts.pass} passed`,
    counts.fail > 0 && `${counts.fail} failed`,
    counts.skipped > 0 && `${counts.skipped} skipped (${reason})`,
  ]
  console.log(`${status === 0 ? 'ok ' : 'NOT OK'} ${name}: ${remarks.filter(Boolean).join(', ')} in ${seconds} s`)
  if (status !== 0) console.log(output)
  return { name, passed: status === 0, counts, reason }
}
