// Requests to OpenAI are counted as its API billed them: recorded requests with the usage that was
// reported. What OpenAI does not document is listed as an estimate, or refused.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import { countRequest, fitChat } from '@tokenlane/requests'

const UNDOCUMENTED = 'ERR_TOKENLANE_CHAT_UNDOCUMENTED'
const TYPE = 'ERR_TOKENLANE_ARGUMENT_TYPE'
const { requests } = JSON.parse(
  fs.readFileSync(new URL('../../../__test__/testdata/chat/usage.json', import.meta.url), 'utf8'),
)
const read = (name) => JSON.parse(fs.readFileSync(new URL(`../prices/${name}.json`, import.meta.url), 'utf8'))
const loaded = new Map()
/** The tokenizer of a model. */
function of(model) {
  if (!loaded.has(model)) loaded.set(model, Tokenizer.forModelSync(model))
  return loaded.get(model)
}

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

/** The places of estimates. */
const placesOf = ({ estimated }) => estimated.map(({ place }) => place)

const gpt4o = of('gpt-4o')
/** The tokens of messages and tools as gpt-4o takes them. */
const tokensOf = (messages, tools, options) => countRequest(gpt4o, { messages, tools }, options).tokens
const user = (content) => ({ role: 'user', content })
const called = (...calls) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name, given]) => ({ id, type: 'function', function: { name, arguments: given } })),
})
const result = (id, content) => ({ role: 'tool', tool_call_id: id, content })
const tool = (name, parameters) => ({ type: 'function', function: { name, parameters } })

const QWEN =
  "{%- if tools %}{{- '<tools>' }}{% for t in tools %}{{ t | tojson }}{% endfor %}{{- '</tools>' }}{%- endif %}" +
  "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + (m.content or '') }}" +
  "{%- for c in m.tool_calls or [] %}{{- '<call>' + c.function.name + (c.function.arguments | tojson) }}{% endfor %}" +
  "{{- '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% if think is false %}<no>{% endif %}{%- endif %}"
const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
const local = Tokenizer.fromFileSync(file, { chatTemplate: QWEN })

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

// Gemini: the small tokenizer of the test data stands for its vocabulary.

const gemma = {
  count: (text, options) => local.count(text, options),
  countChat: (messages, options) => local.countChat(messages, options),
  vocabSize: () => 262_145,
}
const gemini = (body, model = 'gemini-2.5-flash', options) => countRequest(gemma, body, { model, ...options })
const wordsOf = (...texts) => texts.reduce((sum, one) => sum + local.count(one, { addSpecialTokens: false }), 0)
const contents = (...parts) => [{ role: 'user', parts }]

test('Gemini: texts are counted, in every form of a body, with a token for each message since 2.5', () => {
  const systemInstruction = { parts: [{ text: 'Be brief.' }] }
  const texts = wordsOf('Be brief.', 'Hello')
  const counted = gemini({ systemInstruction, contents: contents({ text: 'Hello' }) })
  assert.deepEqual(counted, { tokens: texts + 2, estimated: [], api: 'gemini' })
  assert.equal(gemini({ systemInstruction, contents: contents({ text: 'Hello' }) }, 'gemini-2.0-flash').tokens, texts)
  for (const body of [
    { system_instruction: 'Be brief.', contents: 'Hello' },
    { systemInstruction: { parts: { text: 'Be brief.' } }, contents: { parts: ['Hello'] } },
  ])
    assert.equal(gemini(body, 'models/gemini-2.5-pro').tokens, texts + 2)
  assert.deepEqual(placesOf(countRequest(gemma, { contents: 'Hello' })), ['model'])
  assert.deepEqual(placesOf(countRequest(gpt4o, { contents: 'Hello' }, { model: 'gemini-2.5-pro' })), ['model'])
})

test('Gemini: functions, calls, results and signatures take tokens and are estimates', () => {
  const declaration = (description) => ({
    name: 'get',
    description,
    parameters: { type: 'OBJECT', properties: { city: { type: 'STRING', description } }, required: ['city'] },
  })
  const body = (description) => ({
    contents: 'Hello',
    tools: [{ functionDeclarations: [declaration(description)] }],
  })
  const short = gemini(body('A'))
  assert.deepEqual(placesOf(short), ['tools[0]'])
  const longer = 'A text that says what it is.'
  assert.equal(gemini(body(longer)).tokens - short.tokens, 2 * (wordsOf(longer) - wordsOf('A')))
  const python = { contents: 'Hello', tools: { function_declarations: [declaration('A')] } }
  assert.equal(gemini(python).tokens, short.tokens)
  const turn = (thoughtSignature, args) => [
    ...contents({ text: 'x' }),
    { role: 'model', parts: [{ functionCall: { name: 'get', args }, thoughtSignature }] },
    { role: 'user', parts: [{ functionResponse: { name: 'get', response: { result: 'y' } } }] },
  ]
  const tokens = (model, ...given) => gemini({ contents: turn(...given) }, model).tokens
  assert.equal(
    tokens('gemini-2.5-flash', undefined, { a: 'long text' }) - tokens('gemini-2.5-flash', undefined, {}),
    wordsOf('{"a":"long text"}') - wordsOf('{}'),
  )
  const signed = tokens('gemini-3-pro-preview', 's'.repeat(5000), {}) - tokens('gemini-3-pro-preview', undefined, {})
  assert.ok(signed > 5000 / 7 && signed < 5000 / 4, `${signed} tokens`)
})

test('Gemini: images, pages of PDF and seconds of audio are counted by rules, other files by the caller', () => {
  const media = (mimeType, bytes, model, options) =>
    gemini(
      { contents: contents({ inlineData: { mimeType, data: Buffer.from(bytes, 'latin1').toString('base64') } }) },
      model,
      options,
    ).tokens
  const imageSize = (side) => ({ imageSize: () => ({ width: side, height: side }) })
  assert.equal(media('image/png', 'x', 'gemini-2.5-flash', imageSize(3000)), 259)
  assert.equal(media('image/png', 'x', 'gemini-2.0-flash', imageSize(384)), 258)
  assert.equal(media('image/png', 'x', 'gemini-2.0-flash', imageSize(385)), 1290)
  const pdf = '%PDF-1.4 << /Type /Pages >> << /Type /Page >> << /Type/Page >>'
  assert.equal(media('application/pdf', pdf, 'gemini-2.5-flash'), 2 * 258 + 1)
  const header = Buffer.alloc(44)
  header.write('RIFF')
  header.writeUInt32LE(8000, 28)
  const wav = header.toString('latin1') + 'x'.repeat(20_000)
  assert.equal(media('audio/wav', wav, 'gemini-2.5-flash'), 3 * 32 + 1)
  assert.throws(() => media('video/mp4', 'x', 'gemini-2.5-flash'), { code: UNDOCUMENTED, message: /contents\[0\]/ })
  assert.equal(media('video/mp4', 'x', 'gemini-2.5-flash', { partTokens: () => 70 }), 71)
  assert.throws(() => gemini({ contents: contents({ inlineData: { mimeType: 'audio/wav', data: '!' } }) }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
})

test('Gemini: a body with fields of other types is refused by its place', () => {
  for (const [body, place] of [
    [{ contents: 7 }, 'contents'],
    [{ contents: [{ parts: [{ text: 7 }] }] }, 'contents[0].parts[0].text'],
    [{ contents: 'x', systemInstruction: 7 }, 'systemInstruction'],
    [{ contents: 'x', tools: [{ functionDeclarations: [{ name: 7 }] }] }, 'tools[0].functionDeclarations[0].name'],
  ])
    assert.throws(
      () => gemini(body),
      (error) => error.code === TYPE && error.message.includes(place),
      place,
    )
})

test('Gemini: parts without a content around them are counted, in contents and in instructions', () => {
  const texts = wordsOf('Be brief.', 'Hello')
  const [one] = contents({ text: 'Hello' })
  for (const given of [{ text: 'Hello' }, [{ text: 'Hello' }], ['Hello'], one, [one]])
    for (const systemInstruction of ['Be brief.', { text: 'Be brief.' }, [{ text: 'Be brief.' }], ['Be brief.']])
      assert.equal(gemini({ systemInstruction, contents: given }).tokens, texts + 2, JSON.stringify(given))
  // Parts beside each other are one message.
  assert.equal(gemini({ contents: ['Be brief.', { text: 'Hello' }] }).tokens, texts + 1)
  assert.equal(gemini({ contents: [{ role: 'user', text: 'Hello' }] }).tokens, wordsOf('Hello') + 1)
  assert.throws(() => gemini({ contents: [[one]] }), { code: TYPE, message: /contents\[0\]/ })
})

test('Gemini: types of media and values of enums are never coerced', () => {
  const hostile = { toString: 1, valueOf: 1 }
  for (const [part, place] of [
    [{ inlineData: { mimeType: hostile, data: 'x' } }, 'inlineData.mimeType'],
    [{ inline_data: { mime_type: 'image/png', data: hostile } }, 'inline_data.data'],
    [{ fileData: { mimeType: hostile, fileUri: 'x' } }, 'fileData.mimeType'],
    [{ file_data: { mime_type: 'image/png', file_uri: hostile } }, 'file_data.file_uri'],
  ])
    assert.throws(
      () => gemini({ contents: contents(part) }),
      (error) => error.code === TYPE && error.message.includes(`contents[0].parts[0].${place} `),
      place,
    )
  const parameters = { properties: { a: { enum: [hostile, 1, 'b'] } } }
  const tools = [{ functionDeclarations: [{ name: 'f', parameters }] }]
  assert.ok(gemini({ contents: 'x', tools }).tokens > gemini({ contents: 'x' }).tokens)
})

test('Gemini: fields that are not counted are estimates, and config is counted like the body', () => {
  const tools = [{ functionDeclarations: [{ name: 'f', description: 'A function.' }] }]
  const fields = { systemInstruction: 'Be brief.', tools, toolConfig: { functionCallingConfig: { mode: 'ANY' } } }
  const response = { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: 'x' } }] }
  const turn = contents({ functionResponse: response })
  const body = gemini({ contents: turn, ...fields, generationConfig: { responseSchema: {}, temperature: 1 } })
  const places = ['tools[0]', 'toolConfig', 'contents[0].parts[0]', 'contents[0].parts[0].functionResponse.parts']
  assert.deepEqual(placesOf(body), [...places, 'generationConfig.responseSchema'])
  const abortSignal = new AbortController().signal
  const config = gemini({ contents: turn, config: { ...fields, responseJsonSchema: {}, abortSignal } })
  const inConfig = places.map((place) => (place.startsWith('tool') ? `config.${place}` : place))
  assert.deepEqual(placesOf(config), [...inConfig, 'config.responseJsonSchema'])
  assert.equal(config.tokens, body.tokens)
  assert.ok(body.estimated.some(({ place, error }) => place === 'toolConfig' && error === 0.5))
})

test('Gemini: another model, and a tokenizer with a vocabulary of another size, are estimates', () => {
  for (const model of ['gpt-4o', 'foo']) assert.deepEqual(placesOf(gemini({ contents: 'x' }, model)), ['model'], model)
  for (const model of ['models/gemini-2.5-pro', 'google/gemini-3-pro-preview'])
    assert.deepEqual(placesOf(gemini({ contents: 'x' }, model)), [], model)
  assert.deepEqual(placesOf(countRequest(local, { contents: 'x' }, { model: 'gemini-2.5-pro' })), ['model'])
})

test('Gemini: places are those of the body, and a refusal names the field of the part', () => {
  const image = (...names) => ({ [names[0]]: { [names[1]]: 'image/png', data: 'x' } })
  const snake = { contents: { parts: image('inline_data', 'mime_type') }, system_instruction: { parts: ['x'] } }
  assert.deepEqual([...new Set(placesOf(gemini(snake)))], ['contents.parts'])
  const inSystem = { contents: 'x', system_instruction: { parts: [image('inlineData', 'mimeType')] } }
  assert.deepEqual([...new Set(placesOf(gemini(inSystem)))], ['system_instruction.parts[0]'])
  const wav = { contents: { parts: [{ inline_data: { mime_type: 'audio/wav', data: '!' } }] } }
  assert.throws(() => gemini(wav), { message: /contents\.parts\[0\]\.inline_data\.data/ })
  const code = { contents: contents({ executableCode: { code: '1' } }) }
  assert.throws(() => gemini(code), { code: UNDOCUMENTED, message: /parts\[0\] \(a part with "executableCode"\)/ })
})

test('Gemini: pages of PDF are counted where partTokens returns nothing', () => {
  const data = Buffer.from('%PDF-1.4 << /Type /Page >>').toString('base64')
  const body = { contents: contents({ inlineData: { mimeType: 'application/pdf', data } }) }
  assert.equal(gemini(body, undefined, { partTokens: () => undefined }).tokens, 258 + 1)
  assert.equal(gemini(body, undefined, { partTokens: () => 7 }).tokens, 7 + 1)
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
