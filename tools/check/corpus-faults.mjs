#!/usr/bin/env node
// npm run maintain corpus-faults: repeats the specs of corpus jobs whose outcome depends on what
// happens first: hosts that do not fit, workers that are killed, jobs that start at once, and
// machines that share a disk.
//
//   usage: npm run maintain -- corpus-faults [--rounds 20] [--spec NAME…]
//
// Each round is a process of `node --test`. The first failure ends the run with its output. Redis
// must be installed (apt-get install redis-server); otherwise specs are skipped, which counts as a
// failure.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

import { root, stop } from '../setup.mjs'
import { specOf } from './specs.mjs'

const SPECS = ['data/hosts', 'data/two-jobs', 'data/folders']

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, spec: { type: 'string', multiple: true, default: SPECS } },
})
const rounds = Number(values.rounds)
if (!(Number.isInteger(rounds) && rounds > 0)) stop(`--rounds is a number above 0, not ${values.rounds}`)

/** A count in the summary of TAP. */
const countOf = (text, name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)

let passed = 0
for (let round = 1; round <= rounds; round++) {
  const args = ['--test', '--test-reporter=tap', ...values.spec.map((name) => specOf(name).file)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  const skipped = countOf(stdout, 'skipped')
  if (status !== 0 || skipped > 0) stop(`${stdout}${stderr}\nround ${round} failed (${skipped} skipped)`)
  passed += countOf(stdout, 'pass')
  console.log(`round ${round} of ${rounds}: ${countOf(stdout, 'pass')} tests passed`)
}
console.log(`${rounds} rounds: ${passed} tests passed, none failed`)
