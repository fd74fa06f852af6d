// Conversations as client libraries send them, recorded with a fetch of their own by
// tools/compare/chat/record_clients.mjs of commit 372bc683, in templates; null and missing fields;
// variables of inner blocks; hostile keys of mappings.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { countRequest, fitChat } from '@tokenlane/requests'
import { Tokenizer } from '../../index.mjs'
import { PAGE, refusedPage } from '../../tools/compare/chat/refused.mjs'

const require = createRequire(import.meta.url)
const DATA = new URL('../testdata/chat/', import.meta.url)
const read = (name) => JSON.parse(fs.readFileSync(new URL(name, DATA), 'utf8'))
const file = new URL('tokenizer.json', DATA)
const tokenizer = Tokenizer.fromFileSync(file)
const TEMPLATE = 'ERR_TOKENLANE_CHAT_TEMPLATE'
const REFUSED = /^ERR_TOKENLANE_CHAT_(REFUSED|TEMPLATE|LIMIT)$/

const CHAT = [{ role: 'user', content: 'Hello!' }]
const render = (chatTemplate, variables, messages = CHAT) =>
  tokenizer.applyChatTemplate(messages, { chatTemplate, variables, tokenize: false })

/** Renders cases, and returns those whose text or refusal is another one than that of jinja2. */
function wrongAmong(cases, run) {
  const wrong = []
  for (const one of cases) {
    let found
    try {
      found = run(one)
    } catch (error) {
      if (!REFUSED.test(error.code)) throw error
      found = null
    }
    if (found !== (one.text ?? null)) wrong.push({ ...one, found })
  }
  return wrong
}

test('recorded conversations of client libraries render as with jinja2', () => {
  const { styles } = read('chats.json')
  const { clients, tools, cases } = read('clients.json')
  const names = Object.keys(clients).map((name) => name.split(/[ ,]/)[0])
  assert.deepEqual([...new Set(names)], ['openai', 'ai', 'langchain', 'anthropic'])
  const chats = Object.entries(styles).map(([style, config]) => {
    const options = { config, chatTemplate: config.chat_template }
    return [style, Tokenizer.fromFileSync(file, options)]
  })
  const byStyle = new Map(chats)
  const wrong = wrongAmong(cases, ({ style, client }) =>
    byStyle.get(style).applyChatTemplate(clients[client], { tools, tokenize: false }),
  )
  assert.deepEqual(wrong, [])
  assert.ok(cases.filter(({ text }) => text !== undefined).length > 80 && cases.some(({ error }) => error))
})

test('random templates of nested blocks, and random expressions, render as with jinja2', () => {
  const { variables, messages, cases } = read('random-templates.json')
  // Filters that are refused by name, and differences of sets.
  const isRefused = (source) => /striptags|pprint|\) - .*(keys|items)\(\)|(keys|items)\(\)\) - /.test(source)
  const known = cases.filter(([source]) => !isRefused(source)).map(([source, text]) => ({ source, text }))
  assert.deepEqual(
    wrongAmong(known, ({ source }) => render(source, variables, messages)),
    [],
  )
  assert.ok(known.length > 900 && known.filter(({ text }) => text !== null).length > 400)
})

// What every client of OpenAI's API returns beside calls
const ASKS = {
  role: 'assistant',
  content: null,
  refusal: null,
  tool_calls: [{ id: '1', type: 'function', function: { name: 'now', arguments: null } }],
}

test('null is none in messages, tools, documents and variables; a missing field is undefined', () => {
  const called =
    "{% for m in messages %}{% if m['content'] is none %}<{{ m.tool_calls[0].function.name }}>{% else %}{{ m['content'] + '!' }}{% endif %}{% endfor %}"
  assert.equal(render(called, {}, [...CHAT, ASKS]), 'Hello!!<now>')
  const kind = (name) => `{{ 'none' if ${name} is none else 'undefined' if ${name} is undefined else 'value' }}`
  const fields = {
    'messages[0].content': 'none',
    'messages[0].refusal': 'none',
    'messages[0].tool_calls[0].function.arguments': 'none',
    'messages[0].audio': 'undefined',
    'messages[0].name': 'undefined',
    'messages[0].tool_calls[0].index': 'undefined',
    'tools[0].function': 'none',
    'documents[0].title': 'none',
    'x.y[0]': 'none',
    'x.z': 'undefined',
    y: 'none',
    z: 'undefined',
  }
  const options = {
    chatTemplate: Object.keys(fields).map(kind).join(' '),
    tools: [{ type: 'function', function: null }],
    documents: [{ title: null }],
    variables: { x: { y: [null], z: undefined }, y: null, z: undefined },
    tokenize: false,
  }
  assert.equal(tokenizer.applyChatTemplate([{ ...ASKS, name: undefined }], options), Object.values(fields).join(' '))
  assert.equal(render('{{ messages }}', {}, [{ role: 'x', a: null, b: undefined }]), "[{'role': 'x', 'a': None}]")
})

test('null reasoning is none, and no reasoning is copied from it', () => {
  const shown = '{{ messages[0] }}'
  const message = { role: 'assistant', reasoning_content: null, reasoning: 'Hm', content: '' }
  assert.equal(
    render(shown, {}, [message]),
    "{'thinking': 'Hm', 'role': 'assistant', 'reasoning_content': 'Hm', 'reasoning': 'Hm', 'content': ''}",
  )
  assert.equal(render(shown, {}, [{ role: 'assistant', thinking: null }]), "{'role': 'assistant', 'thinking': None}")
  const options = { chatTemplate: '{{ messages[0].content }}', continueFinalMessage: true }
  assert.throws(() => tokenizer.applyChatTemplate([ASKS], options), { code: 'ERR_TOKENLANE_CHAT_REFUSED' })
})

test('@tokenlane/transformers passes null on, as @huggingface/transformers 4.3.1 does', () => {
  const { PreTrainedTokenizer } = require('../../packages/transformers/index.js')
  const own = new PreTrainedTokenizer(JSON.parse(fs.readFileSync(file, 'utf8')), { tokenizer_class: 'X' })
  const chat_template =
    "{% for m in messages %}{{ 'none' if m.content is none else m.content }}{{ m.name is defined }}{{ m.audio is defined }}{% endfor %}"
  const messages = [...CHAT, { ...ASKS, name: null }]
  assert.equal(own.apply_chat_template(messages, { chat_template, tokenize: false }), 'Hello!FalseFalsenoneTrueFalse')
})

test('null fields take no tokens in chats of OpenAI encodings and of gpt-oss', () => {
  const gpt4o = Tokenizer.forModelSync('gpt-4o')
  const oss = Tokenizer.forModelSync('gpt-oss-20b')
  const bare = {
    role: 'assistant',
    tool_calls: [{ id: '1', type: 'function', function: { name: 'now', arguments: '{}' } }],
  }
  const nulls = { ...bare, content: null, refusal: null, audio: null, function_call: null, name: null }
  const ofGpt4o = (message) => countRequest(gpt4o, { messages: [...CHAT, message] })
  assert.deepEqual(ofGpt4o(nulls), ofGpt4o(bare))
  assert.equal(oss.countChat([...CHAT, nulls]), oss.countChat([...CHAT, bare]))
  const said = { role: 'assistant', content: 'Hi' }
  const answer = { ...said, refusal: null, audio: null, function_call: null, tool_calls: [], annotations: [] }
  assert.equal(gpt4o.countChat([...CHAT, answer]), gpt4o.countChat([...CHAT, said]))
})

test('messages of classes are what JSON has of them, and fields that it lacks are refused', () => {
  // Models of Mongoose and Sequelize have their fields as getters of the class, and a toJSON.
  class Stored {
    #fields
    constructor(fields) {
      this.#fields = fields
      this.isNew = false
    }
    get role() {
      return this.#fields.role
    }
    get content() {
      return this.#fields.content
    }
    toJSON() {
      return this.#fields
    }
  }
  class Hidden {
    role = 'user'
    get content() {
      return 'Hello!'
    }
  }
  class HiddenPart {
    type = 'text'
    get text() {
      return 'Hello!'
    }
  }
  const chatTemplate = '{% for m in messages %}{{ m.role }}: {{ m.content }}{{ m.isNew }}{% endfor %}'
  const rendering = Tokenizer.fromFileSync(file, { chatTemplate })
  const o200k = Tokenizer.fromEncodingSync('o200k_base')
  const calls = {
    rendered: (messages) => rendering.countChat(messages),
    text: (messages) => rendering.applyChatTemplate(messages, { tokenize: false }),
    fitted: (messages) => fitChat(rendering, messages, { maxTokens: 1000 }).tokens,
    'gpt-4o': (messages) => Tokenizer.forModelSync('gpt-4o').countChat(messages),
    'gpt-oss': (messages) => Tokenizer.forModelSync('gpt-oss-20b').countChat(messages),
    server: (messages) => countRequest(rendering, { messages }).tokens,
    Claude: (messages) => countRequest(o200k, { model: 'claude-sonnet-4-5', messages }).tokens,
  }
  for (const [name, call] of Object.entries(calls)) {
    assert.equal(call([new Stored(CHAT[0])]), call(CHAT), name)
    const refused = { name: 'RangeError', code: 'ERR_TOKENLANE_ARGUMENT_VALUE' }
    const fields = [
      ['content', new Hidden()],
      ['role', Object.create(CHAT[0])],
      ['content[0].text', { role: 'user', content: [new HiddenPart()] }],
    ]
    for (const [field, message] of fields)
      assert.throws(
        () => call([message]),
        { ...refused, message: new RegExp(`^messages\\[0\\]\\.${field.replace(/[[\]]/g, '\\$&')} `) },
        name,
      )
  }
})

test('a name that a block sets is a variable of this block everywhere in it', () => {
  const x = { x: 1, l: [1, 2] }
  const cases = {
    '{% for y in l %}{{ x }}{% endfor %}{% set x = 2 %}': '',
    '{% macro f() %}{{ x }}{% endmacro %}{% set x = f() %}[{{ x }}]': '[]',
    '{% set z %}{{ x }}{% endset %}{% set x = 2 %}[{{ z }}]': '[]',
    '{% filter upper %}[{{ x }}]{% endfilter %}{% set x = 2 %}': '[]',
    '{% generation %}[{{ x }}]{% endgeneration %}{% set x = 2 %}': '[]',
    '{% with %}[{{ x }}]{% endwith %}{% set x = 2 %}': '[]',
    '{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}[{{ x }}]{% endcall %}{% set x = 2 %}': '[]',
    '{% autoescape false %}[{{ x }}]{% endautoescape %}{% set x = 2 %}': '[]',
    // Read first in the same block, or set in some branches only: the value of the caller
    '{{ x }}{% for y in l %}{{ x }}{% endfor %}{% set x = 2 %}{{ x }}': '1112',
    '{% for y in l %}{{ x }}{% endfor %}{% if l %}{% set x = 2 %}{% endif %}{{ x }}': '112',
    '{% if x %}{% for y in l %}{{ x }}{% endfor %}{% set x = 2 %}{% endif %}': '11',
    '{% for y in l %}{% for z in l %}{{ x }}{% endfor %}{% set x = y %}{% endfor %}': '',
    '{% set x = 0 %}{% for y in l %}{% for z in l %}{{ x }}{% endfor %}{% set x = y %}{% endfor %}': '0000',
    // A macro sees the variables of its place when it is called.
    '{% set n = namespace() %}{% for y in l %}{% macro m() %}{{ y }}{% endmacro %}{% if loop.first %}{% set n.m = m %}{% endif %}{{ n.m() }}{% endfor %}':
      '12',
    // A block sees what was set before it, in no other block.
    '{% set x = 5 %}{% block a %}{{ x }}{% set x = 6 %}{{ x }}{% endblock %}{{ x }}': '565',
    '{% for x in l %}{% block a %}{{ x }}{% endblock a %}{% endfor %}': '11',
    '{% for x in l %}{% block a scoped %}{{ x }}{% endblock %}{% endfor %}': '12',
    // Elements of a loop are computed when they are reached.
    '{% set n = namespace(go=true) %}{% for y in l if n.go %}{{ y }}{% set n.go = false %}{% endfor %}': '1',
    "{% for y in ['1', 'x']|map('float') %}{{ y }}{% break %}{% endfor %}": '1.0',
  }
  for (const [source, text] of Object.entries(cases)) assert.equal(render(source, x), text, source)
})

test('small differences to Python that a user found', () => {
  const cases = {
    "{{ 'ΣΣ'.swapcase() }}": 'σς',
    '{{ "ΑΣ\'Α ΑΣ\' ΣΣ".title() }}': "Ασ'Α Ας' Σς",
    '{{ "ΑΣ\'Α".swapcase() }}': "ασ'α",
    '{{ (2.0)[:2] }}': '',
    '{{ none[1:] is defined }}': 'False',
    "{{ [1]['x':]|default('d') }}": 'd',
    '{{ [1, 2][:10**30] }}': '[1, 2]',
    "{{ [('a', 1)]|urlencode }}": 'a=1',
    "{{ 'abc'.translate({97: 'x', 98: none}) }}": 'xc',
    "{{ 'abc'.translate('x'.maketrans('ab', 'cd', 'c')) }}": 'cd',
    "{{ {'a': 1, 'b': none, 'c': '<'}|xmlattr }}": ' a="1" c="&lt;"',
    '{{ 1500|filesizeformat }} {{ 1500|filesizeformat(true) }} {{ 1|filesizeformat }}': '1.5 kB 1.5 KiB 1 Byte',
    "{{ 'one two-three fourfive'|wordwrap(6) }}": 'one\ntwo-\nthree \nfourfi\nve',
    '{% macro m() %}{% endmacro %}{{ m }}{% for x in [1, 2] %}{{ loop }}{% endfor %}':
      "<Macro 'm'><LoopContext 1/2><LoopContext 2/2>",
  }
  for (const [source, text] of Object.entries(cases)) assert.equal(render(source), text, source)
  for (const source of [
    '{{ (0 - 10**20) * (1,) }}',
    "{{ 'x' * 10**20 }}",
    '{{ range(10**20, 10**20 + 2)|list }}',
    '{% set x = (2.0)[:2] %}',
    '{% set q %}{% endset %}{% set z|default(y) %}{% endset %}',
    '{% block a required %}{% endblock %}',
    '{% block a %}{% endblock %}{% block a %}{% endblock %}',
  ])
    assert.throws(() => render(source), { code: TEMPLATE }, source)
})

/** The number whose product with an odd number is one, modulo 2 ** 32. */
function inverse(odd) {
  let found = odd
  for (let i = 0; i < 5; i++) found = Math.imul(found, 2 - Math.imul(odd, found))
  return found
}

/** The number x for which x ^ (x >>> bits) is this one. */
function unshifted(number, bits) {
  let found = number
  for (let done = bits; done < 32; done += bits) found = number ^ (found >>> bits)
  return found
}

/** Integers that V8 (ComputeUnseededHash, from its end on) puts into one bucket of a Map. */
function colliding(count, buckets) {
  const keys = []
  for (let i = 0; keys.length < count; i++) {
    const last = Math.imul(unshifted(i * buckets, 16), inverse(2057))
    const first = unshifted(Math.imul(unshifted(last, 4), inverse(5)), 12)
    const key = Math.imul(first + 1, inverse(32_767))
    if (key >= 0) keys.push(key)
  }
  return keys
}

test('keys that collide in the hash of V8 cost what other keys cost', () => {
  const seconds = (source, variables, ending) => {
    const before = process.cpuUsage()
    try {
      assert.equal(render(source, variables), ending)
    } catch (error) {
      if (error.code !== 'ERR_TOKENLANE_CHAT_LIMIT') throw error
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  }
  const keys = colliding(24_000, 1 << 15)
  const count = String(keys.length)
  const multiples =
    '{% set m = 2**64 %}{% set ns = namespace(l=[]) %}{% for j in range(1300) %}{% set ns.l = ns.l + [j*m] %}{% endfor %}' +
    '{% set d = {}.fromkeys(ns.l, 1) %}{% set e = {}.fromkeys(ns.l, 1) %}{% for i in range(2000) %}{% if d == e %}{% endif %}{% endfor %}'
  const mapping = Object.fromEntries(keys.map((key) => [key, 1]))
  const cases = [
    [multiples, {}, ''],
    ['{{ l|unique|list|length }}', { l: keys }, count],
    ['{{ l|unique|list|length }}', { l: keys.map(String) }, count],
    ["{{ l|map('float')|unique|list|length }}", { l: keys }, count],
    ['{{ dict(**d)|length }}', { d: mapping }, count],
    [`{{ {${keys.map((key) => `${key}: 1`).join(', ')}}|length }}`, {}, count],
  ]
  // With numbers as keys of a Map, each of them takes from one to ten seconds.
  for (const [source, variables, ending] of cases)
    assert.ok(seconds(source, variables, ending) < 1, source.slice(0, 60))
})

test('keys are equal as in Python, and keep the form in which they were set first', () => {
  const cases = {
    "{{ {1: 'a', 1.0: 'b', true: 'c'} }}": "{1: 'c'}",
    "{{ {'1': 'a', 1: 'b'} }}": "{'1': 'a', 1: 'b'}",
    "{{ {'\\x00n1': 'a', 1: 'b', '\\x00s1': 'c', '1': 'd', '\\x00t': 'e', (): 'f'}|length }}": '6',
    '{{ {2**64: 1, 2.0**64: 2} }}': '{18446744073709551616: 2}',
    '{{ {0: 1, -0.0: 2, false: 3} }}': '{0: 3}',
    '{{ {1.5: 1}[1.5] }}{{ {(1, 1.5): 2}[(true, 1.5)] }}': '12',
    '{{ {2**53: 1}[2.0**53] }}{{ (2**53 + 1) in {2**53: 1} }}': '1False',
  }
  for (const [source, text] of Object.entries(cases)) assert.equal(render(source), text, source)
})

test('the guide lists what is refused of jinja2', () => {
  assert.equal(fs.readFileSync(PAGE, 'utf8'), refusedPage(), 'it is old: npm run docs')
})
