// Chats: all cases that tools/data/record.py recorded from transformers and jinja2, and
// tests of tokenlane's own features.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../index.mjs'

const DATA = new URL('../testdata/chat/', import.meta.url)
const read = (name) => JSON.parse(fs.readFileSync(new URL(name, DATA), 'utf8'))
const file = new URL('tokenizer.json', DATA)
const { styles, chats, cases } = read('chats.json')

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-chat-'))
test.after(() => fs.rmSync(root, { recursive: true, force: true }))

/** Creates a folder with the files of a model. */
function folderOf(files) {
  const folder = fs.mkdtempSync(path.join(root, 'model-'))
  fs.copyFileSync(file, path.join(folder, 'tokenizer.json'))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  return path.join(folder, 'tokenizer.json')
}

const REFUSED = /^ERR_TOKENLANE_(CHAT_(REFUSED|TEMPLATE|TEMPLATE_MISSING)|ARGUMENT_VALUE)$/

for (const [style, config] of Object.entries(styles)) {
  test(`chats in the style of ${style} equal those of transformers`, async () => {
    const tokenizer = await Tokenizer.fromFile(folderOf({ 'tokenizer_config.json': JSON.stringify(config) }))
    const own = cases.filter((one) => one.style === style)
    assert.ok(own.some(({ ids }) => ids) && own.some(({ error }) => error))
    for (const { chat, options: recorded, text, ids, error } of own) {
      const options = { ...recorded, content: 'parse' }
      const name = `${chat} ${JSON.stringify(options)}`
      const messages = chats[chat]
      const before = JSON.stringify(messages)
      if (error !== undefined) {
        assert.throws(() => tokenizer.applyChatTemplate(messages, options), { code: REFUSED }, name)
        assert.throws(() => tokenizer.countChat(messages, options), { code: REFUSED }, name)
      } else {
        assert.equal(tokenizer.applyChatTemplate(messages, { ...options, tokenize: false }), text, name)
        assert.deepEqual([...tokenizer.applyChatTemplate(messages, options).ids], ids, name)
        assert.equal(tokenizer.countChat(messages, options), ids.length, name)
      }
      assert.equal(JSON.stringify(messages), before, 'the messages stay as they are')
    }
  })
}

test('expressions and statements equal those of jinja2', () => {
  const { variables, messages, cases } = read('templates.json')
  const tokenizer = Tokenizer.fromFileSync(file)
  const wrong = []
  for (const [chatTemplate, text] of cases) {
    let found = null
    try {
      found = tokenizer.applyChatTemplate(messages, { chatTemplate, variables, tokenize: false })
    } catch (error) {
      if (!REFUSED.test(error.code)) throw error
    }
    if (found !== text) wrong.push([chatTemplate, text, found])
  }
  assert.ok(cases.length > 3000)
  assert.deepEqual(wrong, [])
})

const CHAT = [{ role: 'user', content: 'Hello!' }]
const text = (tokenizer, options) => tokenizer.applyChatTemplate(CHAT, { tokenize: false, ...options })

test('the filter int reads the prefixes of each base as Python does', () => {
  const tokenizer = Tokenizer.fromFileSync(file)
  const bases = [0, 2, 8, 10, 16, 36]
  // Recorded from jinja2 3.1.6: a text, and what it is in each base. -9 is the default.
  const recorded = [
    ['0b101', '5', '5', '-9', '-9', '45313', '514513'],
    ['0B_101', '5', '5', '-9', '-9', '45313', '514513'],
    ['0b102', '-9', '-9', '-9', '-9', '45314', '514514'],
    ['0o17', '15', '-9', '15', '-9', '-9', '31147'],
    ['0x1F', '31', '-9', '-9', '-9', '31', '42819'],
    ['-0x1f', '-31', '-9', '-9', '-9', '-31', '-42819'],
    ['+0x_f', '15', '-9', '-9', '-9', '15', '1203'],
    ['017', '17', '17', '15', '17', '23', '43'],
    ['00', '0', '0', '0', '0', '0', '0'],
    ['0_0', '0', '0', '0', '0', '0', '0'],
    ['1_0', '10', '2', '8', '10', '16', '36'],
    [' 7 ', '7', '7', '7', '7', '7', '7'],
    ['0x', '-9', '-9', '-9', '-9', '-9', '33'],
    ['0b101_', '-9', '-9', '-9', '-9', '-9', '-9'],
    ['z', '-9', '-9', '-9', '-9', '-9', '35'],
    [
      '099999999999999999999',
      '100000000000000000000',
      '100000000000000000000',
      '100000000000000000000',
      '99999999999999999999',
      '725355491768777504823705',
      '3437355738559817331729988965405',
    ],
  ]
  const found = recorded.map(([s]) => [
    s,
    ...bases.map((base) => text(tokenizer, { chatTemplate: '{{ s|int(-9, base) }}', variables: { s, base } })),
  ])
  assert.deepEqual(found, recorded)
})

test('sort keeps the order of equal keys that have no order of their own', () => {
  const rows = [{ n: 'a' }, { n: 'b', k: 1 }, { n: 'c' }]
  const tokenizer = Tokenizer.fromFileSync(file)
  const sorted = (chatTemplate) => text(tokenizer, { chatTemplate, variables: { rows } })
  assert.equal(sorted("{{ rows|sort(attribute='q')|map(attribute='n')|join }}"), 'abc')
  assert.equal(sorted("{{ rows|sort(attribute='q', reverse=true)|map(attribute='n')|join }}"), 'abc')
  assert.equal(sorted('{{ [none, none]|sort }} {{ [missing, missing]|sort|length }}'), '[None, None] 2')
  assert.throws(() => sorted("{{ rows|sort(attribute='k') }}"), { code: 'ERR_TOKENLANE_CHAT_TEMPLATE' })
  assert.throws(() => sorted("{{ rows|groupby('q')|list }}"), { code: 'ERR_TOKENLANE_CHAT_TEMPLATE' })
})

test('templates come from the config, from files besides the tokenizer, or from options', async () => {
  const config = JSON.stringify({ chat_template: 'config {{ bos_token }}', bos_token: '<s>' })
  const files = { 'tokenizer_config.json': config }
  assert.equal(text(Tokenizer.fromFileSync(folderOf(files))), 'config <s>')
  files['chat_template.jinja'] = 'file {{ bos_token }}\n'
  assert.equal(text(await Tokenizer.fromFile(folderOf(files))), 'file <s>')
  files['additional_chat_templates/tool_use.jinja'] = 'tools'
  for (const tokenizer of [Tokenizer.fromFileSync(folderOf(files)), await Tokenizer.fromFile(folderOf(files))]) {
    assert.equal(text(tokenizer), 'file <s>')
    assert.equal(text(tokenizer, { tools: [] }), 'tools')
    assert.equal(text(tokenizer, { tools: [{}], chatTemplate: 'default' }), 'file <s>')
    assert.equal(text(tokenizer, { chatTemplate: 'mine {{ bos_token }}' }), 'mine <s>')
  }
  for (const chat_template of [{ tool_use: 'tools' }, [{ name: 'tool_use', template: 'tools' }]]) {
    const tokenizer = Tokenizer.fromFileSync(folderOf({ 'tokenizer_config.json': JSON.stringify({ chat_template }) }))
    assert.equal(text(tokenizer, { tools: [] }), 'tools')
    assert.equal(text(tokenizer, { chatTemplate: 'tool_use' }), 'tools')
    assert.throws(() => text(tokenizer), { code: 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING' })
  }
  const options = {
    chatTemplate: 'told {{ eos_token }}',
    config: { eos_token: { content: '</s>' }, chat_template: 'no' },
  }
  const bytes = fs.readFileSync(file)
  for (const tokenizer of [
    Tokenizer.fromFileSync(folderOf(files), options),
    await Tokenizer.fromBuffer(bytes, options),
    Tokenizer.fromBufferSync(bytes, options),
  ]) {
    assert.equal(text(tokenizer), 'told </s>')
  }
  assert.equal(
    text(Tokenizer.fromBufferSync(bytes, { chatTemplate: { a: 'A', default: 'D' } }), { chatTemplate: 'a' }),
    'A',
  )
  const noDefault = Tokenizer.fromBufferSync(bytes, { chatTemplate: { a: 'A', b: 'B' } })
  assert.throws(() => text(noDefault), { code: 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING', message: /a, b/ })
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`template ${at}`, 'T']))
  assert.throws(() => text(Tokenizer.fromBufferSync(bytes, { chatTemplate: many })), {
    code: 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
    message: /template 19 and 99980 more, and none by default/,
  })
  assert.throws(() => text(Tokenizer.fromFileSync(file)), {
    code: 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
    message: /chat_template\.jinja/,
  })
})

test('an invalid file besides the tokenizer is an error of chat calls only', async () => {
  const wrong = ['{', '[1]', '"x"', '{"chat_template": 7}', '{"chat_template": [{"name": "a"}]}']
  for (const config of wrong) {
    const tokenizer = await Tokenizer.fromFile(folderOf({ 'tokenizer_config.json': config }))
    assert.ok(tokenizer.count('hello') > 0)
    assert.throws(() => text(tokenizer), { code: /ERR_TOKENLANE_CHAT_TEMPLATE(_MISSING)?$/ }, config)
  }
})

test('a changed tokenizer has the same chats, with its own tokens', () => {
  const tokenizer = Tokenizer.fromFileSync(
    folderOf({ 'tokenizer_config.json': JSON.stringify({ chat_template: '<new>{{ messages[0].content }}' }) }),
  )
  const changed = tokenizer.with({ addedTokens: [{ content: '<new>', special: true }] })
  assert.equal(text(changed), '<new>Hello!')
  assert.equal(changed.applyChatTemplate(CHAT).ids[0], changed.tokenToId('<new>'))
  assert.ok(changed.countChat(CHAT) < tokenizer.countChat(CHAT))
  const limited = tokenizer.with({ truncation: { maxLength: 2 }, padding: { to: 100 } })
  assert.deepEqual(limited.applyChatTemplate(CHAT).ids, tokenizer.applyChatTemplate(CHAT).ids)
})

test("chats of OpenAI encodings are counted by OpenAI's rule", async () => {
  const chat = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'How far is ' },
        { type: 'text', text: 'the moon?' },
      ],
    },
    { role: 'assistant', content: null },
  ]
  for (const name of ['cl100k_base', 'o200k_base']) {
    const tokenizer = await Tokenizer.fromEncoding(name)
    const count = (...texts) => texts.reduce((sum, one) => sum + tokenizer.count(one), 0)
    const words = count('system', 'Be brief.', 'user', 'ann', 'How far is the moon?', 'assistant')
    assert.equal(tokenizer.countChat(chat), words + 3 * 3 + 1 + 3)
    // A special token in user content is ordinary text.
    assert.equal(
      tokenizer.countChat([{ role: 'user', content: '<|endoftext|>' }]),
      3 + 1 + tokenizer.count('<|endoftext|>', { specialTokens: 'text' }) + 3,
    )
    const refused = (message, error) => assert.throws(() => tokenizer.countChat([message]), error)
    refused(
      { role: 'user', content: [{ type: 'image_url', image_url: {} }] },
      { code: 'ERR_TOKENLANE_ARGUMENT_TYPE', message: /image_url/ },
    )
    refused({ role: 'assistant', tool_calls: [{}] }, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    refused({ content: 'x' }, { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
    assert.throws(() => tokenizer.countChat(chat, { documents: [] }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
    assert.throws(() => tokenizer.applyChatTemplate(chat), {
      code: 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
      message: /countChat/,
    })
  }
  assert.throws(() => Tokenizer.fromEncodingSync('r50k_base').countChat(chat), {
    code: 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
    message: /no rule/,
  })
})

const any = Tokenizer.fromFileSync(file)
const render = (chatTemplate, variables) => any.applyChatTemplate(CHAT, { chatTemplate, variables, tokenize: false })

test('methods of strings take strings alone, as in Python, where others are a TypeError', () => {
  for (const call of [
    ...["replace(1, 'b')", "replace('1', 2)", 'split(1)', 'startswith(1)', 'endswith(none)', 'strip(1)', 'find(1)'],
    ...['count(1)', 'lstrip(true)', 'partition(1)', 'removeprefix(1)', 'removesuffix(1)', 'join([1])'],
  ])
    assert.throws(() => render(`{{ 'a1'.${call} }}`), { code: 'ERR_TOKENLANE_CHAT_TEMPLATE' }, call)
})

test('values of JavaScript in templates', () => {
  class Row {
    x = 1
  }
  const variables = {
    row: new Row(),
    map: new Map([
      ['k', undefined],
      ['l', null],
    ]),
    date: new Date(0),
    big: 12345678901234567890n,
    float: 1e21,
    minus: -0,
    bytes: new Uint8Array(3),
    inner: { f: () => 1, u: undefined },
    strftime_now: (format) => `[${format}]`,
    twice: (value) => ({ value: [value, value] }),
  }
  const written =
    '{{ row }} {{ map }} {{ date }} {{ big }} {{ float }} {{ minus }} {{ bytes }} {{ inner }} {{ strftime_now("%d") }} {{ twice(1.5).value }}'
  const wanted =
    "{'x': 1} {'l': None} 1970-01-01T00:00:00.000Z 12345678901234567890 1e+21 -0.0 <Uint8Array> {'f': '<function>'} [%d] [1.5, 1.5]"
  assert.equal(render(written, variables), wanted)
  const thrown = new Error('of the caller')
  const fails = () => {
    throw thrown
  }
  assert.throws(
    () => render('{{ fails() }}', { fails }),
    (error) => error === thrown,
  )
  for (const value of [null, undefined]) {
    const getter = {
      get x() {
        throw value
      },
    }
    assert.throws(() => render('', { getter }), {
      code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
      message: 'variables.getter.x cannot be read: an object of the caller threw an error',
      cause: value,
    })
  }
  const loop = {}
  loop.loop = loop
  assert.throws(() => render('', { loop }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
    message: /^variables(\.loop)+ must be .* not circular/,
  })
})

test('a function of the caller gets no named arguments, which JavaScript does not have', () => {
  const variables = { plus: (a, b = 1) => a + b }
  assert.equal(render('{{ plus(1, 2) }}', variables), '3')
  const refusal = { code: 'ERR_TOKENLANE_CHAT_TEMPLATE', message: /named arguments/ }
  assert.throws(() => render('{{ plus(1, b=2) }}', variables), refusal)
})

test('a template can write the date', () => {
  const before = new Date()
  const [date, month, rest] = render("{{ strftime_now('%d %b %Y|%B|%A %a %H %I %p %j %y %-d %e %F %q') }}").split('|')
  const after = new Date()
  const pad = (number) => String(number).padStart(2, '0')
  const expected = (day) =>
    `${pad(day.getDate())} ${day.toLocaleString('en-US', { month: 'short' })} ${day.getFullYear()}`
  assert.ok([before, after].map(expected).includes(date))
  assert.ok([before, after].map((day) => day.toLocaleString('en-US', { month: 'long' })).includes(month))
  assert.match(rest, /^\w+day \w{3} \d\d \d\d [AP]M \d{3} \d\d \d{1,2} [ \d]\d \d{4}-\d\d-\d\d %q$/)
})

test('lists with holes are refused, of any length', () => {
  const tokenizer = Tokenizer.fromFileSync(file)
  const refusals = [
    [3, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE', message: /^\w+\[0\] must be an object, but it is undefined/ }],
    [2 ** 32 - 1, { code: 'ERR_TOKENLANE_ARGUMENT_VALUE', message: /^\w+ must be within 524288 objects/ }],
  ]
  for (const [length, refused] of refusals) {
    const holes = new Array(length)
    assert.throws(() => tokenizer.applyChatTemplate(holes), refused)
    for (const name of ['tools', 'documents'])
      assert.throws(() => tokenizer.applyChatTemplate(CHAT, { [name]: holes }), refused, name)
  }
})

test('dates have the directives of the C library', (t) => {
  const format = '%C %g %G %P %r %U %V %W|%-H %-M %-R %-X %-e'
  const written = (...now) => {
    t.mock.timers.enable({ apis: ['Date'], now: new Date(...now) })
    const text = render(`{{ strftime_now('${format}') }}`)
    t.mock.timers.reset()
    return text
  }
  // The results of Python
  assert.equal(written(2026, 6, 4, 9, 5, 7), '20 26 2026 am 09:05:07 AM 26 27 26|9 5 09:05 09:05:07 4')
  assert.equal(written(2027, 0, 1, 0, 59, 3), '20 26 2026 am 12:59:03 AM 00 53 00|0 59 00:59 00:59:03 1')
  assert.equal(written(2024, 11, 31, 23, 0, 0), '20 25 2025 pm 11:00:00 PM 52 01 53|23 0 23:00 23:00:00 31')
})

test('an untrusted template can neither access the host nor run forever', () => {
  const stopped = [
    '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    '{% for a in range(9999) %}{% for b in range(9999) %}{{ a }}{% endfor %}{% endfor %}',
    "{% set ns = namespace(x='x') %}{% for a in range(99) %}{% set ns.x = ns.x * 9 %}{% endfor %}",
    '{% set ns = namespace(x=[1]) %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}',
    "{% set ns = namespace(x='ab') %}{% for a in range(24) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{% for a in range(99999) %}{% set y = ns.x | upper %}{% endfor %}",
    "{{ 'x' * 10 ** 12 }}",
    '{{ range(10 ** 9) }}',
    '{{ 9 ** 9999 }}',
    '{% set ns = namespace(x=9) %}{% for a in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}',
    `{{ 1${' is eq(1'.repeat(20_000)} }}`,
    `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`,
  ]
  for (const template of stopped)
    assert.throws(() => render(template), { code: /^ERR_TOKENLANE_CHAT_(LIMIT|TEMPLATE)$/ }, template.slice(0, 60))
  for (const name of ['constructor', '__proto__', 'prototype', 'toString', '__class__', 'valueOf']) {
    for (const owner of ["''", '[]', '{}', '1', 'messages', 'range', 'namespace()', 'd']) {
      assert.equal(
        render(`{{ ${owner}.${name} }}{{ ${owner}['${name}'] }}{{ ${name} }}`, { d: {} }),
        '',
        `${owner}.${name}`,
      )
    }
  }
  assert.equal(render("{{ {'__proto__': {'x': 1}}['__proto__'].x }}{{ {}.x }}"), '1')
})

test('a long conversation does not exceed the budget', () => {
  const long = [{ role: 'user', content: 'word '.repeat(4_000_000) }]
  const template =
    '{% for m in messages %}{% set c = m.content | trim %}{% if c is string and c + "" %}{{ c ~ "." }}{% endif %}{% endfor %}'
  assert.equal(any.applyChatTemplate(long, { chatTemplate: template, tokenize: false }).length, 20_000_000)
})

test('an unsupported feature of jinja2 is refused by name', () => {
  const templates = [
    ["{% include 'x' %}", 'include'],
    ["{% extends 'x' %}", 'extends'],
    ['{% autoescape true %}{% endautoescape %}', 'autoescape'],
    ["{{ 'x'|urlize }}", 'urlize'],
    ["{{ 'x' is filter }}", 'filter'],
    ["{{ '\\N{BULLET}' }}", '\\N'],
    ["{{ 'x'.encode() }}", 'encode'],
    ["{{ messages|join('k')[-1] }}", '['],
    // These would look undefined otherwise.
    ["{{ 'x'.encode is defined }}", 'encode'],
    ["{{ ('x'|safe).unescape }}", 'unescape'],
    ['{{ 1 .real }}', 'real'],
    ['{{ 1.5 .is_integer }}', 'is_integer'],
    ['{{ self is defined }}', 'self'],
    ['{{ lipsum() }}', 'lipsum'],
  ]
  for (const [template, name] of templates) {
    const refusal = (error) => error.code === 'ERR_TOKENLANE_CHAT_TEMPLATE' && error.message.includes(name)
    assert.throws(() => render(template), refusal, template)
  }
  assert.throws(() => render("{{ raise_exception('never ' ~ 1) }}"), {
    code: 'ERR_TOKENLANE_CHAT_REFUSED',
    message: /never 1$/,
  })
})

test('special tokens in user content can be refused', () => {
  const options = { chatTemplate: '<s>{{ messages[0].content }}{{ tools }}{{ documents }}{{ x }}</s>' }
  const said = (message) => [{ role: 'user', content: message }]
  assert.equal(any.countChat(said('hi'), { ...options, content: 'throw' }), any.countChat(said('hi'), options))
  assert.equal(any.applyChatTemplate(said('<s>'), { ...options, content: 'parse' }).ids[1], any.tokenToId('<s>'))
  const refused = (messages, more, place) => {
    for (const call of ['applyChatTemplate', 'countChat']) {
      const error = {
        code: 'ERR_TOKENLANE_SPECIAL_TOKEN',
        message: new RegExp(`^${place.replace(/[[\].]/g, '\\$&')}: `),
      }
      assert.throws(() => any[call](messages, { ...options, ...more, content: 'throw' }), error, place)
    }
  }
  refused(said('a <|im_start|> b'), {}, 'messages[0].content')
  refused(
    said([
      { type: 'text', text: 'x' },
      { type: 'text', text: '</s>' },
    ]),
    {},
    'messages[0].content[1].text',
  )
  refused(said('x'), { tools: [{ function: { name: '</s>' } }] }, 'tools[0].function.name')
  refused(said('x'), { documents: [{ text: '<s>' }] }, 'documents[0].text')
  refused(said('x'), { variables: { x: '<s>' } }, 'variables.x')
  for (const [content, code] of [
    ['no', 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [true, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
  ]) {
    assert.throws(() => any.countChat(said('x'), { ...options, content }), { code })
  }
})

test('invalid arguments of the calls', () => {
  const wrong = (messages, options, error) => {
    for (const call of ['applyChatTemplate', 'countChat'])
      assert.throws(() => any[call](messages, { chatTemplate: 'x', ...options }), error, JSON.stringify(options))
  }
  const type = { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }
  const value = { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' }
  for (const messages of [undefined, 'x', {}, [1], ['x'], [null], [[]]]) wrong(messages, {}, type)
  wrong([], {}, value)
  wrong(CHAT, { tools: {} }, type)
  wrong(CHAT, { tools: [1] }, type)
  wrong(CHAT, { documents: ['x'] }, type)
  wrong(CHAT, { chatTemplate: 7 }, type)
  wrong(CHAT, { addGenerationPrompt: 1 }, type)
  wrong(CHAT, { continueFinalMessage: 1 }, type)
  wrong(CHAT, { continueFinalMessage: true, addGenerationPrompt: true }, value)
  wrong(CHAT, { variables: 1 }, type)
  wrong(CHAT, { variables: { messages: [] } }, value)
  wrong(CHAT, { addGenerationPromt: true }, { code: 'ERR_TOKENLANE_UNKNOWN_OPTION', message: /'addGenerationPrompt'/ })
  assert.throws(() => any.applyChatTemplate(CHAT, { tokenize: 1 }), type)
  assert.throws(() => any.countChat(CHAT, { tokenize: true }), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
  assert.throws(() => any.applyChatTemplate(CHAT, null), type)
  for (const options of [
    { chatTemplate: 7 },
    { chatTemplate: { a: 7 } },
    { config: 'x' },
    { config: { chat_template: 7 } },
  ]) {
    assert.throws(() => Tokenizer.fromFileSync(file, options), type)
  }
})
