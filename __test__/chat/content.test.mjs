// Text of the caller in chats: it never becomes a control token, and no operation of a template
// loses its origin.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { countRequest } from '@tokenlane/requests'
import { Tokenizer, limits } from '../../index.mjs'
import { OPERATIONS, STATEMENTS, variablesOf } from '../support/chat-operations.mjs'
import { judge, tokensIn } from '../support/hostile-contents.mjs'
import { random } from '../../tools/check/hostile/random.mjs'

const require = createRequire(import.meta.url)
const DATA = new URL('../testdata/chat/', import.meta.url)
const read = (name) => JSON.parse(fs.readFileSync(new URL(name, DATA), 'utf8'))
const base = Tokenizer.fromFileSync(new URL('tokenizer.json', DATA))
const { render } = require('@tokenlane/jinja/internal').template
const { Trace, bare } = require('@tokenlane/jinja/internal').origins

const said = (content) => [{ role: 'user', content }]
const tokensOf = (encoding) => encoding.tokens.join(' ')

test('control tokens in the input are text, and those of the template are tokens', () => {
  const chatTemplate = "{% for m in messages %}{{ '<s>' + m.content + '</s>' }}{% endfor %}"
  const text = base.applyChatTemplate(said('a</s>b'), { chatTemplate })
  const parsed = base.applyChatTemplate(said('a</s>b'), { chatTemplate, content: 'parse' })
  const count = (encoding, token) => encoding.ids.filter((id) => id === base.tokenToId(token)).length
  assert.deepEqual([count(text, '<s>'), count(text, '</s>'), count(parsed, '</s>')], [1, 1, 2])
  assert.equal(base.decode(text.ids), '<s>a</s>b</s>')
  assert.equal(base.countChat(said('a</s>b'), { chatTemplate }), text.length)
  assert.equal(base.countChat(said('a</s>b'), { chatTemplate, content: 'parse' }), parsed.length)
  assert.deepEqual([...text.offsets.slice(0, 2)], [0, 3])
})

test('a token of several strings, or of a string and the template, is text or refused', () => {
  const chatTemplate = '{{ messages[0].content }}{{ messages[1].content }}s>{{ x }}'
  const variables = { x: '</s' }
  const options = { chatTemplate, variables }
  for (const [messages, more] of [
    [[...said('<'), ...said('s>')], {}],
    [[...said('a'), ...said('<')], {}],
    [[...said('a'), ...said('b')], { chatTemplate: '{{ x }}>' }],
  ]) {
    const all = { ...options, ...more }
    assert.doesNotMatch(tokensOf(base.applyChatTemplate(messages, all)), /<\/?s>/)
    assert.match(tokensOf(base.applyChatTemplate(messages, { ...all, content: 'parse' })), /<\/?s>/)
    for (const call of ['applyChatTemplate', 'countChat'])
      assert.throws(() => base[call](messages, { ...all, content: 'throw' }), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  }
})

test('words and merges are those of the whole text', () => {
  const chatTemplate = 'Hel{{ messages[0].content }}orld'
  const { ids } = base.applyChatTemplate(said('lo w'), { chatTemplate })
  assert.deepEqual([...ids], [...base.encode('Hello world', { addSpecialTokens: false }).ids])
})

test('ids equal those of a slow twin that looks for tokens in the text of the template only', () => {
  const json = base.toJSON()
  const tokens = json.added_tokens.map(({ content }) => content)
  const model = Tokenizer.fromBufferSync(
    new TextEncoder().encode(JSON.stringify({ ...json, added_tokens: [], post_processor: null })),
  )
  const { below, chance, of } = random(4)
  const pieces = [...tokens, ...tokens.map((token) => token.slice(0, 2)), ...tokens.map((token) => token.slice(2))]
  pieces.push('Hello', ' ', 'é😀', '<', 's>', '|', '\n')
  for (let round = 0; round < 300; round++) {
    const parts = Array.from({ length: 1 + below(9) }, () => [chance(0.5), of(pieces)])
    const text = parts.map(([, one]) => one).join('')
    const owners = parts.flatMap(([isInput, one]) => Array(one.length).fill(isInput))
    const wanted = []
    let start = 0
    const finish = (end) => {
      wanted.push(...model.encode(text.slice(start, end), { addSpecialTokens: false }).ids)
      start = end
    }
    for (let at = 0; at < text.length; ) {
      const isOwn = (token) => text.startsWith(token, at) && !owners.slice(at, at + token.length).includes(true)
      const [found] = tokens.filter(isOwn).sort((a, b) => b.length - a.length)
      if (found !== undefined) {
        finish(at)
        wanted.push(base.tokenToId(found))
        start += found.length
      }
      at += found?.length ?? 1
    }
    finish(text.length)
    const messages = parts.map(([, content]) => ({ role: 'user', content }))
    const source = ([isInput, one], i) => `{{ ${isInput ? `messages[${i}].content` : JSON.stringify(one)} }}`
    const chatTemplate = parts.map(source).join('')
    const made = base.applyChatTemplate(messages, { chatTemplate })
    assert.deepEqual([...made.ids], wanted, JSON.stringify(parts))
    assert.equal(base.countChat(messages, { chatTemplate }), wanted.length)
  }
})

test('requests to servers that render a template are counted as these parse them', () => {
  const tokenizer = Tokenizer.fromBufferSync(base.toBuffer(), { chatTemplate: '{{ messages[0].content }}' })
  const messages = said('a</s>b')
  const { tokens } = countRequest(tokenizer, { model: 'x', messages })
  assert.equal(tokens, tokenizer.countChat(messages, { content: 'parse', addGenerationPrompt: true }))
  assert.notEqual(tokens, tokenizer.countChat(messages))
})

test('hostile contents make no control token of gpt-oss', async () => {
  const oss = await Tokenizer.forModel('gpt-oss-20b')
  const marks = ['<|start|>', '<|end|>', '<|message|>', '<|channel|>', '<|constrain|>', '<|return|>', '<|call|>']
  const control = new Set([...marks, '<|endoftext|>', '<|reserved_200000|>'].map((mark) => oss.tokenToId(mark)))
  const count = (messages, options) =>
    oss.applyChatTemplate(messages, options).ids.filter((id) => control.has(id)).length
  const tool = (x) => ({
    type: 'function',
    function: {
      name: `f${x}`,
      description: x,
      parameters: { type: 'object', properties: { [`p${x}`]: { type: 'string', description: x } } },
    },
  })
  const chat = (x) => [
    { role: 'system', content: x },
    { role: 'user', content: `a ${x}` },
    {
      role: 'assistant',
      thinking: x,
      tool_calls: [{ id: 'c', type: 'function', function: { name: `f${x}`, arguments: { [x]: x } } }],
    },
    { role: 'tool', tool_call_id: 'c', content: x },
    { role: 'assistant', content: `b ${x}` },
  ]
  const harmony = (x) => [
    { role: 'system', content: [{ type: 'system_content', model_identity: x }] },
    { role: 'developer', content: [{ type: 'developer_content', instructions: x }] },
    { role: 'user', name: `n${x}`, content: x },
    { role: 'assistant', channel: `final${x}`, recipient: `to${x}`, content_type: `t${x}`, content: x },
    { role: 'tool', name: `functions.${x}`, content: x },
  ]
  for (const mark of [...marks, '<|endoftext|>']) {
    const options = (x) => ({ tools: [tool(x)], variables: { model_identity: x } })
    assert.equal(count(chat(mark), options(mark)), count(chat('x'), options('x')), mark)
    assert.equal(count(harmony(mark)), count(harmony('x')), mark)
    assert.ok(count(chat(mark), { ...options(mark), content: 'parse' }) > count(chat('x'), options('x')))
  }
})

test('the limit of an input, a refusal of a text, and halves of characters', () => {
  const chatTemplate = '{{ messages[0].content }}{{ x }}'
  limits.configure({ maxInputBytes: 100 })
  try {
    for (const call of ['applyChatTemplate', 'countChat'])
      assert.throws(() => base[call](said('x'.repeat(101)), { chatTemplate }), {
        code: 'ERR_TOKENLANE_INPUT_TOO_LARGE',
      })
  } finally {
    limits.configure({ maxInputBytes: Infinity })
  }
  const options = { chatTemplate, variables: { x: 's>' }, content: 'throw', tokenize: false }
  assert.throws(() => base.applyChatTemplate(said('<'), options), { code: 'ERR_TOKENLANE_SPECIAL_TOKEN' })
  const tokenizer = base.with({ addedTokens: [{ content: '<😀>', special: true }] })
  for (const template of ['<\ud83d{{ messages[0].content }}>', '<{{ messages[1].content }}\ude00>']) {
    const messages = [...said('\ude00'), ...said('\ud83d')]
    const tokens = (content) => tokensOf(tokenizer.applyChatTemplate(messages, { chatTemplate: template, content }))
    assert.equal(tokens('parse'), '<😀>')
    assert.notEqual(tokens('text'), '<😀>')
  }
})

test('known roles are names, and other roles are text', () => {
  const chatTemplate = "{{ '<' ~ messages[0].role ~ '>' }}"
  const tokenizer = base.with({ addedTokens: ['<user>', '<evil>'].map((content) => ({ content, special: true })) })
  const tokens = (role) => tokensOf(tokenizer.applyChatTemplate([{ role, content: '' }], { chatTemplate }))
  assert.equal(tokens('user'), '<user>')
  assert.notEqual(tokens('evil'), '<evil>')
  // Each name of the guide, and no other.
  const names = ['system', 'developer', 'user', 'assistant', 'tool', 'function', 'observation', 'ipython', 'model']
  const isToken = (role) => {
    const content = `<${role}>`
    const one = base.with({ addedTokens: [{ content, special: true }] })
    return tokensOf(one.applyChatTemplate([{ role, content: '' }], { chatTemplate })) === content
  }
  assert.deepEqual([...names, 'human', 'bot', 'gpt', 'System'].filter(isToken), names)
})

test("special tokens of the config are the template's, and those of variables are input", () => {
  const chatTemplate = '{{ bos_token }}{{ messages[0].content }}{{ mine }}'
  const withConfig = Tokenizer.fromFileSync(new URL('tokenizer.json', DATA), { config: { bos_token: '<s>' } })
  const count = (options) =>
    withConfig
      .applyChatTemplate(said('x'), { chatTemplate, ...options })
      .ids.filter((id) => id === base.tokenToId('<s>')).length
  assert.equal(count({}), 1)
  assert.equal(count({ variables: { mine: '<s>' } }), 1)
  assert.equal(count({ variables: { bos_token: '<s>' } }), 0)
})

test('pieces say who wrote the text', () => {
  const chatTemplate = '<s>{{ messages[0].content|trim|upper }} {{ x }}{{ messages[1] }}</s>'
  const messages = [...said(' hi '), { role: 'user', n: 5 }]
  const options = { chatTemplate, variables: { x: 'y' }, tokenize: false }
  const pieces = base.applyChatTemplate(messages, { ...options, pieces: true })
  assert.deepEqual(
    pieces.map(({ text, source, message }) => [text, source, message]),
    [
      ['<s>', 'template', undefined],
      ['HI', 'input', 0],
      [' ', 'template', undefined],
      ['y', 'input', undefined],
      ["{'", 'template', undefined],
      ['role', 'input', 1],
      ["': 'user', '", 'template', undefined],
      ['n', 'input', 1],
      ["': ", 'template', undefined],
      ['5', 'input', 1],
      ['}</s>', 'template', undefined],
    ],
  )
  assert.equal(pieces.map(({ text }) => text).join(''), base.applyChatTemplate(messages, options))
})

test('options of contents, pieces and masks are checked', () => {
  const chatTemplate = '{{ messages[0].content }}'
  for (const [options, code] of [
    [{ content: 'no' }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ content: null }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ specialTokens: 'throw' }, 'ERR_TOKENLANE_UNKNOWN_OPTION'],
    [{ pieces: true }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ pieces: 1, tokenize: false }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ returnAssistantMask: true, tokenize: false }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ returnAssistantMask: 'origin' }, 'ERR_TOKENLANE_ARGUMENT_TYPE'],
    [{ returnAssistantMask: { by: 'x' } }, 'ERR_TOKENLANE_ARGUMENT_VALUE'],
    [{ returnAssistantMask: { by: 'generation' } }, 'ERR_TOKENLANE_CHAT_REFUSED'],
  ]) {
    assert.throws(
      () => base.applyChatTemplate(said('x'), { chatTemplate, ...options }),
      { code },
      JSON.stringify(options),
    )
  }
})

for (const [style, config] of Object.entries(read('chats.json').styles)) {
  test(`hostile contents make no control token in the style of ${style}`, () => {
    const templates = [config.chat_template].flat().map((one) => one.template ?? one)
    for (const template of templates) {
      const tokens = tokensIn(template).slice(0, 2)
      const known = base.toJSON().added_tokens.map(({ content }) => content)
      const added = tokens.filter((one) => !known.includes(one)).map((content) => ({ content, special: true }))
      const tokenizer = Tokenizer.fromBufferSync(base.with({ addedTokens: added }).toBuffer(), { config })
      const { compared, wrong } = judge(tokenizer, template, [...tokens, known[0]])
      assert.ok(compared > 0)
      assert.deepEqual(wrong, [])
    }
  })
}

// Origins in operations

const GREEK = 'αβγδεζηθικλμνξοπρτυφχψωϲϳ'
/** A string in letters that no template has; digits and signs stay. */
const foreign = (text) =>
  text
    .replace(/[a-z]/g, (one) => GREEK[one.charCodeAt(0) - 97])
    .replace(/[A-Z]/g, (one) => GREEK[one.charCodeAt(0) - 65].toUpperCase())

function foreignValue(value) {
  if (typeof value === 'string') return foreign(value)
  if (Array.isArray(value)) return value.map(foreignValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [isName(key) ? key : foreign(key), foreignValue(one)]),
  )
}
/** Keys that the expressions name. */
const isName = (key) => key.length === 1

/** The text of a template, the origin of each of its UTF-16 units, or the error. */
function traced(source, variables, trace) {
  try {
    const string = render(source, { variables, trace })
    const text = bare(string)
    const origins = new Uint8Array(text.length).fill(string.origin ?? 0)
    let start = 0
    for (let i = 0; i < (string.runs?.length ?? 0); i += 2) {
      origins.fill(string.runs[i + 1], start, string.runs[i])
      start = string.runs[i]
    }
    return { text, origins }
  } catch (error) {
    if (error.code === undefined) throw error
    return { text: `${error.code} ${error.message}`, origins: undefined }
  }
}

/** Checks that a template has the same text with origins, and that no foreign letter loses its. */
function check(source, variables) {
  const [plain, own] = [undefined, new Trace()].map((trace) => traced(source, variables, trace))
  assert.equal(own.text, plain.text, source)
  if (own.origins === undefined) return own
  for (let i = 0; i < own.text.length; i++) {
    const isForeign = own.text.charCodeAt(i) > 0x7f && !/[^ -~]|\\/.test(source)
    if (isForeign && own.origins[i] === 0) assert.fail(`${source} loses ${own.text[i]} at ${i} of ${own.text}`)
  }
  return own
}

const twice = (value) => [value, value]
const VARIABLES = { ...foreignValue(variablesOf(16)), twice }
/** The same values with other letters and digits. */
const OTHERS = {
  ...JSON.parse(
    JSON.stringify(foreignValue(variablesOf(16))).replace(/[α-ω]/g, (one) => GREEK[(GREEK.indexOf(one) + 7) % 23]),
  ),
  twice,
}

test('no operation loses the origin of text', () => {
  const sources = OPERATIONS.flatMap((operation) => [
    `{{ ${operation} }}`,
    `{{ (${operation})|list|join('-') }}`,
    `{{ ('T' ~ (${operation}) ~ 'T')|upper }}`,
    `{% set x %}<{{ ${operation} }}>{% endset %}{{ x[2:] ~ x[::-1] }}{{ x|tojson }}`,
  ])
  for (const operation of ['s|urlencode', 'quotes|tojson(true)', "'%a' % s", 'wide|tojson(ensure_ascii=true)'])
    sources.push(`{{ ${operation} }}`)
  for (const statement of STATEMENTS)
    for (const operation of ['s', 'ls', 'd', 'ld', 's|upper', 'd.items()'])
      sources.push(statement.replace('%s', operation))
  let read = 0
  for (const source of sources) {
    const own = check(source, VARIABLES)
    const other = check(source, OTHERS)
    if (own.origins === undefined || own.text.length !== other.text.length) continue
    read++
    // What differs depends on the values.
    for (let i = 0; i < own.text.length; i++)
      if (own.text[i] !== other.text[i]) assert.ok(own.origins[i] > 0 && other.origins[i] > 0, `${source} at ${i}`)
  }
  assert.ok(read > 500, `${read}`)
})

test('every filter and every method of strings is among the operations', () => {
  const all = OPERATIONS.join(' ')
  const names = Object.keys(require('../../packages/jinja/src/filters.js').FILTERS)
  const missing = names.filter((name) => !new RegExp(`\\|\\s*${name}\\b|map\\("?'?${name}`).test(all))
  assert.ok(names.length > 45)
  assert.deepEqual(
    missing.filter((name) => !['abs', 'count', 'd', 'default', 'string', 'float', 'int'].includes(name)),
    [],
  )
  const methods = Object.keys(require('../../packages/jinja/src/methods.js').STRING)
  assert.deepEqual(
    methods.filter((name) => !all.includes(`.${name}(`)),
    [],
  )
})

test('random chains of operations keep their text and its origins', () => {
  const { below, of: pick } = random(46)
  const atoms = [
    's',
    "'T'",
    'ls[2]',
    'wide',
    'html',
    'lines',
    "('<' ~ s ~ '>')",
    "(s ~ 'T' ~ wide)",
    'n',
    'ld[1].k',
    'd|list|first',
  ]
  const steps = [
    '|trim',
    '|upper',
    '|title',
    '|capitalize',
    '|e',
    '|safe',
    '|string',
    '|tojson',
    '|reverse',
    '|indent(2, true)',
    "|replace('T', s)",
    "|replace(s, 'T')",
    "|replace('', '.', 3)",
    '|center(40)',
    '|truncate(9, true)',
    "|join('|')",
    '|list',
    '|first',
    '|last',
    '|urlencode',
    '[1:]',
    '[:-2]',
    '[::2]',
    '[-3:]',
    '[2]',
    '.strip()',
    ".strip('<T')",
    '.split()',
    ".split('T')",
    '.rsplit(none, 1)',
    '.splitlines(true)',
    ".partition('T')",
    ".rpartition('>')",
    '.zfill(30)',
    '.ljust(30, wide[0])',
    '.swapcase()',
    '.casefold()',
    ".removeprefix('<')",
    ".removesuffix('>')",
    '.expandtabs()',
    '.format(s)',
    '.title()',
    '.lstrip()',
    '|wordwrap(4)',
    ' * 2',
    " ~ 'T'",
    ' ~ s',
    '|string * 2',
  ]
  for (let i = 0; i < 600; i++) {
    let expression = pick(atoms)
    for (let step = 0; step < 1 + below(4); step++) expression = `(${expression}${pick(steps)})`
    check(
      pick(['{{ %s }}', "{{ '%%s|%%r' % (%s, s) }}", "{{ ['T', %s]|tojson }}", '{{ {s: %s} }}'])
        .replace('%s', () => expression)
        .replaceAll('%%', '%'),
      VARIABLES,
    )
  }
})

test('the recorded templates have the same text with origins', () => {
  const { variables, cases } = read('templates.json')
  for (const [source] of cases) check(source, variables)
})
