// fitChat returns the newest messages that fit: as many as a plain search over all cuts finds, with
// calls of tools and their results together.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { countRequest, fitChat } from '@tokenlane/requests'
import { generator } from '../../../__test__/support/random.mjs'

const gpt4o = Tokenizer.forModelSync('gpt-4o')
const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
const chatTemplate =
  "{% if messages[0].role != 'system' %}<s>You are helpful.</s>{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
const local = Tokenizer.fromFileSync(file, { chatTemplate })

const said = (role, content) => ({ role, content })
const called = (...ids) => ({
  role: 'assistant',
  content: '',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{"at": "x"}' } })),
})
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content })

function conversation(next) {
  const words = () => 'over the hills and far away '.repeat(next(8)).slice(0, next(150))
  const messages = next(3) > 0 ? [said('system', words())] : []
  const turns = 1 + next(12)
  for (let turn = 0; turn < turns; turn++) {
    if (next(4) > 0) messages.push(said('user', words()))
    const ids = Array.from({ length: next(4) }, (_, i) => `call_${turn}_${i}`)
    if (ids.length > 0) messages.push(called(...ids), ...ids.map((id) => result(id, words())))
    if (next(3) > 0) messages.push(said('assistant', words()))
    if (next(9) === 0) messages.push(said('developer', words()))
  }
  return messages.length > 0 ? messages : [said('user', 'Hi')]
}

/** What a conversation takes, as fitChat counts it. */
const tokensOf = (tokenizer, messages, tools) =>
  tokenizer === gpt4o ? countRequest(gpt4o, { messages, tools }).tokens : tokenizer.countChat(messages)

/** The slow twin: all cuts, from nothing dropped to the newest message alone. */
function byAllCuts(tokenizer, messages, { maxTokens, startOn }) {
  const isInstruction = ({ role }) => role === 'system' || role === 'developer'
  for (let cut = 0; cut < messages.length; cut++) {
    const { role } = messages[cut]
    if (cut > 0 && (role === 'tool' || (startOn !== undefined && role !== startOn))) continue
    const left = messages.filter((message, i) => i >= cut || isInstruction(message))
    const tokens = tokensOf(tokenizer, left)
    if (tokens <= maxTokens) return { messages: left, tokens, dropped: messages.length - left.length }
  }
  return undefined
}

test('the newest messages that fit are those that a search over all cuts finds', () => {
  const next = generator(46)
  let dropped = 0
  for (let i = 0; i < 80; i++) {
    const messages = conversation(next)
    const tokenizer = i % 2 === 0 ? gpt4o : local
    const all = tokensOf(tokenizer, messages)
    const options = { maxTokens: 1 + next(all + 20), startOn: next(3) === 0 ? 'user' : undefined }
    const expected = byAllCuts(tokenizer, messages, options)
    if (expected === undefined) {
      assert.throws(() => fitChat(tokenizer, messages, options), {
        code: 'ERR_TOKENLANE_LIMIT_TOO_SMALL',
        name: 'RangeError',
      })
      continue
    }
    const found = fitChat(tokenizer, messages, options)
    assert.deepEqual(found, expected)
    found.messages.forEach((message) => assert.ok(messages.includes(message), 'the same objects'))
    dropped += found.dropped > 0 ? 1 : 0
  }
  assert.ok(dropped > 20, String(dropped))
})

test('calls stay with their results, and what keep names stays', () => {
  const messages = [
    said('system', 'Be brief.'),
    said('user', 'first '.repeat(50)),
    called('a', 'b'),
    result('a', 'sunny'),
    result('b', 'rainy'),
    said('assistant', 'Sun and rain.'),
    said('user', 'And tomorrow?'),
  ]
  const fit = (maxTokens, more) =>
    fitChat(gpt4o, messages, { maxTokens, ...more }).messages.map((one) => messages.indexOf(one))
  const tokens = (...indices) =>
    tokensOf(
      gpt4o,
      indices.map((i) => messages[i]),
    )
  const all = tokensOf(gpt4o, messages)
  assert.deepEqual(fit(all), [0, 1, 2, 3, 4, 5, 6])
  assert.deepEqual(fit(all - 1), [0, 2, 3, 4, 5, 6])
  assert.deepEqual(fit(tokens(0, 2, 3, 4, 5, 6) - 1), [0, 5, 6])
  assert.deepEqual(fit(tokens(0, 5, 6), { startOn: 'user' }), [0, 6])
  assert.deepEqual(fit(tokens(0, 5, 6), { keep: () => false }), [5, 6])
  // One message of a unit keeps all of it.
  const rainy = { keep: ({ content }) => content === 'rainy' }
  assert.deepEqual(fit(tokens(2, 3, 4, 5, 6), rainy), [2, 3, 4, 5, 6])
  assert.deepEqual(fit(tokens(2, 3, 4, 6), { keep: (_, i) => i === 4 }), [2, 3, 4, 6])
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
  const found = fitChat(gpt4o, messages, { maxTokens: all, tools })
  assert.equal(found.tokens, tokensOf(gpt4o, found.messages, tools))
  assert.ok(found.dropped > 0)
})

test('results stay with their calls by each role that templates have for them', () => {
  const llama = '{% for m in messages %}<{{ m.role }}>{{ m.content or m.tool_calls | tojson }}{% endfor %}'
  // Llama 3.1 calls it ipython, GLM-4 observation, the first functions of OpenAI function.
  for (const role of ['tool', 'function', 'ipython', 'observation']) {
    const messages = [
      said('user', 'long '.repeat(60)),
      called('a'),
      { ...result('a', 'sunny'), role },
      said('user', 'Hi'),
    ]
    const { tokens } = fitChat(local, messages.slice(2), { maxTokens: 1000, chatTemplate: llama })
    const found = fitChat(local, messages, { maxTokens: tokens, chatTemplate: llama })
    assert.deepEqual(found.messages, messages.slice(3), role)
  }
})

test('the cost grows with the part that fits, by few counts', () => {
  let counted = 0
  const seen = {
    chatTemplate: '{% for m in messages %}{{ m.content }}{{ see() }}{% endfor %}',
    variables: {
      see() {
        counted++
        return ''
      },
    },
  }
  const messages = Array.from({ length: 4000 }, (_, i) => said(i % 2 ? 'assistant' : 'user', `message ${i}`))
  const each = local.countChat(messages.slice(-100), seen) / 100
  counted = 0
  const { dropped } = fitChat(local, messages, { ...seen, maxTokens: Math.ceil(100 * each) })
  assert.ok(dropped >= 3890 && dropped <= 3910, String(dropped))
  assert.ok(counted < 100 * 30, `${counted} messages rendered`)
})

test('images of dropped messages cost no counts', () => {
  const messages = Array.from({ length: 300 }, (_, i) =>
    said('user', [{ type: 'image_url', image_url: { url: `https://e.org/${i}.png` } }]),
  )
  let seen = 0
  const imageSize = () => {
    seen++
    return { width: 512, height: 512 }
  }
  const { messages: found } = fitChat(gpt4o, messages, { maxTokens: 2000, imageSize })
  assert.equal(found.length, 7)
  assert.ok(seen <= 60, String(seen))
})

test('thousands of messages in one unit stay, or are dropped, together', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => said(i === 0 ? 'assistant' : 'tool', ''))
  const chatTemplate = '{{ messages | length }}'
  for (const keep of [() => true, () => false, (_, i) => i === many.length - 1]) {
    const { messages, dropped } = fitChat(local, [...many, said('user', 'x')], { maxTokens: 100, chatTemplate, keep })
    assert.equal(messages.length + dropped, many.length + 1)
  }
})

test('wrong arguments are refused', () => {
  const TYPE = { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }
  const messages = [said('user', 'x')]
  for (const options of [
    undefined,
    null,
    7,
    {},
    { maxTokens: '9' },
    { maxTokens: 9, keep: 'system' },
    { maxTokens: 9, startOn: 7 },
  ])
    assert.throws(() => fitChat(gpt4o, messages, options), TYPE)
  for (const given of [undefined, null, 'x', {}, [7], [null]])
    assert.throws(() => fitChat(gpt4o, given, { maxTokens: 9 }), TYPE)
  assert.throws(() => fitChat(gpt4o, [], { maxTokens: 9 }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => fitChat(gpt4o, messages, { maxTokens: 9.5 }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => fitChat(gpt4o, messages, { maxTokens: 9, max: 9 }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
  // Names of other libraries for maxTokens.
  for (const name of ['limit', 'max_tokens', 'tokenLimit']) {
    const wrong = () => fitChat(gpt4o, messages, /** @type {any} */ ({ [name]: 9 }))
    assert.throws(wrong, { code: 'ERR_TOKENLANE_UNKNOWN_OPTION', message: /did you mean 'maxTokens'/ })
  }
})

test('a call that is none is an error with a code, wherever it is', () => {
  const broken = { role: 'assistant', content: '', tool_calls: [null] }
  const messages = [said('user', 'x'), broken, said('user', 'y')]
  assert.throws(() => fitChat(gpt4o, messages, { maxTokens: 1000 }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('an error names the message as the caller counts them', () => {
  const user = said('user', 'Hi')
  const wrong = () => fitChat(gpt4o, [user, user, user, said('user', 5)], { maxTokens: 12 })
  assert.throws(wrong, { message: /^messages\[3\]\.content / })
})

test('a limit that is too small for what cannot be dropped says what that is', () => {
  const messages = Array.from({ length: 9 }, () => said('user', 'over the hills'))
  const code = 'ERR_TOKENLANE_LIMIT_TOO_SMALL'
  assert.throws(() => fitChat(gpt4o, messages, { maxTokens: 12, startOn: 'users' }), { code, message: /role 'users'/ })
  assert.throws(() => fitChat(gpt4o, messages.slice(0, 1), { maxTokens: 2 }), { code, message: /cannot be cut/ })
  const keep = /** @type {any} */ (async () => false)
  assert.throws(() => fitChat(gpt4o, messages, { maxTokens: 12, keep }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})
