// What a caller passes to a chat is converted once, and each property is read once.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { countRequest, fitChat } from '@tokenlane/requests'
import { Tokenizer, limits } from '../../index.mjs'

const file = new URL('../testdata/chat/tokenizer.json', import.meta.url)
const chatTemplate = `{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content }}
  {%- for c in m.tool_calls or [] %}{{ c.name }}{% endfor %}{{ '<|im_end|>' }}{% endfor %}{{ x }}{{ tools }}
  {%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}`
const local = Tokenizer.fromFileSync(file, { chatTemplate })
const gpt4o = Tokenizer.forModelSync('gpt-4o')
const oss = Tokenizer.forModelSync('gpt-oss-20b')

const plain = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  { role: 'assistant', content: 'Yes' },
]
const texts = plain.map(({ role }) => ({ role, content: 'Hi' }))

/** A value whose objects count how often each of their properties is read. */
function counted(value, reads, location = '') {
  if (typeof value !== 'object' || value === null) return value
  const inner = Array.isArray(value) ? [] : {}
  for (const [key, one] of Object.entries(value)) inner[key] = counted(one, reads, `${location}.${key}`)
  return new Proxy(inner, {
    get(target, key, receiver) {
      if (Object.hasOwn(target, key)) {
        const place = `${location}.${String(key)}`
        reads.set(place, (reads.get(place) ?? 0) + 1)
      }
      return Reflect.get(target, key, receiver)
    },
  })
}

/** The calls that take messages, with what they return. */
const CALLS = {
  ids: (messages, more) => [...local.applyChatTemplate(messages, more).ids],
  mask: (messages, more) => [
    ...local.applyChatTemplate(messages, { ...more, returnAssistantMask: true }).assistantMask,
  ],
  thrown: (messages, more) => local.countChat(messages, { ...more, content: 'throw' }),
  count: (messages, more) => local.countChat(messages, more),
  fit: (messages, more) => fitChat(local, messages, { ...more, maxTokens: 1000 }).tokens,
  server: (messages) => countRequest(local, { messages }).tokens,
  'gpt-4o': (messages) => gpt4o.countChat(messages),
  'gpt-oss': (messages) => [...oss.applyChatTemplate(messages, { returnAssistantMask: true }).assistantMask],
}

test('each property is read once, whatever the call does with it', () => {
  for (const [name, call] of Object.entries(CALLS)) {
    const reads = new Map()
    const more = { variables: { x: { y: ['z'] } }, tools: [{ name: 'f' }] }
    const messages = texts.map((message, i) => counted(message, reads, `[${i}]`))
    const options = {
      variables: counted(more.variables, reads, 'variables'),
      tools: [counted(more.tools[0], reads, 'tools')],
    }
    assert.deepEqual(call(messages, options), call(texts, more), name)
    assert.ok(reads.size >= 6, name)
    const twice = [...reads].filter(([, count]) => count > 1)
    assert.deepEqual(twice, [], name)
  }
})

test('a getter that answers differently cannot pass the check of special tokens', () => {
  let answers = 0
  const message = {
    role: 'user',
    get content() {
      return answers++ === 0 ? 'Hi' : '<|im_end|>'
    },
  }
  assert.equal(local.countChat([message], { content: 'throw' }), local.countChat([{ role: 'user', content: 'Hi' }]))
  assert.equal(answers, 1)
})

test('messages with a toJSON are what that returns, in masks and in fitChat', () => {
  class Stored {
    #fields
    constructor(fields) {
      this.#fields = fields
    }
    toJSON() {
      return this.#fields
    }
  }
  // Immutable returns values that have a toJSON again.
  const nested = (value) =>
    Array.isArray(value)
      ? value.map(nested)
      : typeof value === 'object'
        ? new Stored(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, nested(one)])))
        : value
  const stored = plain.map(nested)
  const mask = (messages) => [...local.applyChatTemplate(messages, { returnAssistantMask: true }).assistantMask]
  assert.ok(mask(plain).includes(1))
  assert.deepEqual(mask(stored), mask(plain))
  const long = [stored[0], nested({ role: 'user', content: 'long '.repeat(90) }), ...stored.slice(1)]
  for (const tokenizer of [local, gpt4o]) {
    const { messages } = fitChat(tokenizer, long, { maxTokens: fitChat(tokenizer, plain, { maxTokens: 1000 }).tokens })
    assert.deepEqual(messages, stored, 'the system message stays')
    assert.ok(messages.every((message) => message instanceof Stored))
  }
  // What a toJSON returns is not asked again.
  const endless = { toJSON: () => ({ role: 'user', content: 'Hi', toJSON: () => endless }) }
  assert.equal(local.countChat([endless]), local.countChat([{ role: 'user', content: 'Hi' }]))
})

/** What a call answers or throws. */
function outcomeOf(call) {
  try {
    return call()
  } catch ({ name, code, message }) {
    return { name, code, message }
  }
}

/** Values of a field that nothing but the template reads, in a conversation and in a body. */
const printing = Tokenizer.fromFileSync(file, {
  chatTemplate: '{% for m in messages %}{{ m.role }}{{ m.content }}{{ m.more }}{% endfor %}',
})
const READERS = {
  conversation: (messages) => printing.countChat(messages, { content: 'parse' }),
  body: (messages) => countRequest(printing, { messages }).tokens,
}
const withMore = (more) => [{ role: 'user', content: 'Hi', more }]
const nest = (depth) => Array.from({ length: depth }).reduce((value) => [value], 'x')

test('a conversation and a body take the same values, as JSON has them', () => {
  class Stored {
    constructor(json) {
      this.toJSON = () => json
    }
  }
  class Fields {
    a = 1
    get b() {
      return 2
    }
  }
  const shared = { a: [1] }
  const values = {
    toJSON: new Stored({ a: 'x', toJSON: () => 'y' }),
    'toJSON of a list': new Stored([new Stored('a'), new Date(0)]),
    'toJSON of nothing': new Stored(null),
    'a toJSON that knows its key': { here: { toJSON: (key) => `${key}!` }, list: [{ toJSON: (key) => key }] },
    'a toJSON of a class with getters': new Stored(new Fields()),
    'String objects': [new String('boxed'), new Stored(new String('text'))],
    'Number and Boolean objects': { a: new Number(1.5), b: new Boolean(false) },
    'a String object with other methods': Object.assign(new String('a'), { toString: () => 'b', valueOf: () => 'c' }),
    'a URL': new URL('https://example.org/a'),
    'a Proxy': new Proxy({ a: 'x' }, {}),
    'getters of the object': {
      get a() {
        return 'x'
      },
    },
    'fields of a class': new Fields(),
    'symbols as keys': { [Symbol('a')]: 1, b: 2 },
    'what is undefined': { a: undefined, b: 1 },
    __proto__: JSON.parse('{"__proto__": {"a": 1}, "b": 2}'),
    'the same object twice': [shared, shared, { shared }],
    '198 levels': nest(198),
  }
  for (const [name, value] of Object.entries(values))
    for (const [reader, count] of Object.entries(READERS)) {
      const json = JSON.parse(JSON.stringify({ value })).value
      assert.notEqual(count(withMore(json)), count(withMore('')), name)
      assert.equal(count(withMore(value)), count(withMore(json)), `${name}, ${reader}`)
    }
  // A list of another library is an array in JSON.
  const list = new Stored(withMore('x'))
  for (const count of Object.values(READERS)) assert.equal(count(list), count(withMore('x')))
  assert.deepEqual(fitChat(printing, list, { maxTokens: 1000 }).messages, list.toJSON())
  assert.equal(countRequest(printing, new Stored({ messages: withMore('x') })).tokens, READERS.body(withMore('x')))
  // Not as JSON, which has {}: the entries of a Map are fields.
  const map = new Map([
    ['a', [1]],
    [2, 'x'],
  ])
  for (const count of Object.values(READERS)) assert.equal(count(withMore(map)), count(withMore({ a: [1], 2: 'x' })))
  // A symbol and a function are rendered as their type, in angle brackets.
  for (const more of [Symbol('s'), () => 'x'])
    for (const count of Object.values(READERS)) assert.equal(count(withMore(more)), count(withMore(`<${typeof more}>`)))
})

test('a conversation and a body refuse the same values, by the same place', (t) => {
  class Hidden {
    role = 'user'
    get name() {
      return 'Hello!'
    }
  }
  const throws = () => {
    throw new Error('of the caller')
  }
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  const circular = {}
  circular.self = circular
  const unending = () => ({ toJSON: () => ({ next: unending() }) })
  const endless = new Proxy([], { get: (_, name) => (name === 'length' ? 2 ** 32 - 1 : 'x') })
  let wide = 'x'
  for (let i = 0; i < 60; i++) wide = [wide, wide]
  const values = {
    revoked,
    'a getter that throws': {
      get a() {
        throw new Error('of the caller')
      },
    },
    'a toJSON that throws': { toJSON: throws },
    'a Proxy that throws': new Proxy({}, { ownKeys: throws }),
    'a list that throws': new Proxy(['x'], {
      get: (list, name) => (name === '0' ? throws() : Reflect.get(list, name)),
    }),
    '9,000 levels': nest(9000),
    '200 levels': nest(200),
    circular,
    unending: unending(),
    endless,
    '2 ** 60 values that are 60 objects': wide,
  }
  const { maxChatWork, maxChatMemory } = limits
  t.after(() => limits.configure({ maxChatWork, maxChatMemory }))
  limits.configure({ maxChatWork: Infinity, maxChatMemory: Infinity })
  for (const [name, value] of Object.entries(values)) {
    const [ofChat, ofBody] = Object.values(READERS).map((count) => outcomeOf(() => count(withMore(value))))
    assert.deepEqual(ofChat, ofBody, name)
    assert.match(ofChat.code, /ERR_TOKENLANE_ARGUMENT_(VALUE|TYPE)/, name)
    assert.match(ofChat.message, /^messages\[0\]\.more/, name)
    for (const content of ['text', 'parse', 'throw'])
      assert.equal(outcomeOf(() => local.countChat(texts, { content, variables: { value } })).code, ofChat.code, name)
    assert.equal(outcomeOf(() => oss.countChat(withMore(value))).code, ofChat.code, name)
  }
  // Fields of a class, which JSON lacks, wherever they are read.
  const hidden = Object.assign(new Hidden(), { content: 'Hi' })
  const call = Object.create({ function: { name: 'f', arguments: '{}' } })
  for (const [place, message] of [
    ['messages[0].name', hidden],
    ['messages[0].tool_calls[0].function', { role: 'assistant', content: '', tool_calls: [call] }],
    ['messages[0].content', Object.defineProperty({ role: 'user' }, 'content', { value: 'Hi' })],
  ]) {
    const [ofChat, ofBody] = Object.values(READERS).map((count) => outcomeOf(() => count([message])))
    assert.deepEqual(ofChat, ofBody, place)
    assert.ok(ofChat.message.startsWith(`${place} must be a field that JSON has`), ofChat.message)
  }
  // What a conversation takes and JSON does not have.
  for (const [more, text] of [
    [12n, '12'],
    [new Uint8Array(2), '<Uint8Array>'],
  ]) {
    assert.equal(READERS.conversation(withMore(more)), READERS.conversation(withMore(text)))
    assert.throws(() => READERS.body(withMore(more)), {
      message: /^messages\[0\]\.more must be a value that JSON can hold/,
    })
  }
})

test("a text of a field that no template reads is checked, too, with content: 'throw'", () => {
  assert.throws(
    () => oss.countChat([{ role: 'user', content: 'Hi', more: [{ x: '<|end|>' }] }], { content: 'throw' }),
    {
      code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
      message: /^messages\[0\]\.more\[0\]\.x: /,
    },
  )
})

test('chat files that are not UTF-8 are refused, as by transformers', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-utf8-'))
  const name = path.join(folder, 'tokenizer.json')
  const ask = () =>
    Tokenizer.fromFileSync(name).applyChatTemplate([{ role: 'user', content: 'Hi' }], { tokenize: false })
  try {
    fs.copyFileSync(file, name)
    fs.mkdirSync(path.join(folder, 'additional_chat_templates'))
    const bad = {
      'chat_template.jinja': Buffer.from('a\xff{{ messages[0].content }}', 'latin1'),
      'additional_chat_templates/x.jinja': Buffer.from('\xed\xa0\x80', 'latin1'),
      'tokenizer_config.json': Buffer.from('{"chat_template": "a\xff"}', 'latin1'),
    }
    for (const [place, bytes] of Object.entries(bad)) {
      fs.writeFileSync(path.join(folder, 'chat_template.jinja'), 'é{{ messages[0].content }}')
      assert.equal(ask(), 'éHi')
      fs.writeFileSync(path.join(folder, place), bytes)
      const refused = { code: 'ERR_TOKENLANE_CHAT_TEMPLATE', message: new RegExp(`${path.basename(place)}.*not UTF-8`) }
      assert.throws(ask, refused, place)
      fs.rmSync(path.join(folder, place))
    }
    // Python keeps a byte order mark at the start of a text.
    fs.writeFileSync(path.join(folder, 'chat_template.jinja'), '\ufeffa')
    assert.equal(ask(), '\ufeffa')
    for (const config of ['tokenizer_config.json', 'special_tokens_map.json', 'config.json']) {
      fs.writeFileSync(path.join(folder, config), Buffer.from('{"x": "a\xff"}', 'latin1'))
      // As with any other fault of a config, the tokenizer is that of its file, and says so.
      assert.match(Tokenizer.fromFileSync(folder).source.note, /configs cannot be used.*not UTF-8/, config)
      fs.rmSync(path.join(folder, config))
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
