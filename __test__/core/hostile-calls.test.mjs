// The short form of `npm run maintain hostile` and `npm run maintain runtimes`: several hundred
// calls and files, and all scenarios that end a process.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { inChild as calls } from '../../tools/check/hostile/calls.mjs'
import { inChild as files } from '../../tools/check/hostile/files.mjs'
import { subjects } from '../../tools/check/hostile/subjects.mjs'
import { SCENARIOS, failureOf } from '../../tools/check/runtimes.mjs'

test('calls with invalid arguments of all kinds', () => {
  const { failed, totals } = calls(20_261_121, 600)
  assert.ok(!failed, 'what was wrong is printed above')
  assert.ok(totals.calls === 600 && totals.errors > 100 && totals.results > 100, JSON.stringify(totals))
})

test('the calls include every public one of index.d.ts', () => {
  const called = subjects().map(({ name }) => name)
  const source = fs.readFileSync(new URL('../../index.d.ts', import.meta.url), 'utf8')
  const declared = []
  let owner
  for (const line of source.split('\n')) {
    const start = /^export (?:declare )?(class|interface|function|const) (\w+)/.exec(line)
    if (start) owner = start[1] === 'class' ? start[2] : undefined
    if (start?.[1] === 'function') declared.push(`.${start[2]}`)
    // Methods are indented by two spaces; lines of comments and parameters do not match.
    const method = owner && /^ {2}(static )?(?:get )?(\w+)(?:<[^>]*>)?\(/.exec(line)
    if (method && method[2] !== 'constructor') declared.push(`.${owner}${method[1] ? '.' : '#'}${method[2]}`)
  }
  const missing = new Set(declared.filter((name) => !called.some((one) => one.endsWith(`tokenlane${name}`))))
  // Calls that use the network have specs of their own.
  assert.deepEqual([...missing], ['.Tokenizer.fromPretrained'])
  assert.ok(declared.length > 40, `${declared.length} calls are declared`)
})

test('damaged and malicious files', () => {
  const { failed, totals } = files(20_261_121, 300)
  assert.ok(!failed, 'what was wrong is printed above')
  assert.ok(totals.files === 300 && totals.refused > 50 && totals.loaded > 50, JSON.stringify(totals))
})

// The other scenarios are in core/workers.
for (const scenario of SCENARIOS.filter(([, file]) => file.startsWith('shutdown/'))) {
  test(scenario[0], () => assert.equal(failureOf(scenario, { command: process.execPath }), undefined))
}
