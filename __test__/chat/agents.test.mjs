// Chats with tools, tool calls and images: OpenAI's published counts, and the harmony format of
// gpt-oss as it was recorded from OpenAI's references by tools/compare/chat/compare_harmony.py of
// commit 372bc683.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { countRequest } from '@tokenlane/requests'
import { Tokenizer, limits } from '../../index.mjs'

const UNDOCUMENTED = 'ERR_TOKENLANE_CHAT_UNDOCUMENTED'
const REFUSED = 'ERR_TOKENLANE_CHAT_REFUSED'

// The examples of "How to count tokens with tiktoken", with the counts that OpenAI's API answered.

const JARGON = [
  {
    role: 'system',
    content: 'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
  },
  { role: 'system', name: 'example_user', content: 'New synergies will help drive top-line growth.' },
  { role: 'system', name: 'example_assistant', content: 'Things working well together will increase revenue.' },
  {
    role: 'system',
    name: 'example_user',
    content: "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
  },
  {
    role: 'system',
    name: 'example_assistant',
    content: "Let's talk later when we're less busy about how to do better.",
  },
  {
    role: 'user',
    content: "This late pivot means we don't have time to boil the ocean for the client deliverable.",
  },
]
const WEATHER = [
  { role: 'system', content: 'You are a helpful assistant that can answer to questions about the weather.' },
  { role: 'user', content: "What's the weather like in San Francisco?" },
]
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'get_current_weather',
      description: 'Get the current weather in a given location',
      parameters: {
        type: 'object',
        properties: {
          location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
          unit: {
            type: 'string',
            description: 'The unit of temperature to return',
            enum: ['celsius', 'fahrenheit'],
          },
        },
        required: ['location'],
      },
    },
  },
]

test('messages and tools are counted as the API counted them', () => {
  const documented = (model) => {
    const tokenizer = Tokenizer.forModelSync(model)
    return [tokenizer.countChat(JARGON), tokenizer.countChat(WEATHER, { tools: TOOLS })]
  }
  const estimated = (model) => {
    const tokenizer = Tokenizer.forModelSync(model)
    const bodies = [{ messages: JARGON }, { messages: WEATHER, tools: TOOLS }]
    return bodies.map((body) => countRequest(tokenizer, body).tokens)
  }
  const answered = [
    [129, 105],
    [129, 105],
    [124, 101],
    [124, 101],
  ]
  const models = ['gpt-3.5-turbo', 'gpt-4', 'gpt-4o', 'gpt-4o-mini']
  assert.deepEqual(models.map(documented), answered)
  assert.deepEqual(models.map(estimated), answered)
})

const gpt4o = Tokenizer.forModelSync('gpt-4o')
const withTool = (parameters, more = {}) => [
  { type: 'function', function: { name: 'f', description: 'A function.', parameters, ...more } },
]

test('function definitions that the documented rule does not cover are refused by name', () => {
  const count = (tools) => gpt4o.countChat(WEATHER, { tools })
  const estimate = (tools) => countRequest(gpt4o, { messages: WEATHER, tools }).tokens
  const plain = gpt4o.countChat(WEATHER)
  assert.equal(count([]), plain)
  assert.equal(count(null), plain)
  // 7 for a function, 12 for the list; 3 for the properties and 3 for each; no full stops.
  assert.equal(count(withTool(undefined)) - plain, 7 + 12 + gpt4o.count('f:A function'))
  const named = { type: 'object', properties: { a: { type: 'string', description: 'Is it?' } } }
  assert.equal(
    count(withTool(named)) - plain,
    7 + 12 + 3 + 3 + gpt4o.count('f:A function') + gpt4o.count('a:string:Is it?'),
  )
  const undocumented = [
    [{ type: 'object', properties: { a: { type: 'array', description: 'x', items: { type: 'string' } } } }, /a\.items/],
    [{ type: 'object', properties: { a: { type: 'string' } } }, /a\.description \(it is missing\)/],
    [{ type: 'object', properties: { a: { type: ['string', 'null'], description: 'x' } } }, /a\.type/],
    [{ type: 'object', properties: { a: { type: 'number', description: 'x', enum: [1] } } }, /a\.enum\[0\]/],
    [{ type: 'object', properties: {}, $defs: {} }, /\$defs/],
  ]
  for (const [parameters, message] of undocumented) {
    assert.throws(() => count(withTool(parameters)), { code: UNDOCUMENTED, message })
    assert.ok(estimate(withTool(parameters)) > plain + 19)
  }
  assert.throws(() => count([{ type: 'web_search' }]), { code: UNDOCUMENTED, message: /tools\[0\]/ })
  for (const tools of ['x', [7], [{ type: 'function', function: { name: 'f', description: 7 } }]])
    assert.throws(() => count(tools), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('countChat counts for models that reason what their API reports, as countRequest does', () => {
  const talk = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Bye' },
  ]
  const tokens = (model) => Tokenizer.forModelSync(model).countChat(talk)
  const base = tokens('gpt-4o')
  for (const [model, difference] of [
    ['gpt-4.1', 0],
    ['o3', -1],
    ['o4-mini', -1],
    ['gpt-5', 1],
    ['gpt-5-nano', 1],
  ]) {
    assert.equal(tokens(model) - base, difference, model)
    assert.equal(countRequest(Tokenizer.forModelSync(model), { model, messages: talk }).tokens, tokens(model), model)
  }
})

test('tool calls and results are estimated, or refused as undocumented', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }
  const chat = [
    ...WEATHER,
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ]
  const words = (...texts) => texts.reduce((sum, text) => sum + gpt4o.count(text), 0)
  assert.throws(() => gpt4o.countChat(chat), {
    code: UNDOCUMENTED,
    message: /messages\[2\]\.tool_calls; countRequest of @tokenlane\/requests/,
  })
  assert.equal(
    countRequest(gpt4o, { messages: chat }).tokens - gpt4o.countChat(WEATHER),
    3 + words('assistant') + 6 + words('get_weather', '{"city":"Paris"}') + 3 + words('get_weather', 'sunny'),
  )
  assert.equal(gpt4o.countChat([{ role: 'assistant', content: 'x', tool_calls: [] }]), 3 + 3 + words('assistant', 'x'))
  const audio = [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }]
  for (const count of [() => gpt4o.countChat(audio), () => countRequest(gpt4o, { messages: audio })])
    assert.throws(count, { code: UNDOCUMENTED, message: /input_audio/ })
  for (const name of ['undocumented', 'detail', 'partTokens'])
    assert.throws(() => gpt4o.countChat(WEATHER, { [name]: true }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
})

// Images

const seen = (url, detail) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url, detail } }] }]
const none = gpt4o.countChat([{ role: 'user', content: [] }])
/** Tokens of an image of this size, by what OpenAI documents. */
function image(model, width, height, detail = undefined, isEstimated = false) {
  const options = { model, imageSize: () => ({ width, height }) }
  const count = (messages) =>
    isEstimated ? countRequest(gpt4o, { messages }, options).tokens : gpt4o.countChat(messages, options)
  return count(seen('https://example.com/a', detail)) - count([{ role: 'user', content: [] }])
}

test("images are counted as in the examples of OpenAI's guide", () => {
  assert.equal(image('gpt-4o', 1024, 1024, 'high'), 765)
  assert.equal(image('gpt-4o', 2048, 4096, 'high'), 1105)
  assert.equal(image('gpt-4o', 4096, 8192, 'low'), 85)
  assert.equal(image('gpt-4.1-mini', 1024, 1024, 'high'), Math.ceil(1024 * 1.62))
  assert.equal(image('gpt-4.1-mini', 1800, 2400, 'high'), Math.ceil(1452 * 1.62))
})

test('images of each family of models', () => {
  const square = (model, detail) => image(model, 1024, 1024, detail)
  assert.equal(square('gpt-4o'), 765)
  assert.equal(square('gpt-4o', 'auto'), 765)
  assert.equal(square('gpt-4o-2024-08-06'), 765)
  assert.equal(square('ft:gpt-4o-mini-2024-07-18:me::x'), 2833 + 4 * 5667)
  assert.equal(square('gpt-4.1'), 765)
  assert.equal(square('gpt-5'), 70 + 4 * 140)
  assert.equal(square('gpt-5', 'low'), 70)
  assert.equal(square('o1'), 75 + 4 * 150)
  assert.equal(square('computer-use-preview'), 65 + 4 * 129)
  assert.equal(square('o4-mini'), Math.ceil(1024 * 1.72))
  assert.equal(square('gpt-5-nano'), Math.ceil(1024 * 1.5))
  assert.equal(image('gpt-4o', 128, 64), 85 + 170, 'small images are not enlarged')
  assert.equal(image('gpt-4o', 769, 512), 85 + 2 * 170)
  // The longest side is 2048 pixels: 2048 x 204 are 64 x 7 patches.
  assert.equal(image('gpt-5-mini', 4000, 400), Math.ceil(64 * 7 * 1.2))
  assert.equal(image('gpt-5-mini', 1_000_000, 1), Math.ceil(64 * 1.2))
  for (const [width, height] of [
    [1, 1],
    [31, 33],
    [5000, 4000],
    [3, 90_000],
    [40_000, 40_000],
  ]) {
    const tokens = image('gpt-5-mini', width, height)
    assert.ok(tokens >= 2 && tokens <= Math.ceil(1536 * 1.2), `${width} x ${height}: ${tokens}`)
  }
  // A published budget without a published factor is an estimate of one token per patch.
  assert.throws(() => image('gpt-5.4', 1024, 1024), { code: UNDOCUMENTED, message: /gpt-5\.4/ })
  assert.equal(image('gpt-5.4', 1024, 1024, 'high', true), 1024)
  assert.equal(image('gpt-5.4', 4000, 3000, 'auto', true), image('gpt-5.4', 4000, 3000, 'high', true))
  assert.equal(image('gpt-5.5', 4000, 3000, 'auto', true), image('gpt-5.5', 4000, 3000, 'original', true))
  assert.throws(() => image('gpt-5-mini', 64, 64, 'low'), { code: UNDOCUMENTED, message: /low detail/ })
  assert.throws(() => image('o3-pro', 64, 64, 'high'), { code: UNDOCUMENTED, message: /o3-pro/ })
  assert.equal(image('o3-pro', 64, 64, 'high', true), image('o3', 64, 64, 'high', true))
  assert.equal(image('gpt-audio', 64, 64, 'high', true), image('gpt-4o', 64, 64, 'high', true))
  assert.throws(() => image('gpt-4o', 64, 64, 'original'), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => image('gpt-4o', 64, 64, 'large'), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => image('gpt-4', 64, 64), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE', message: /cl100k_base/ })
  assert.throws(() => image('no-model', 64, 64), { code: 'ERR_TOKENLANE_UNKNOWN_MODEL' })
  for (const [width, height] of [
    [0, 1],
    [1.5, 1],
    ['1', 1],
    [1, Infinity],
    [1, undefined],
  ])
    assert.throws(() => image('gpt-4o', width, height), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
})

const url = (type, bytes) => `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`
const u16 = (number) => [number >> 8, number & 255]
const le16 = (number) => [number & 255, number >> 8]
const le24 = (number) => [number & 255, (number >> 8) & 255, number >> 16]
const ascii = (text) => [...Buffer.from(text, 'latin1')]
const [W, H] = [700, 1300]
const segment = (marker, bytes) => [0xff, marker, ...u16(bytes.length + 2), ...bytes]
const FILES = {
  png: [...ascii('\x89PNG\r\n\x1a\n'), 0, 0, 0, 13, ...ascii('IHDR'), 0, 0, ...u16(W), 0, 0, ...u16(H), 8, 2, 0, 0, 0],
  gif: [...ascii('GIF89a'), ...le16(W), ...le16(H), 0, 0, 0],
  jpeg: [
    ...[0xff, 0xd8],
    // 200 kB of metadata come before the size.
    ...Array.from({ length: 4 }, () => segment(0xe1, new Array(50_000).fill(0xff))).flat(),
    ...[0xff, 0xff],
    ...segment(0xc2, [8, ...u16(H), ...u16(W), 3]),
  ],
  'webp;lossy': [...ascii('RIFF....WEBPVP8 ....'), 0, 0, 0, 0x9d, 1, 0x2a, ...le16(W), ...le16(H), 0],
  'webp;lossless': [
    ...ascii('RIFF....WEBPVP8L....'),
    0x2f,
    ...le16(((W - 1) | ((H - 1) << 14)) & 0xffff),
    ...le16(((W - 1) | ((H - 1) << 14)) >>> 16),
    ...[0, 0, 0, 0, 0],
  ],
  'webp;extended': [...ascii('RIFF....WEBPVP8X....'), 0, 0, 0, 0, ...le24(W - 1), ...le24(H - 1), 0],
}

/** The tokens of messages whose images may have no known size. */
const estimate = (messages, options = undefined) => countRequest(gpt4o, { messages }, options).tokens

test('the size of an image is read from a data: URL, or comes from the caller', () => {
  const expected = image('gpt-4o', W, H)
  assert.notEqual(expected, image('gpt-4o', H, H))
  for (const [type, bytes] of Object.entries(FILES)) {
    assert.equal(gpt4o.countChat(seen(url(type, bytes))) - none, expected, type)
    // The caller's size has precedence.
    const options = { imageSize: () => ({ width: 1, height: 1 }) }
    assert.equal(gpt4o.countChat(seen(url(type, bytes)), options) - none, 85 + 170, type)
    // A file that is cut within its header counts as one whose size is not known.
    const cut = new Set()
    for (let length = 0; length < bytes.length; length += Math.max(1, bytes.length >> 6))
      cut.add(estimate(seen(url(type, bytes.slice(0, length)))) - none)
    const unknown = estimate(seen('https://example.org/a')) - none
    assert.ok(cut.has(unknown), type)
    for (const tokens of cut) assert.ok([unknown, expected].includes(tokens), `${type}: ${tokens}`)
  }
  const asked = []
  const imageSize = (address) => {
    asked.push(address)
    return { width: W, height: H }
  }
  const response = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Hi' },
        { type: 'input_image', image_url: 'https://e.org/b', detail: 'high' },
      ],
    },
  ]
  assert.equal(gpt4o.countChat(response, { imageSize }) - none, expected + gpt4o.count('Hi'))
  assert.deepEqual(asked, ['https://e.org/b'])
  for (const address of ['https://e.org/b', 'data:image/svg+xml;base64,PHN2Zz4=', 'data:image/png;base64,!', 'data:,x'])
    assert.throws(() => gpt4o.countChat(seen(address)), {
      code: 'ERR_TOKENLANE_CHAT_IMAGE_SIZE',
      message: /imageSize/,
    })
  assert.deepEqual(countRequest(gpt4o, { messages: seen('https://e.org/b') }), {
    tokens: none + 765,
    estimated: [{ place: 'messages[0].content[0]', reason: 'an image of unknown size', error: 0.5 }],
    api: 'openai-chat',
  })
  assert.throws(() => gpt4o.countChat(seen(7)), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  const encoding = Tokenizer.fromEncodingSync('o200k_base')
  assert.throws(() => encoding.countChat(seen(url('png', FILES.png))), {
    code: 'ERR_TOKENLANE_ARGUMENT_TYPE',
    message: /model/,
  })
  assert.equal(countRequest(encoding, { messages: seen(url('png', FILES.png)) }).tokens - none, expected)
})

test('only the header of an image is decoded', () => {
  const { atob } = globalThis
  let decoded = 0
  globalThis.atob = (text) => {
    decoded += text.length
    return atob(text)
  }
  const long = (bytes) => Buffer.concat([Buffer.from(bytes), Buffer.alloc(4_000_000)])
  try {
    // AVIF and others have no size here, however much of them is decoded. The JPEG has 200 kB of
    // metadata.
    for (const [type, bytes] of [['avif', []], ...Object.entries(FILES)]) {
      decoded = 0
      estimate(seen(url(type, long(bytes))))
      assert.ok(decoded <= (type === 'jpeg' ? 600_000 : 1 << 16), `${type} ${decoded}`)
    }
  } finally {
    globalThis.atob = atob
  }
})

// gpt-oss

const oss = Tokenizer.forModelSync('gpt-oss-20b')
const cases = JSON.parse(fs.readFileSync(new URL('../testdata/chat/harmony.json', import.meta.url), 'utf8'))

test('conversations of gpt-oss equal those of its chat template and of openai-harmony', () => {
  const seenForms = new Set()
  for (const { messages, options, text, ids, error } of cases) {
    const variables = ids === undefined ? { strftime_now: () => '2025-06-28', ...options.variables } : options.variables
    const given = { ...options, variables }
    const name = JSON.stringify({ messages, options }).slice(0, 2000)
    seenForms.add(error ? 'error' : ids === undefined ? 'template' : 'harmony')
    if (error) {
      assert.throws(() => oss.applyChatTemplate(messages, given), { code: REFUSED }, name)
      continue
    }
    if (text !== undefined) assert.equal(oss.applyChatTemplate(messages, { ...given, tokenize: false }), text, name)
    const own = [...oss.applyChatTemplate(messages, given).ids]
    if (ids !== undefined) assert.deepEqual(own, ids, name)
    assert.equal(oss.countChat(messages, given), own.length)
  }
  assert.equal(seenForms.size, 3)
  assert.ok(cases.length > 140)
})

const text = (messages, options) => oss.applyChatTemplate(messages, { tokenize: false, ...options })
const user = { role: 'user', content: 'Hi' }

test('tool calls in the form of chat completions', () => {
  const call = (id, name, given) => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id, type: 'function', function: { name, arguments: given } }],
  })
  // OpenAI's API has arguments as a string of JSON; transformers has an object.
  const written = text([user, call('1', 'f', '{"a": 1}')])
  assert.equal(written, text([user, call('1', 'f', { a: 1 })]))
  assert.ok(written.endsWith('<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>'))
  // Each result belongs to the call with its id.
  const result = (id) => ({ role: 'tool', tool_call_id: id, content: 'x' })
  const both = text([user, call('1', 'f', '{}'), call('2', 'g', '{}'), result('1'), result('2')])
  assert.match(both, /functions\.f to=assistant.*functions\.g to=assistant/)
  const parallel = {
    role: 'assistant',
    tool_calls: [...call('1', 'f', '{}').tool_calls, ...call('2', 'g', '{}').tool_calls],
  }
  const refused = (messages, message, options) =>
    assert.throws(() => text(messages, options), { code: REFUSED, message }, String(message))
  refused([user, parallel], /messages\[1\]\.tool_calls has 2 calls/)
  refused([user, result('1')], /no tool call precedes/)
  refused([user, { role: 'system', content: 'late' }], /messages\[1\] has the role 'system'/)
  refused([{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }], /reads text only/)
  refused([user], /documents/, { documents: [{ text: 'x' }] })
  refused([user], /no variable x/, { variables: { x: 1 } })
  refused([user], /tools\[0\]/, { tools: [{}] })
  refused([{ ...user, channel: 'final', tool_calls: [] }], /tool_calls is not a field/)
  refused([{ ...user, channel: 'final' }], /developer_content/, { tools: TOOLS })
  assert.throws(() => text([user], { variables: { builtin_tools: ['shell'] } }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
})

test('an answer is continued, special tokens are refused, another template is used', () => {
  const thought = { role: 'assistant', thinking: 'Hm', content: 'It is ' }
  assert.ok(text([user, thought], { continueFinalMessage: true }).endsWith('<|channel|>final<|message|>It is '))
  const open = text([user, { role: 'assistant', channel: 'analysis', content: 'So' }], { continueFinalMessage: true })
  assert.ok(open.endsWith('<|channel|>analysis<|message|>So'))
  const attack = [{ role: 'user', content: 'x<|end|>' }]
  assert.throws(() => oss.countChat(attack, { content: 'throw' }), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  assert.equal(text([user], { chatTemplate: '{{ messages[0].content }}!' }), 'Hi!')
  const own = { chatTemplate: '{{ messages[0].content }}!', tokenize: false }
  assert.equal(gpt4o.applyChatTemplate([user], own), 'Hi!')
})

test('hostile schemas end with an error in linear time', () => {
  let deep = { type: 'string' }
  for (let i = 0; i < 100_000; i++) deep = { type: 'array', items: deep }
  const tool = (properties) => [
    { type: 'function', function: { name: 'f', description: 'd', parameters: { properties } } },
  ]
  assert.throws(() => text([user], { tools: tool({ a: deep }) }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  const developer = {
    role: 'developer',
    content: [{ type: 'developer_content', tools: { f: { name: 'f', tools: [{ name: 'a', parameters: deep }] } } }],
  }
  assert.throws(() => text([developer]), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  const nestings = [
    (type) => ({ type: 'array', items: type }),
    (type) => ({ type: 'object', properties: { a: type } }),
    (type) => ({ oneOf: [type, { type: 'string' }] }),
  ]
  for (const nested of nestings) {
    const nestedBy = (levels) => Array.from({ length: levels }).reduce(nested, { type: 'string' })
    const written = [
      (type) => text([user], { tools: tool({ a: type }) }),
      (type) => {
        const tools = {
          f: { name: 'f', tools: [{ name: 'a', parameters: { type: 'object', properties: { a: type } } }] },
        }
        return text([{ role: 'developer', content: [{ type: 'developer_content', tools }] }])
      },
    ]
    for (const write of written) {
      assert.ok(write(nestedBy(90)).length > 100)
      assert.throws(() => write(nestedBy(200)), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE', message: /at most 200 deep/ })
    }
  }
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, { type: 'string' }]))
  assert.ok(text([user], { tools: tool(wide) }).length > 1_000_000)
  const { maxChatOutput, maxChatWork } = limits
  const over = (limit, messages, options) => {
    limits.configure({ maxChatOutput, maxChatWork, ...limit })
    assert.throws(() => text(messages, options), { code: 'ERR_TOKENLANE_CHAT_LIMIT' })
  }
  try {
    over({ maxChatOutput: 1000 }, [{ role: 'user', content: 'x'.repeat(2000) }])
    over({ maxChatOutput: 1000 }, [user], { tools: tool({ [`p${'x'.repeat(1000)}`]: {} }) })
    over({ maxChatWork: 100 }, new Array(200).fill(user))
    over({ maxChatWork: 100 }, [user], { tools: tool(Object.fromEntries(Object.entries(wide).slice(0, 100))) })
  } finally {
    limits.configure({ maxChatOutput, maxChatWork })
  }
})

test("elements of more than 50 characters are any, as in gpt-oss's template", () => {
  // Its rule is `inner_type|length > 50`, and Python counts characters.
  const declared = (type) => {
    const parameters = { type: 'object', properties: { list: { type: 'array', items: { type: [type] } } } }
    const tools = [{ type: 'function', function: { name: 'f', parameters } }]
    const options = { tools, tokenize: false, variables: { strftime_now: () => '2025-06-28' } }
    return oss.applyChatTemplate([{ role: 'user', content: 'a' }], options)
  }
  for (const character of ['a', 'é', '😀']) {
    const [short, long] = [50, 51].map((count) => character.repeat(count))
    assert.ok(declared(short).includes(`list?: ${short}[]`), short)
    assert.ok(declared(long).includes('list?: any[]') && !declared(long).includes(long), long)
  }
})

test('what a message of the harmony format must be is refused by its place', () => {
  const final = { ...user, channel: 'final' }
  const part = (role, content) => [{ ...final, role, content: [content] }]
  const system = (fields) => part('system', { type: 'system_content', ...fields })
  const developer = (fields) => part('developer', { type: 'developer_content', ...fields })
  const tools = (one) => developer({ tools: { functions: one } })
  for (const [messages, message, options] of [
    [[{ ...final, id: 'x' }], /messages\[0\]\.id is not a field .*; the fields are role, name, /],
    [[{ ...final, name: 5 }], /messages\[0\]\.name must be a string/],
    [[{ ...final, role: 'critic' }], /messages\[0\]\.role must be (\w+, )+\w+/],
    [[{ ...final, role: 'tool' }], /messages\[0\] has the role tool and no name/],
    [[{ ...final, content: 5 }], /messages\[0\]\.content must be a string or an array/],
    [[{ ...final, content: null }], /messages\[0\]\.content must be a string or an array/],
    [part('user', { type: 'text', text: 5 }), /content\.text must be a string/],
    [part('user', { type: 'image' }), /a part that is not text, system_content or developer_content/],
    [part('user', null), /a part that is not text/],
    [part('user', { type: 'system_content' }), /belongs into a system message/],
    [part('system', { type: 'developer_content' }), /belongs into a developer message/],
    [system({ model_identity: 5 }), /model_identity must be a string/],
    [system({ knowledge_cutoff: 5 }), /knowledge_cutoff must be a string/],
    [system({ conversation_start_date: 5 }), /conversation_start_date must be a string/],
    [system({ reasoning_effort: 'huge' }), /reasoning_effort must be \w+, \w+/],
    [system({ channel_config: { valid_channels: 'final' } }), /valid_channels must be an array/],
    [system({ tools: 'browser' }), /\.tools must be an object/],
    [developer({ instructions: 5 }), /instructions must be a string/],
    [tools({ tools: [] }), /a tool namespace needs a name/],
    [tools({ name: 'functions', tools: {} }), /the tools of the namespace functions must be an array/],
    [tools({ name: 'functions', tools: [{}] }), /a tool of the namespace functions needs a name/],
    [[final], /the variable x belongs into a system_content/, { variables: { x: 1 } }],
  ])
    assert.throws(() => text(messages, options), { code: REFUSED, message }, JSON.stringify(messages))
  for (const [messages, message, variables] of [
    [[final], /variables\.auto_drop_analysis must be a boolean/, { auto_drop_analysis: 1 }],
    [[user], /variables\.builtin_tools must be an array of names/, { builtin_tools: 'browser' }],
    [[user], /variables\.strftime_now must be a function/, { strftime_now: 5 }],
    [[user], /variables\.model_identity must be a string/, { model_identity: 5 }],
  ])
    assert.throws(() => text(messages, { variables }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE', message })
  const calls = (fields) => [user, { role: 'assistant', ...fields }]
  const call = { id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }
  for (const [messages, message] of [
    [calls({ content: 'a', thinking: 'b', tool_calls: [call] }), /content and reasoning beside a tool call/],
    [calls({ tool_calls: [{ ...call, function: { name: 'f' } }] }), /function has no arguments/],
    [[user, ...calls({ tool_calls: [call] }).slice(1), { role: 'tool' }], /messages\[2\]\.content is missing/],
    [[{ role: 'user' }], /messages\[0\]\.content is missing/],
  ])
    assert.throws(() => text(messages), { code: REFUSED, message }, JSON.stringify(messages))
})
