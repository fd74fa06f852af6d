#!/usr/bin/env node
// npm run runtimes: runs the scenarios that end a process, in each runtime that npm provides.
//
//   usage: npm run maintain -- runtimes [--only NAME]     NAME: this, 20, 22, 24, latest, bun, deno
//
// Runtimes are installed to .cache/runtimes, about a hundred megabytes each. The addon must be
// built.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root, run } from '../setup.mjs'

/**
 * A scenario: name, file in __test__/support, argument, expected output, expected exit code or
 * signal.
 *
 * @typedef {[string, string, string, string, number | string]} Scenario
 */

/**
 * A runtime for tests: `command` with `args`; `place` converts a path to the form that it takes,
 * and `env` is its environment.
 *
 * @typedef {object} Runtime
 * @property {string} [command]
 * @property {string[]} [args]
 * @property {(path: string) => string} [place]
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * The scenarios that end a process.
 *
 * @type {Scenario[]}
 */
export const SCENARIOS = [
  ['six workers in turn, main without the addon', 'six-workers', '', '1 2 3 4 5 6', 0],
  ['eight workers at once, main without the addon', 'shutdown/eight-at-once', '', Array(8).fill(200).join(' '), 0],
  ['workers terminated in their batches', 'terminated-worker', '', 'encoded 3', 0],
  ['process.exit() in a batch', 'shutdown/busy', 'exit', '', 3],
  ['an uncaught exception in a batch', 'shutdown/busy', 'throw', '', 1],
  ['an unhandled rejection in a batch', 'shutdown/busy', 'reject', '', 1],
  ['a signal in a batch', 'shutdown/busy', 'signal', '', 'SIGTERM'],
  ['a signal in a batch, handled', 'shutdown/busy', 'handled', 'handled 5', 0],
  ['batches that nobody awaits', 'shutdown/busy', 'forgotten', 'forgotten', 0],
  ['AbortSignal.timeout', 'shutdown/busy', 'aborted', 'TimeoutError', 0],
  ['child_process.fork', 'shutdown/fork', '', 'child 300', 0],
  ['cluster', 'shutdown/cluster', '', '300 300 300', 0],
]

/**
 * Runs a scenario with the package in `folder`. Returns a description of the failure, or undefined.
 *
 * @param {Scenario} scenario
 * @param {Runtime & { command: string }} runtime
 */
export function failureOf([, file, argument, output, end], runtime, folder = root) {
  const { command, args = [], place = (path) => path, env = process.env } = runtime
  const script = place(path.join(folder, '__test__', 'support', `${file}.cjs`))
  const made = spawnSync(command, [...args, script, ...(argument ? [argument] : [])], {
    encoding: 'utf8',
    env,
    timeout: 300_000,
  })
  const ended = made.signal ?? made.status
  if (made.error) return String(made.error)
  if (ended === end && made.stdout.trim() === output) return undefined
  return `ended with ${ended}, not ${end}; printed ${JSON.stringify(made.stdout.slice(0, 200))}\n${made.stderr.slice(-600)}`
}

/** Installs a runtime from npm. Returns the path of its program, or undefined. */
function fetched(name, version, program) {
  const folder = path.join(root, '.cache', 'runtimes', `${name}-${version}`)
  const place = path.join(folder, 'node_modules', ...program)
  if (!fs.existsSync(place)) {
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, 'package.json'), '{"private": true}')
    // The scripts of bun and deno fetch their programs.
    const args = ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error']
    run('npm', [...args, `${name}@${version}`], { cwd: folder })
  }
  return fs.existsSync(place) ? place : undefined
}

/** @returns {() => [command?: string]} */
const node = (version) => () => [fetched('node', version, ['node', 'bin', 'node'])]
/** @type {Record<string, () => [command?: string, args?: string[]]>} */
const RUNTIMES = {
  this: () => [process.execPath],
  20: node('20'),
  22: node('22'),
  24: node('24'),
  latest: node('latest'),
  bun: () => [fetched('bun', 'latest', ['bun', 'bin', 'bun.exe'])],
  deno: () => [fetched('deno', 'latest', ['deno', 'deno']), ['run', '-A', '--quiet']],
}

if (path.resolve(process.argv[1]) === path.join(root, 'tools', 'check', 'runtimes.mjs')) {
  const { values } = parseArgs({ options: { only: { type: 'string' } } })
  let failed = false
  for (const [name, program] of Object.entries(RUNTIMES)) {
    if (values.only !== undefined && values.only !== name) continue
    const [command, args] = program()
    if (command === undefined) {
      console.log(`MISSING ${name}: npm could not install it`)
      continue
    }
    const version = spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0]
    console.log(`── ${name}: ${version}`)
    for (const scenario of SCENARIOS) {
      const wrong = failureOf(scenario, { command, args })
      failed ||= wrong !== undefined
      console.log(
        `${wrong === undefined ? 'ok    ' : 'NOT OK'} ${scenario[0]}${wrong === undefined ? '' : `: ${wrong}`}`,
      )
    }
  }
  if (failed) process.exit(1)
}
