// What a caller passes to a chat is converted once, and each property is read once.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

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
  fit: (messages, more) => local.fitChat(messages, { ...more, maxTokens: 1000 }).tokens,
  server: (messages) => local.countRequest({ messages }).tokens,
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
    const { messages } = tokenizer.fitChat(long, { maxTokens: tokenizer.countChat(plain) })
    assert.deepEqual(messages, stored, 'the system message stays')
    assert.ok(messages.every((message) => message instanceof Stored))
  }
  // What a toJSON returns is not asked again.
  const endless = { toJSON: () => ({ role: 'user', content: 'Hi', toJSON: () => endless }) }
  assert.equal(local.countChat([endless]), local.countChat([{ role: 'user', content: 'Hi' }]))
})

test('deep, circular and endless values end with a code', (t) => {
  const LIMIT = { code: 'ERR_TOKENLANE_CHAT_LIMIT' }
  let deep = []
  for (let i = 0; i < 9000; i++) deep = [deep]
  const circular = {}
  circular.self = circular
  const { maxChatWork, maxChatMemory } = limits
  t.after(() => limits.configure({ maxChatWork, maxChatMemory }))
  limits.configure({ maxChatWork: 200_000, maxChatMemory: 2 ** 21 })
  const unending = () => ({ toJSON: () => ({ next: unending() }) })
  for (const value of [deep, circular, unending()]) {
    const messages = [{ role: 'user', content: 'Hi', more: value }]
    for (const content of ['text', 'parse', 'throw']) {
      assert.throws(() => local.countChat(messages, { content }), LIMIT)
      assert.throws(() => local.applyChatTemplate(messages, { content }), LIMIT)
      assert.throws(() => local.countChat(texts, { content, variables: { value } }), LIMIT)
    }
  }
  // Fields that gpt-oss does not read.
  for (const value of [deep, circular])
    assert.ok(oss.countChat([{ role: 'user', content: 'Hi', more: value }], { content: 'throw' }) > 5)
  assert.throws(
    () => oss.countChat([{ role: 'user', content: 'Hi', more: [{ x: '<|end|>' }] }], { content: 'throw' }),
    {
      code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
      message: /^messages\[0\]\.more\[0\]\.x: /,
    },
  )
  // Lists of any length, whose elements are read one by one.
  const endless = new Proxy([], {
    get: (_, name) => (name === 'length' ? 2 ** 32 - 1 : { role: 'user', content: 'x' }),
  })
  for (const call of [() => local.countChat(endless), () => gpt4o.countChat([{ role: 'user', content: endless }])])
    assert.throws(call, LIMIT)
  // 2 ** 60 values that are 60 objects.
  let wide = 'x'
  for (let i = 0; i < 60; i++) wide = [wide, wide]
  assert.throws(() => local.countChat([{ role: 'user', content: 'Hi', more: wide }]), LIMIT)
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
