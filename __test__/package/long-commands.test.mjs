// The steps of commands that run for a long time: npm run maintain arm64, levels, musl, rehearse,
// wasm and windows.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { goldenNames } from '../conformance/golden-data.mjs'
import { goldenSpecs, specOf } from '../../tools/check/specs.mjs'
import { Steps, hashOfFiles } from '../../tools/platforms/steps.mjs'

function folderOf(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-steps-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

/** Runs steps that end as `outcomes` says. Returns the names of those that ran and that failed. */
function run(t, folder, outcomes, options, subject = 'one') {
  t.mock.method(console, 'log', () => {})
  const steps = new Steps('command', options, folder)
  const ran = []
  for (const [name, outcome] of Object.entries(outcomes)) {
    steps.run(name, subject, () => {
      ran.push(name)
      return outcome
    })
  }
  return { ran, failed: steps.failed }
}

test('--continue leaves out what passed with the same subject', (t) => {
  const folder = folderOf(t)
  const outcomes = { a: true, b: false, c: undefined, d: 'a reason' }
  assert.deepEqual(run(t, folder, outcomes, {}), { ran: ['a', 'b', 'c', 'd'], failed: ['b', 'd'] })
  assert.deepEqual(run(t, folder, outcomes, { continue: true }), { ran: ['b', 'd'], failed: ['b', 'd'] })
  assert.deepEqual(run(t, folder, { a: false, b: true }, {}), { ran: ['a', 'b'], failed: ['a'] })
  assert.deepEqual(run(t, folder, outcomes, { continue: true }).ran, ['a', 'd'])
  assert.deepEqual(run(t, folder, outcomes, { continue: true }, 'another').ran, ['a', 'b', 'c', 'd'])
})

test('--only runs the steps with one of the texts in their names', (t) => {
  const outcomes = { 'neon: 02': true, 'neon: 03': true, 'scalar: 02': true }
  assert.deepEqual(run(t, folderOf(t), outcomes, { only: ['neon', '02'] }).ran, Object.keys(outcomes))
  assert.deepEqual(run(t, folderOf(t), outcomes, { only: ['03'] }).ran, ['neon: 03'])
})

test('a record that was not written to its end means that nothing has passed', (t) => {
  const folder = folderOf(t)
  fs.writeFileSync(path.join(folder, 'command.json'), '{"a":{"subject":"one"')
  assert.deepEqual(run(t, folder, { a: true }, { continue: true }).ran, ['a'])
})

test('the hash of files differs with content and name', (t) => {
  const folder = folderOf(t)
  for (const [name, text] of Object.entries({ a: 'x', b: 'x', c: 'y' })) fs.writeFileSync(path.join(folder, name), text)
  const hashes = [['a'], ['b'], ['c'], ['a', 'b']].map((files) => hashOfFiles(files, folder))
  assert.equal(new Set(hashes).size, hashes.length)
  assert.equal(hashOfFiles(['b', 'a'], folder), hashes[3])
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
