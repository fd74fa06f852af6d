// Requests to OpenAI are counted as its API billed them: recorded requests with the usage that was
// reported. What OpenAI does not document is listed as an estimate, or refused.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { countRequest, fitChat } from '@tokenlane/requests'
import { TYPE, UNDOCUMENTED, local, of, placesOf, read, user } from './support.mjs'

const { requests } = JSON.parse(
  fs.readFileSync(new URL('../../../__test__/testdata/chat/usage.json', import.meta.url), 'utf8'),
)
test('published usage of requests is counted within two percent or tokens, one in twenty within eight', () => {
  let exact = 0
  const wrong = []
  for (const { model, body, tokens, source } of requests) {
    const counted = countRequest(of(model), { ...body, model })
    const error = Math.abs(counted.tokens - tokens)
    if (error === 0) exact++
    if (error > Math.max(2, 0.02 * tokens)) wrong.push([error / tokens, counted.tokens, tokens, model, source])
  }
  assert.ok(wrong.length <= requests.length / 20 && wrong.every(([error]) => error < 0.08), JSON.stringify(wrong))
  assert.ok(requests.length > 120 && exact > requests.length / 2, `${exact} of ${requests.length}`)
})

test('recorded requests are counted as the projects that were left out of the fit promise', () => {
  const lines = fs.readFileSync(
    new URL('../../../__test__/testdata/chat/recorded-usage.jsonl', import.meta.url),
    'utf8',
  )
  const rows = lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.ok(rows.length > 1000 && new Set(rows.map(({ project }) => project)).size > 15)
  const tables = {
    openai: read('openai'),
    anthropic: { messages: read('anthropic') },
    gemini: { contents: read('gemini') },
  }
  const errors = rows
    .filter(({ isEstimate }) => isEstimate)
    .map(({ provider, group, family, fixed, amounts, tokens }) => {
      const { parts } = tables[provider][group].families.find(({ name }) => name === family)
      const priced = Object.entries(amounts).map(([part, amount]) => amount * (parts[part]?.tokens ?? 0))
      const error = Math.abs(priced.reduce((sum, one) => sum + one, fixed) - tokens)
      return error <= 2.5 ? 0 : error / tokens
    })
  const share = (limit) => errors.filter((error) => error <= limit).length / errors.length
  assert.ok(share(0.03) > 0.85 && share(0.1) > 0.93, `${share(0.03)} within 3 %, ${share(0.1)} within 10 %`)
})

test('conversations without tools are counted exactly, and models for which OpenAI says so without estimates', () => {
  const plain = requests.filter(({ body }) => {
    const { messages, tools, functions, response_format: format, text } = body
    const isText =
      Array.isArray(messages) &&
      messages.every(({ role, content }) => role !== 'function' && !/image|call/.test(JSON.stringify(content)))
    return (
      isText && !tools && !functions && !format && !text && !messages.some((one) => one.tool_calls ?? one.function_call)
    )
  })
  assert.ok(plain.length >= 10)
  for (const { model, body, tokens } of plain) {
    const counted = countRequest(of(model), { ...body, model })
    assert.deepEqual(counted, { tokens, api: 'openai-chat', estimated: counted.estimated })
    assert.deepEqual(placesOf(counted), /^gpt-(3|4)/.test(model) ? [] : ['model'])
  }
})

const gpt4o = of('gpt-4o')
/** The tokens of messages and tools as gpt-4o takes them. */
const tokensOf = (messages, tools, options) => countRequest(gpt4o, { messages, tools }, options).tokens
const called = (...calls) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name, given]) => ({ id, type: 'function', function: { name, arguments: given } })),
})
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content })
const tool = (name, parameters) => ({ type: 'function', function: { name, parameters } })

test('what agents send is counted, and the estimates are listed by their places', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    user('Weather?'),
    called(['a', 'get_weather', '{"city":"Paris"}'], ['b', 'get_weather', '{"city":"Rom"}']),
    result('a', 'sunny'),
    result('b', [{ type: 'text', text: 'rain' }]),
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], annotations: [], audio: null },
  ]
  const tools = [tool('get_weather', { type: 'object', properties: { city: { type: ['string', 'null'] } } })]
  const { tokens, estimated } = countRequest(gpt4o, { messages, tools })
  assert.equal(tokens, fitChat(gpt4o, messages, { maxTokens: 1000, tools }).tokens)
  assert.deepEqual(
    estimated.map(({ place, reason }) => [place, reason]),
    [
      ['messages[2].tool_calls', 'a call'],
      ['messages[3]', 'the result of a tool'],
      ['messages[4]', 'the result of a tool'],
      ['tools', 'declarations of tools'],
    ],
  )
  assert.ok(estimated.every(({ error }) => error >= 0 && error < 0.3))
  const api = 'openai-chat'
  assert.deepEqual(countRequest(gpt4o, { messages: [user('x')] }), { tokens: 8, estimated: [], api })
  // By the rules alone that OpenAI documents, and with the name of the call that estimates.
  assert.throws(() => gpt4o.countChat(messages), {
    code: UNDOCUMENTED,
    message: /countRequest of @tokenlane\/requests/,
  })
  // What calls for all tokenizers say, and what always holds for OpenAI's API.
  const ofAll = { addGenerationPrompt: true, content: 'text' }
  assert.equal(fitChat(gpt4o, [user('<|endoftext|>')], { maxTokens: 14, ...ofAll }).tokens, 14)
  for (const options of [{ addGenerationPrompt: false }, { content: 'parse' }, { content: 'throw' }])
    assert.throws(() => fitChat(gpt4o, messages, { maxTokens: 14, ...options }), {
      code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
    })
  // A part that is neither text nor image takes what the caller says.
  const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } }
  const given = [user([{ type: 'text', text: 'x' }, file])]
  assert.throws(() => tokensOf(given), { code: UNDOCUMENTED, message: /partTokens/ })
  const partTokens = (part) => (part === file ? 500 : undefined)
  const withPart = countRequest(gpt4o, { messages: given }, { partTokens })
  assert.deepEqual([withPart.tokens, placesOf(withPart)], [508, ['messages[0].content[1]']])
  assert.equal(fitChat(gpt4o, given, { maxTokens: 508, partTokens }).tokens, 508)
  for (const wrong of [() => 1.5, 500]) {
    const options = /** @type {any} */ ({ partTokens: wrong })
    assert.throws(() => tokensOf(given, [], options), { code: TYPE })
    assert.throws(() => fitChat(gpt4o, given, { maxTokens: 508, ...options }), { code: TYPE })
  }
})

test('images and encrypted reasoning in items, tools and further fields are not counted as text', () => {
  // What the API answers, and its client sends back: a screenshot, a picture, a summary.
  const png = Buffer.alloc(400_000)
  png.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  png.writeUInt32BE(1024, 16)
  png.writeUInt32BE(1024, 20)
  const data = png.toString('base64')
  const url = `data:image/png;base64,${data}`
  const image = 85 + 4 * 170
  const input = (...items) => countRequest(of('gpt-4o'), { model: 'gpt-4o', input: [user('x'), ...items] }).tokens
  const screenshot = { type: 'computer_screenshot', image_url: '' }
  const shot = { type: 'computer_call_output', call_id: 'c', output: screenshot }
  const drawn = { type: 'image_generation_call', id: 'i', status: 'completed', result: '' }
  const ran = { type: 'code_interpreter_call', id: 'i', code: '', outputs: [{ type: 'image', url: '' }] }
  assert.equal(input({ ...shot, output: { ...screenshot, image_url: url } }), input(shot) + image)
  assert.equal(input({ ...shot, output: { ...screenshot, image_url: 'https://e.org/a.png' } }), input(shot) + image)
  assert.equal(input({ ...drawn, result: data }), input(drawn) + image)
  assert.equal(input({ ...ran, outputs: [{ type: 'image', url }] }), input(ran) + image)
  const compacted = { type: 'compaction', id: 'c' }
  assert.equal(input({ ...compacted, encrypted_content: data }), input(compacted))
  const counted = (more) => countRequest(of('gpt-4o'), { model: 'gpt-4o', messages: [user('x')], ...more }).tokens
  const tools = (mask) => [{ type: 'image_generation', input_image_mask: { image_url: mask } }]
  assert.equal(counted({ tools: tools(url) }), counted({ tools: tools('') }) + image)
  // As a gateway returns pictures in chat completions.
  const pictures = (shown) => [{ ...user('x'), images: [{ type: 'image_url', image_url: { url: shown } }] }]
  assert.equal(counted({ messages: pictures(url) }), counted({ messages: pictures('') }) + image)
})

test('results of parallel calls are counted with all characters beyond ASCII escaped', () => {
  // community.openai.com/t/1375117: 1,121 tokens of a request with one call and Korean text, 39,235
  // with three calls, and 3,191 with three calls and English text.
  const words = (text) => text.repeat(1000)
  const chat = (calls, text) => {
    const ids = Array.from({ length: calls }, (_, i) => `call_${i}`)
    return [user('Hi'), called(...ids.map((id) => [id, 'f', '{}'])), ...ids.map((id) => result(id, words(text)))]
  }
  const count = (...given) => tokensOf(chat(...given))
  const near = (number, expected) => assert.ok(Math.abs(number - expected) < 0.02 * expected, `${number}`)
  // The question and the tools were not published; they are the same in all three.
  const rest = 1121 - count(1, '테스트 ')
  assert.ok(rest > 0 && rest < 100)
  near(count(3, 'test ') + rest, 3191)
  near(count(3, '테스트 ') + rest, 39_235)
})

test('hostile tools and messages end with an error in linear time', () => {
  let deep = { type: 'string' }
  for (let i = 0; i < 100_000; i++) deep = { type: 'array', items: deep }
  const count = (schema) => tokensOf([user('x')], [tool('f', { properties: { a: schema } })])
  assert.throws(() => count(deep), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  const circular = { type: 'object', properties: {} }
  circular.properties.a = circular
  assert.throws(() => count(circular), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  // A type that contains itself by reference is written once.
  const list = {
    $defs: { L: { type: 'object', properties: { next: { $ref: '#/$defs/L' } } } },
    properties: { l: { $ref: '#/$defs/L' } },
  }
  const responses = { input: 'x', tools: [{ type: 'function', name: 'f', parameters: list }] }
  assert.ok(countRequest(gpt4o, responses).tokens < 60)
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: 'string' }]))
  assert.ok(count({ type: 'object', properties: wide }) > 50_000)
  for (const tools of ['x', [7], [null], [{ type: 'function', function: { name: 'f', parameters: 7 } }]].slice(0, 3))
    assert.throws(() => tokensOf([user('x')], tools), { code: TYPE })
  // Also outside of schemas, and where the text of a call is JSON.
  const VALUE = { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' }
  assert.throws(() => tokensOf([{ role: 'user', content: 'x', more: deep }]), VALUE)
  assert.throws(() => tokensOf([{ role: 'user', content: 'x', more: 1n }]), VALUE)
  const nested = '['.repeat(100_000) + ']'.repeat(100_000)
  assert.throws(() => tokensOf([called(['1', 'f', nested], ['2', 'f', nested])]), VALUE)
  assert.throws(() => countRequest(gpt4o, { model: 'claude-x', messages: [user('x')], tools: [deep] }), VALUE)
  const many = Array.from({ length: 2000 }, (_, i) => called([`${i}`, 'f', '{}']))
  assert.ok(tokensOf(many) > 10_000)
  assert.throws(() => tokensOf([{ role: 'assistant', tool_calls: [7] }]), { code: TYPE })
})

test('bodies of each API are recognised, and counted alike', () => {
  const chat = {
    model: 'gpt-4o',
    messages: [{ role: 'system', content: 'Be brief.' }, user('How far is the moon?')],
    max_tokens: 5,
  }
  const responses = { model: 'gpt-4o', instructions: 'Be brief.', input: 'How far is the moon?' }
  const anthropic = { model: 'gpt-4o', system: 'Be brief.', messages: [user('How far is the moon?')], max_tokens: 5 }
  const { tokens } = countRequest(gpt4o, chat)
  assert.equal(tokens, gpt4o.countChat(chat.messages))
  assert.deepEqual(countRequest(gpt4o, responses), { tokens, estimated: [], api: 'openai-responses' })
  assert.deepEqual(countRequest(gpt4o, anthropic), { tokens, estimated: [], api: 'anthropic' })
  const blocks = [
    user('x'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { b: 1 } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'y' }] },
  ]
  const same = [user('x'), called(['a', 'f', '{"b":1}']), result('a', 'y')]
  assert.equal(countRequest(gpt4o, { messages: blocks }).tokens, tokensOf(same))
  // Not in the body: the text of earlier answers.
  assert.deepEqual(placesOf(countRequest(gpt4o, { input: 'x', previous_response_id: 'resp_1' })), [
    'previous_response_id',
  ])
  for (const body of [undefined, null, 'x', 7, []]) assert.throws(() => countRequest(gpt4o, body), { code: TYPE })
  const fields = ['messages', 'input', 'instructions', 'system', 'tools', 'functions', 'tool_choice', 'function_call']
  fields.push('response_format', 'text', 'model', 'documents', 'chat_template', 'chat_template_kwargs', 'thinking')
  const values = [7, 'x', null, [7], [null], [[]], [{}], {}, [{ role: 'user', content: 7 }], [{ type: 7 }], true]
  values.push([{ role: 'user', content: [null, 7, {}] }], [{ role: 'assistant', tool_calls: [null] }])
  for (const model of ['gpt-4o', 'claude-sonnet-4-5']) {
    for (const field of fields) {
      for (const value of values) {
        for (const tokenizer of [gpt4o, local]) {
          const body = { model, messages: [user('x')], [field]: value }
          try {
            assert.ok(countRequest(tokenizer, body).tokens > 0)
          } catch (error) {
            assert.match(String(error.code), /^ERR_TOKENLANE_/, `${JSON.stringify(body)}: ${error.stack}`)
          }
        }
      }
    }
  }
  assert.throws(() => countRequest(gpt4o, chat, { api: 'openai' }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => countRequest(gpt4o, chat, { tools: [] }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
})

test('a request to a server that renders the chat template counts what the server renders', () => {
  const tools = [tool('f', { type: 'object', properties: {} })]
  const body = {
    model: 'local',
    messages: [
      user([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
      called(['1', 'f', '{"x": 1}']),
      result('1', 'y'),
    ],
    tools,
    chat_template_kwargs: { think: false },
  }
  const rendered = [
    user('a\nb'),
    {
      ...called(['1', 'f', '']),
      tool_calls: [{ ...called(['1', 'f', '']).tool_calls[0], function: { name: 'f', arguments: { x: 1 } } }],
    },
    result('1', 'y'),
  ]
  const options = { tools, addGenerationPrompt: true, variables: { think: false } }
  const text = local.applyChatTemplate(rendered, { ...options, tokenize: false })
  assert.match(text, /a\nb.*<call>f\{"x": 1\}.*<no>$/s)
  assert.deepEqual(countRequest(local, body), {
    tokens: local.countChat(rendered, options),
    estimated: [],
    api: 'openai-chat',
  })
  const refused = { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }
  assert.equal(
    countRequest(local, { messages: [user('a'), refused] }).tokens,
    countRequest(local, { messages: [user('a'), { role: 'assistant', content: 'No.' }] }).tokens,
  )
  const picture = user([{ type: 'image_url', image_url: { url: 'https://e.org/a' } }])
  const shown =
    "{% for m in messages %}{% for p in m.content %}{{ '<image>' if p.type == 'image_url' else p.text }}{% endfor %}{% endfor %}"
  const { estimated } = countRequest(local, { messages: [picture], chat_template: shown })
  assert.deepEqual(estimated, [
    { place: 'messages[0].content[0]', reason: 'only its placeholder is counted', error: 0.5 },
  ])
  // Templates of models that only read texts write a list of parts as it is, here without the data.
  const printed = '{% for m in messages %}{{ m.content }}{% endfor %}'
  const data = 'A'.repeat(10_000)
  const parts = [
    { type: 'text', text: 'Look:' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'file', file: { file_data: data } },
  ]
  const { tokens } = countRequest(local, { messages: [user(parts)], chat_template: printed })
  assert.ok(tokens < 300, String(tokens))
  // gpt-oss writes one call per message; clients send several.
  const oss = of('gpt-oss-20b')
  const parallel = [user('x'), called(['1', 'f', '{}'], ['2', 'g', '{}']), result('1', 'a'), result('2', 'b')]
  assert.throws(() => oss.countChat(parallel), { code: 'ERR_TOKENLANE_CHAT_REFUSED' })
  const split = [user('x'), called(['1', 'f', '{}']), called(['2', 'g', '{}']), result('1', 'a'), result('2', 'b')]
  assert.equal(countRequest(oss, { messages: parallel }).tokens, oss.countChat(split, { addGenerationPrompt: true }))
})

test('requests to Claude are estimated within a tenth', () => {
  // Recorded by the specs of pydantic-ai and charmbracelet/fantasy, August 2026.
  const weather = {
    name: 'weather',
    description: 'Get weather information for a location',
    input_schema: {
      properties: { location: { description: 'the city', type: 'string' } },
      required: ['location'],
      type: 'object',
    },
  }
  const system = 'You are a helpful assistant'
  const asked = user([{ type: 'text', text: "What's the weather in Florence,Italy?" }])
  const cases = [
    [8, 'claude-haiku-4-5-20251001', { messages: [user('hello')] }],
    [16, 'claude-sonnet-4-20250514', { system, messages: [user('Say hi in Portuguese')] }],
    [394, 'claude-sonnet-4-20250514', { system, messages: [asked], tools: [weather] }],
    [
      475,
      'claude-sonnet-4-20250514',
      {
        system,
        messages: [
          asked,
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { location: 'Florence,Italy' } }],
          },
          user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '40 C' }] }]),
        ],
        tools: [weather],
      },
    ],
  ]
  for (const [tokens, model, body] of cases) {
    const counted = countRequest(gpt4o, { model, max_tokens: 9, ...body })
    assert.ok(Math.abs(counted.tokens - tokens) <= Math.max(1, tokens / 10), `${counted.tokens} of ${tokens}`)
    const made = body.messages.length > 1 ? ['messages[1].content[0]', 'messages[2].content[0]'] : []
    assert.deepEqual(placesOf(counted), ['messages', ...made, ...(body.tools ? ['tools'] : [])])
  }
  const image = user([{ type: 'image', source: { type: 'url', url: 'https://e.org/a' } }])
  const body = { model: 'anthropic/claude-sonnet-5', system, messages: [image] }
  const unknown = countRequest(gpt4o, body)
  assert.deepEqual(placesOf(unknown), ['messages', 'messages[0].content[0]'])
  assert.equal(unknown.estimated[1].reason, 'an image of unknown size')
  const imageSize = () => ({ width: 1092, height: 1092 })
  assert.equal(unknown.tokens, countRequest(gpt4o, body, { imageSize: () => ({ width: 1024, height: 1024 }) }).tokens)
  assert.throws(() => countRequest(gpt4o, body, { imageSize: () => ({ width: 0, height: 1 }) }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
  // 1,590 tokens in Anthropic's guide "Vision"
  assert.ok(Math.abs(countRequest(gpt4o, body, { imageSize }).tokens - 39 * 39) < 30)
})

test('a body without a system is one of Anthropic by each of its blocks and tools', () => {
  const png = { type: 'base64', media_type: 'image/png', data: 'iVBO' }
  const blocks = [
    { type: 'image', source: png },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } },
    { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'Hi' }] },
    { type: 'thinking', thinking: 'Hm', signature: 's' },
    { type: 'redacted_thinking', data: 'AAAA' },
    { type: 'tool_use', id: '1', name: 'f', input: {} },
    { type: 'tool_result', tool_use_id: '1', content: 'x' },
    { type: 'server_tool_use', id: '1', name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: '1', content: [] },
    { type: 'container_upload', file_id: 'f' },
  ]
  const partTokens = () => 1
  for (const block of blocks) {
    const role = /thinking|use$|^web/.test(block.type) ? 'assistant' : 'user'
    for (const model of ['claude-sonnet-4-5', 'gpt-4o']) {
      const counted = countRequest(gpt4o, { model, messages: [{ role, content: [block] }] }, { partTokens })
      assert.equal(counted.api, 'anthropic', block.type)
    }
  }
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  assert.equal(countRequest(gpt4o, { messages: [user('x')], tools }).api, 'anthropic')
  // Parts of chat completions, of Hugging Face's templates, of Mistral and of Cohere
  const others = [
    { type: 'image_url', image_url: { url: 'https://e.org/a.png' } },
    { type: 'image' },
    { type: 'image', image: 'https://e.org/a.png' },
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] },
    { type: 'document', document: { data: { text: 'Hi' } } },
    { type: 'file', file: { file_id: 'f' } },
  ]
  for (const part of others)
    assert.equal(countRequest(gpt4o, { messages: [user([part])] }, { partTokens }).api, 'openai-chat')
})

test('a version of Claude is read as Anthropic and as gateways write it', () => {
  const messages = [user('word '.repeat(100))]
  const tokens = (model) => countRequest(gpt4o, { model, messages }).tokens
  const older = tokens('claude-sonnet-4-5')
  const newer = tokens('claude-opus-4-7')
  assert.ok(newer > older)
  for (const model of ['anthropic/claude-opus-4.7', 'claude-opus-4-8', 'us.anthropic.claude-opus-4-7-v1:0'])
    assert.equal(tokens(model), newer, model)
  for (const model of ['anthropic/claude-sonnet-4.5', 'claude-haiku-4-5-20251001', 'claude-sonnet-4.6'])
    assert.equal(tokens(model), older, model)
  const first = tokens('claude-sonnet-4-0')
  for (const model of ['claude-opus-4-20250514', 'claude-opus-4-1', 'claude-sonnet-4@20250514', 'claude-opus-4.1:beta'])
    assert.equal(tokens(model), first, model)
})

test('the instructions of an answer of Responses are counted, and others are refused', () => {
  const instructions = [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] }]
  const { tokens } = countRequest(gpt4o, { input: [...instructions, user('x')] })
  assert.equal(countRequest(gpt4o, { input: 'x', instructions }).tokens, tokens)
  for (const wrong of [7, {}, true])
    assert.throws(() => countRequest(gpt4o, { input: 'x', instructions: wrong }), { code: TYPE })
})

test('what the client of OpenAI parsed of an answer is not counted a second time', () => {
  const call = { id: '1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
  const answer = { role: 'assistant', content: '{"a":1}', refusal: null, annotations: [] }
  const parsed = { ...call, function: { ...call.function, parsed_arguments: { a: 1 } } }
  assert.equal(tokensOf([{ ...answer, parsed: { a: 1 } }]), tokensOf([answer]))
  assert.equal(
    tokensOf([{ ...answer, content: null, parsed: null, tool_calls: [parsed] }]),
    tokensOf([{ ...answer, content: null, tool_calls: [call] }]),
  )
})

test('a body with a model of another encoding, or of no known one, is an estimate', () => {
  const messages = [user('Hi')]
  const estimated = (model, options) => placesOf(countRequest(gpt4o, { model, messages }, options))
  for (const model of ['gpt-4', 'gemini-2.5-pro', 'llama-3', 'my-deployment'])
    assert.deepEqual(estimated(model), ['model'], model)
  for (const model of ['gpt-4o', 'openai/gpt-4o-mini', 'openrouter/openai/gpt-4o', undefined])
    assert.deepEqual(estimated(model), [], model)
  assert.deepEqual(estimated('my-deployment', { model: 'gpt-4o-mini' }), [])
})

test('the prefix of a gateway does not change the price of an image', () => {
  const image = { type: 'image_url', image_url: { url: 'https://e.org/a.png' } }
  const options = { imageSize: () => ({ width: 512, height: 512 }) }
  const tokens = (model) => countRequest(gpt4o, { model, messages: [user([image])] }, options).tokens
  assert.equal(tokens('openai/gpt-4o-mini'), tokens('gpt-4o-mini'))
  assert.notEqual(tokens('gpt-4o'), tokens('gpt-4o-mini'))
})

test('embeddings and completions are their texts or ids', () => {
  const ada = of('text-embedding-3-small')
  const model = 'text-embedding-3-small'
  const count = (body) => countRequest(ada, body)
  assert.deepEqual(count({ model, input: 'Hello, world!' }), { tokens: 4, estimated: [], api: 'openai-embeddings' })
  assert.equal(count({ model, input: ['Hello', 'Hello, world!'] }).tokens, 5)
  assert.equal(count({ input: [1, 2, 3] }).tokens, 3)
  assert.equal(count({ input: [[1, 2, 3], [4]] }).tokens, 4)
  assert.deepEqual(placesOf(countRequest(gpt4o, { model, input: 'Hi' })), ['model'])
  assert.deepEqual(countRequest(gpt4o, { prompt: ['Hi', 'Hi'] }), {
    tokens: 2,
    estimated: [],
    api: 'openai-completions',
  })
  assert.equal(countRequest(gpt4o, { model: 'gpt-4o', input: 'Hi' }).api, 'openai-responses')
  for (const [body, options] of [
    [{ input: ['a', {}] }, {}],
    [{ input: 5 }, { api: 'openai-embeddings' }],
  ])
    assert.throws(() => countRequest(gpt4o, body, options), { code: TYPE })
  assert.throws(() => countRequest(gpt4o, { texts: [] }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
    message: /messages, contents, input, instructions, prompt/,
  })
})

test('the result of a function_call counts as the API of OpenAI counted it', () => {
  // The prompt of openai-chat-tokens, which its author compared with the API's usage.
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'How is the weather?' },
    { role: 'assistant', content: '', function_call: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
    { role: 'function', name: 'get_weather', content: '{"temperature":"22"}' },
  ]
  const gpt4 = Tokenizer.forModelSync('gpt-4')
  const words = (...texts) => texts.reduce((sum, one) => sum + gpt4.count(one), 0)
  const texts = words('system', messages[0].content, 'user', messages[1].content, 'assistant', 'get_weather')
  const result = words('function', 'get_weather', messages[3].content)
  const estimated = countRequest(gpt4, { messages }).tokens
  // Three for each message, the answer and the call, one for the name, two less for the result.
  assert.equal(estimated, texts + words('{"city":"Paris"}') + result + 4 * 3 + 3 + 3 + 1 - 2)
})

// Classes of requests that were counted wrong, each by what changes the count.

const gpt5 = of('gpt-5-nano')
const tokensOfBody = (body) => countRequest(gpt5, { model: 'gpt-5-nano', ...body }).tokens
const functionCall = { type: 'function_call', call_id: '1', name: 'f', arguments: '{}' }
const functionOutput = { type: 'function_call_output', call_id: '1', output: 'x' }

test('encrypted reasoning counts in its turn, by its length, and not behind a new message of the user', () => {
  const reasoning = (length) => ({ type: 'reasoning', summary: [], encrypted_content: 'g'.repeat(length) })
  const turn = (length) => [user('x'), reasoning(length), functionCall, functionOutput]
  const short = tokensOfBody({ input: turn(1000) })
  const long = tokensOfBody({ input: turn(11_000) })
  assert.ok(long - short > 10_000 / 8 && long - short < 10_000 / 5, `${long - short} tokens`)
  assert.equal(tokensOfBody({ input: [...turn(11_000), user('y')] }), tokensOfBody({ input: [...turn(0), user('y')] }))
})

test('each earlier answer of gpt-5 takes two tokens more, those of gpt-4o none', () => {
  const answers = (count) =>
    Array.from({ length: count }, () => [user('x'), { role: 'assistant', content: 'y' }]).flat()
  const each = (count) => count(answers(2)) - count(answers(1))
  const withGpt5 = each((messages) => tokensOfBody({ messages: [...messages, user('z')] }))
  assert.equal(withGpt5 - each((messages) => tokensOf([...messages, user('z')])), 2)
})

test('a name that is the role takes no token more than its text', () => {
  const named = (name) => tokensOf([{ ...user('x'), name }])
  assert.equal(named('user'), tokensOf([user('x')]) + 1)
  assert.equal(named('bob'), tokensOf([user('x')]) + gpt4o.count('bob') + 1)
})

test('keywords of a schema that limit values take no tokens, and its descriptions do', () => {
  const format = (schema) => ({ type: 'json_schema', json_schema: { name: 'a', schema } })
  const tokens = (age) =>
    countRequest(gpt4o, {
      messages: [user('x')],
      response_format: format({ type: 'object', properties: { age }, additionalProperties: false }),
    }).tokens
  const bare = tokens({ type: 'integer' })
  assert.equal(tokens({ type: 'integer', minimum: 0, maximum: 9, default: 3, multipleOf: 2 }), bare)
  assert.ok(tokens({ type: 'integer', description: 'in years' }) > bare)
})

test('the name of a tool is not in the results of several calls', () => {
  const both = (name) => [user('x'), called(['1', name, '{}'], ['2', name, '{}']), result('1', 'a'), result('2', 'b')]
  const inCalls = 2 * (gpt4o.count('functions.get_the_current_weather') - gpt4o.count('functions.f'))
  assert.equal(tokensOf(both('get_the_current_weather')) - tokensOf(both('f')), inCalls)
})

test('calls one after the other take a text of their own with the Responses API of gpt-5', () => {
  const body = { input: 'x', tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }] }
  assert.ok(tokensOfBody({ ...body, parallel_tool_calls: false }) - tokensOfBody(body) > 50)
  assert.equal(tokensOfBody({ ...body, parallel_tool_calls: true }), tokensOfBody(body))
})

test('choices of tools and calls one after the other are estimates, with tokens or without', () => {
  const parameters = { type: 'object', properties: {} }
  const chat = { messages: [user('x')], tools: [tool('f', parameters)] }
  const responses = { input: 'x', tools: [{ type: 'function', name: 'f', parameters }] }
  for (const body of [chat, responses]) {
    const places = (more) => placesOf(countRequest(gpt4o, { ...body, ...more }))
    assert.deepEqual(places({ tool_choice: 'required' }), ['tools', 'tool_choice'])
    assert.deepEqual(places({ parallel_tool_calls: false }), ['tools', 'parallel_tool_calls'])
    assert.deepEqual(places({ tool_choice: 'auto', parallel_tool_calls: true }), ['tools'])
  }
})
