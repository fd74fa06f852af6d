// The package as a user has it, against answers that tools/data/record.py recorded from jinja2 with
// the settings of transformers.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Template } from '@tokenlane/jinja'
import { UNSUPPORTED } from '../../../__test__/support/refused.mjs'

const DATA = new URL('../../../__test__/testdata/chat/', import.meta.url)
const read = (name) => JSON.parse(fs.readFileSync(new URL(name, DATA), 'utf8'))
const REFUSED = /^ERR_TOKENLANE_CHAT_(REFUSED|TEMPLATE|LIMIT)$/

for (const name of ['templates.json', 'random-templates.json']) {
  test(`${name}: text equals that of jinja2, whole and in pieces`, () => {
    const { variables, messages, cases: all } = read(name)
    const cases = all.filter(([source]) => name === 'templates.json' || !UNSUPPORTED.test(source))
    const wrong = []
    for (const [source, text] of cases) {
      for (const rendered of [
        (template) => template.render({ ...variables, messages }),
        (template) =>
          template
            .renderPieces({ ...variables, messages })
            .map((piece) => piece.text)
            .join(''),
      ]) {
        let answer = null
        try {
          answer = rendered(new Template(source))
        } catch (failure) {
          assert.match(String(failure.code), REFUSED, source)
        }
        if (answer !== text) wrong.push([source, text, answer])
      }
    }
    assert.ok(cases.length > 900, `${cases.length}`)
    assert.deepEqual(wrong, [])
  })
}

test('pieces name the message that a text comes from', () => {
  const template = new Template('{% for m in messages %}[{{ m.content | upper }}]{% endfor %}{{ user }}{{ 1 }}')
  const messages = [{ content: 'a' }, { content: '[b]' }]
  assert.deepEqual(template.renderPieces({ messages, user: 'c' }), [
    { text: '[', source: 'template', message: undefined },
    { text: 'A', source: 'input', message: 0 },
    { text: '][', source: 'template', message: undefined },
    { text: '[B]', source: 'input', message: 1 },
    { text: ']', source: 'template', message: undefined },
    { text: 'c1', source: 'input', message: undefined },
  ])
})

test('a render ends at its limits, and the next one runs', () => {
  const template = new Template('{% for i in range(n) %}{{ s }}{% endfor %}')
  const variables = { n: 1000, s: 'x'.repeat(100) }
  for (const [name, limit] of Object.entries({ maxChatWork: 100, maxChatMemory: 100, maxChatOutput: 99_999 })) {
    const wanted = { code: 'ERR_TOKENLANE_CHAT_LIMIT', limit: name }
    assert.throws(() => template.render(variables, { limits: { [name]: limit / 1000 } }), wanted, name)
  }
  assert.equal(template.render(variables, { limits: { maxChatOutput: 100_000 } }).length, 100_000)
  assert.equal(template.render(variables).length, 100_000)
  assert.throws(() => new Template('{{ '.repeat(200_000)), { code: REFUSED })
  assert.throws(() => new Template(`${'('.repeat(10_000)}`.replace(/^/, '{{ ')), { code: REFUSED })
})

test('wrong arguments and refused messages have codes', () => {
  const template = new Template("{{ raise_exception('Roles must alternate') }}")
  const refused = { code: 'ERR_TOKENLANE_CHAT_REFUSED', message: /Roles must alternate/ }
  assert.throws(() => template.render(), refused)
  for (const source of [undefined, 1, {}, Buffer.from('a')])
    assert.throws(() => new Template(source), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  for (const variables of [null, [], 'a'])
    assert.throws(() => template.render(variables), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  for (const options of [{ limit: 1 }, { limits: { maxWork: 1 } }])
    assert.throws(() => template.render({}, options), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
  for (const limit of [0, -1, Number.NaN, '1'])
    assert.throws(() => template.render({}, { limits: { maxChatWork: limit } }), {
      code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
    })
})

test('functions of the caller are called with values of JSON, and what they throw is thrown', () => {
  const template = new Template("{{ f(messages[0].content, [1, {'a': none}]) }}")
  const messages = [{ content: 'x' }]
  const calls = []
  const f = (...values) => {
    calls.push(values)
    return { ok: true }
  }
  assert.equal(template.render({ messages, f }), "{'ok': True}")
  assert.deepEqual(calls, [['x', [1, { a: null }]]])
  const failure = new Error('mine')
  assert.throws(
    () =>
      template.render({
        messages,
        f: () => {
          throw failure
        },
      }),
    (thrown) => thrown === failure,
  )
})
