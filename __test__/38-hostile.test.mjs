// The short form of `npm run hostile` and `npm run runtimes`: several hundred calls and files, and
// all scenarios that end a process.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { inChild as calls } from '../scripts/hostile/calls.mjs'
import { inChild as files } from '../scripts/hostile/files.mjs'
import { SCENARIOS, failureOf } from '../scripts/runtimes.mjs'

test('calls with invalid arguments of all kinds', () => {
  const { failed, totals } = calls(20_261_121, 600)
  assert.ok(!failed, 'what was wrong is printed above')
  assert.ok(totals.calls === 600 && totals.errors > 100 && totals.results > 100, JSON.stringify(totals))
})

test('damaged and malicious files', () => {
  const { failed, totals } = files(20_261_121, 300)
  assert.ok(!failed, 'what was wrong is printed above')
  assert.ok(totals.files === 300 && totals.refused > 50 && totals.loaded > 50, JSON.stringify(totals))
})

// The other scenarios are in 07-workers.
for (const scenario of SCENARIOS.filter(([, file]) => file.startsWith('shutdown/'))) {
  test(scenario[0], () => assert.equal(failureOf(scenario, process.execPath), undefined))
}
