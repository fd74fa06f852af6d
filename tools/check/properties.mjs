#!/usr/bin/env node
// npm run maintain properties: runs the property tests in Rust with other cases than `npm test`,
// which always draws the same ones.
//
//   usage: npm run maintain -- properties [--rounds 20] [--seed 2] [PATTERN…]
//
// Each round has a seed of its own: --seed, the next one, and so on. PATTERN selects tests by a
// part of their path; without it, all tests run. The first failure ends the run; proptest prints
// its smallest case, and `PROPTEST_RNG_SEED=SEED cargo test PATTERN` repeats it.

import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

import { root, stop } from '../setup.mjs'

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, seed: { type: 'string', default: '2' } },
  allowPositionals: true,
})
const [rounds, first] = ['rounds', 'seed'].map((name) => {
  const number = Number(values[name])
  return Number.isInteger(number) && number > 0 ? number : stop(`--${name} is a whole number above 0`)
})

const EXCLUDED = ['--exclude', 'tokenlane-web', '--exclude', 'tokenlane']
const args = ['test', '--workspace', ...EXCLUDED, '--lib', '--tests', '--quiet', '--', ...positionals]
for (let seed = first; seed < first + rounds; seed++) {
  const env = { ...process.env, PROPTEST_RNG_SEED: String(seed) }
  const { status, stdout, stderr } = spawnSync('cargo', args, { cwd: root, env, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) stop(`${stdout}${stderr}\nseed ${seed} failed`)
  console.log(`seed ${seed}: passed`)
}
console.log(`${rounds} rounds: none failed`)
