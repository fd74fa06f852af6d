// Requests to Claude: what the parts of a body add, and how sure that is.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { countRequest } from '@tokenlane/requests'
import { of, read, user } from './support.mjs'

const gpt4o = of('gpt-4o')
const claude = (body, options) => countRequest(gpt4o, { model: 'claude-sonnet-4-5', ...body }, options).tokens
const blocksOf = (role, ...content) => ({ role, content })

test('Claude: a tool that has to be called takes a longer prompt, and a format one of its own', () => {
  const tools = [{ name: 'f', description: 'A function.', input_schema: { type: 'object', properties: {} } }]
  const body = { messages: [user('x')], tools }
  const free = claude(body)
  const forced = claude({ ...body, tool_choice: { type: 'any' } })
  assert.ok(free > 450 && free < 560 && forced - free > 60 && forced - free < 130, `${free} and ${forced}`)
  assert.equal(claude({ ...body, tool_choice: { type: 'tool', name: 'f' } }), forced)
  assert.equal(claude({ ...body, tool_choice: { type: 'none' } }), free)
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const formatted = claude({ messages: [user('x')], output_config: { format: { type: 'json_schema', schema } } })
  assert.ok(formatted - claude({ messages: [user('x')] }) > 90, `${formatted}`)
})

test('Claude: images take a token for 28 by 28 pixels, up to the number of the family', () => {
  const source = { type: 'url', url: 'https://e.org/a.png' }
  const messages = [blocksOf('user', { type: 'image', source })]
  const tokens = (model, width, height) => claude({ model, messages }, { imageSize: () => ({ width, height }) })
  for (const [model, width, height, patches] of [
    ['claude-sonnet-4-5', 400, 301, 15 * 11],
    ['claude-sonnet-4-5', 1568, 1568, 39 * 39],
    ['claude-sonnet-4-6', 1800, 1200, 48 * 32],
    ['claude-opus-4-7', 1800, 1200, 65 * 43],
    ['claude-sonnet-4-5', 28, 1_000_000, 56],
  ])
    assert.ok(Math.abs(tokens(model, width, height) - patches) < 60, `${model}: ${width} x ${height}`)
})

test('Claude: thoughts count in their turn, and later only with models that keep them', () => {
  const thinking = (text) => ({ type: 'thinking', thinking: text, signature: 'x' })
  const use = { type: 'tool_use', id: '1', name: 'f', input: {} }
  const turn = (text) => [
    user('x'),
    blocksOf('assistant', thinking(text), use),
    blocksOf('user', { type: 'tool_result', tool_use_id: '1', content: 'y' }),
  ]
  const long = 'I should think about this. '.repeat(40)
  const later = [blocksOf('assistant', { type: 'text', text: 'z' }), user('more')]
  assert.ok(claude({ messages: turn(long) }) - claude({ messages: turn('') }) > 150)
  assert.equal(claude({ messages: [...turn(long), ...later] }), claude({ messages: [...turn(''), ...later] }))
  const kept = (text) => claude({ model: 'claude-sonnet-4-6', messages: [...turn(text), ...later] })
  assert.ok(kept(long) - kept('') > 150)
})

test('Claude: a document with citations takes a prompt and its sentences', () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'The sky is blue. Grass is green.' }
  const messages = (citations) => [
    blocksOf('user', { type: 'document', source, citations }, { type: 'text', text: 'x' }),
  ]
  const plain = claude({ messages: messages(undefined) })
  assert.ok(claude({ messages: messages({ enabled: true }) }) - plain > 400)
  assert.equal(claude({ messages: messages({ enabled: false }) }), plain)
})

test('Claude: a text in another script than Latin says that its count is a guess', () => {
  const { estimated } = countRequest(gpt4o, { model: 'claude-sonnet-4-5', messages: [user('你好，世界')] })
  assert.ok(
    estimated.some(({ reason, error }) => /han/.test(reason) && error >= 0.5),
    JSON.stringify(estimated),
  )
})

/** The estimates of a request to Claude as `[place, error]`. */
const ofClaude = (body, options) =>
  countRequest(gpt4o, { model: 'claude-sonnet-4-5', ...body }, options).estimated.map(({ place, error }) => [
    place,
    error,
  ])
const priceOf = (part) => read('anthropic').families.find(({ name }) => name === 'Claude 4.5, 4.6').parts[part]

test('Claude: a tool without a schema is an ordinary one, and a hosted one has a version', () => {
  const messages = [user('x')]
  const schema = { type: 'object', properties: {} }
  const full = claude({ messages, tools: [{ name: 'f', description: 'A function.', input_schema: schema }] })
  for (const bare of [
    { name: 'f', description: 'A function.' },
    { type: 'custom', name: 'f', description: 'A function.' },
    { type: 'function', function: { name: 'f', description: 'A function.' } },
  ]) {
    assert.equal(claude({ messages, tools: [bare] }), full, JSON.stringify(bare))
    assert.ok(!ofClaude({ messages, tools: [bare] }).some(([place]) => place === 'tools[0]'))
  }
  const hosted = ofClaude({ messages, tools: [{ type: 'web_search_20250305', name: 'web_search' }] })
  assert.deepEqual(hosted.at(-1), ['tools[0]', 0.5])
  assert.equal(ofClaude({ messages, tools: [{ type: null, description: 'x' }] }).at(-1)[0], 'tools[0]')
})

test('Claude: documents, citations, thinking, calls and results have their errors in estimated', () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'The sky is blue.' }
  const document = { type: 'document', source, citations: { enabled: true } }
  const estimated = ofClaude({
    thinking: { type: 'adaptive' },
    messages: [
      blocksOf('user', document, { type: 'text', text: 'x' }),
      blocksOf('assistant', { type: 'tool_use', id: '1', name: 'f', input: {} }),
      blocksOf('user', { type: 'tool_result', tool_use_id: '1', content: 'y' }),
    ],
  })
  const expected = [
    ['messages[1].content[0]', 'call'],
    ['messages[2].content[0]', 'result'],
    ['thinking', 'thinking:adaptive'],
    ['messages[0].content[0]', 'document'],
    ['messages[0].content[0].citations', 'citations'],
  ]
  assert.deepEqual(
    estimated.slice(1),
    expected.map(([place, part]) => [place, priceOf(part).error]),
  )
  assert.ok(priceOf('citations').error > 0.5)
  const forced = ofClaude({ messages: [user('x')], tools: [{ name: 'f' }], tool_choice: { type: 'any' } })
  assert.deepEqual(forced.at(-1), ['tools', priceOf('toolsForced').error])
})

test('Claude: letters of each script but Latin say that the count is a guess', () => {
  const isGuess = (text) => ofClaude({ messages: [user(text)] }).some(([, error]) => error >= 0.5)
  for (const text of ['ሰላም', 'გამარჯობა', 'வணக்கம்', 'สวัสดี', 'Привет']) assert.ok(isGuess(text), text)
  for (const text of ['Hello', 'Grüße, señor', '5 € – 🙂', 'µm']) assert.ok(!isGuess(text), text)
})

test('Claude: formats of each API are counted, with their places', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const format = { type: 'json_schema', name: 'a', schema }
  const messages = [user('x')]
  const plain = claude({ messages })
  const counts = Object.entries({
    'output_config.format': { messages, output_config: { format } },
    output_format: { messages, output_format: format },
    response_format: { messages, response_format: { type: 'json_schema', json_schema: format } },
    'text.format': { input: 'x', text: { format } },
  }).map(([place, body]) => {
    assert.equal(ofClaude(body).at(-1)[0], place)
    return claude(body)
  })
  assert.ok(counts[0] > plain + 90 && new Set(counts).size === 1, counts.join())
})

test('a part without recordings has the error 0.5, or a larger one', () => {
  const errorOf = (model, body, name) =>
    countRequest(gpt4o, { model, ...body }).estimated.find(({ place }) => place === name).error
  const body = { messages: [user('x')], output_config: { format: { type: 'json_schema', schema: {} } } }
  assert.equal(errorOf('claude-3-haiku', body, 'output_config.format'), 0.5)
  assert.equal(errorOf('claude-sonnet-4-5', body, 'output_config.format'), priceOf('format').error)
  const source = { type: 'text', media_type: 'text/plain', data: 'x' }
  const cited = { messages: [blocksOf('user', { type: 'document', source, citations: { enabled: true } })] }
  assert.equal(errorOf('claude-3-haiku', cited, 'messages[0].content[0].citations'), 0.801)
})
