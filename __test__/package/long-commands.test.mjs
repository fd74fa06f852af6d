// The steps of commands that run for a long time: npm run maintain arm64, levels, musl, rehearse
// and windows.

import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'

import { goldenNames } from '../conformance/golden-data.mjs'
import { goldenSpecs, specOf } from '../../tools/check/specs.mjs'
import { Steps } from '../../tools/platforms/steps.mjs'

/** Runs steps that end as `outcomes` says. Returns the names of those that ran and that failed. */
function run(t, outcomes, options) {
  t.mock.method(console, 'log', () => {})
  const steps = new Steps(options)
  const ran = []
  for (const [name, outcome] of Object.entries(outcomes)) {
    steps.run(name, () => {
      ran.push(name)
      return outcome
    })
  }
  return { ran, failed: steps.failed }
}

const NAMES = { 'neon: 02': true, 'neon: 03': true, 'scalar: 02': true }

test('a step fails by false or a reason', (t) => {
  const outcomes = { a: true, b: false, c: undefined, d: 'a reason' }
  assert.deepEqual(run(t, outcomes), { ran: ['a', 'b', 'c', 'd'], failed: ['b', 'd'] })
})

test('--from starts at the first step with the text in its name', (t) => {
  assert.deepEqual(run(t, NAMES, { from: '03' }).ran, ['neon: 03', 'scalar: 02'])
  assert.deepEqual(run(t, NAMES, { from: 'neon' }).ran, Object.keys(NAMES))
  assert.deepEqual(run(t, NAMES, { from: 'neon: 03', only: ['02'] }).ran, ['scalar: 02'])
})

test('--only runs the steps with one of the texts in their names', (t) => {
  assert.deepEqual(run(t, NAMES, { only: ['neon', '02'] }).ran, Object.keys(NAMES))
  assert.deepEqual(run(t, NAMES, { only: ['03'] }).ran, ['neon: 03'])
})

test('a spec is found by its folder and name, and golden data by a tokenizer', () => {
  assert.deepEqual(specOf('core/encode'), { file: path.join('__test__', 'core', 'encode.test.mjs'), env: {} })
  const names = goldenSpecs()
  assert.deepEqual(
    names.map((name) => specOf(name).env.TOKENLANE_TEST_GOLDEN),
    goldenNames,
  )
  assert.equal(specOf(names[0]).file, path.join('__test__', 'conformance', 'golden.test.mjs'))
})
