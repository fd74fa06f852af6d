// Cost limits of chat templates: hostile templates in child processes, the charges of every
// operation, and missing charges that the tests must detect.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire, Module } from 'node:module'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer, limits } from '../../index.mjs'
import { inChild } from '../../tools/check/hostile/templates.mjs'
import { OPERATIONS, STATEMENTS, variablesOf } from '../support/chat-operations.mjs'
import { FOUND, MORE, wrongAmong } from '../support/hostile-templates.mjs'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const lib = path.join(root, 'packages', 'jinja', 'src')
const DEFAULTS = { maxChatWork: 6_000_000, maxChatMemory: 128 * 2 ** 20, maxChatOutput: 64 * 2 ** 20 }
test.afterEach(() => limits.configure(DEFAULTS))

/**
 * The tests run every sixth template of each class, and every third one with a long conversation;
 * `npm run maintain -- hostile templates` runs all.
 */
const SOME = MORE.filter((_, i) => i % 6 === 0)
const SOME_LONG = FOUND.filter((_, i) => i % 3 === 0)

/**
 * A busy machine takes several times as much CPU time as a quiet one, where each template ends in 2
 * s: `npm run maintain -- hostile templates` allows that much.
 */
const CPU_SECONDS = 10
const endWell = async (templates, messages) => assert.deepEqual(await wrongAmong(templates, messages, CPU_SECONDS), [])

test('each hostile template ends with a result or an error with a code, in 1 GiB', () => endWell(SOME, 1))
test('hostile templates with a long conversation do, too, although it allows more work and memory', () =>
  endWell(SOME_LONG, 10_000))

const tokenizer = Tokenizer.fromFileSync(new URL('../testdata/chat/tokenizer.json', import.meta.url))
const CHAT = [{ role: 'user', content: 'Hello!' }]
const render = (chatTemplate, options) =>
  tokenizer.applyChatTemplate(CHAT, { chatTemplate, tokenize: false, ...options })

test('the error of an exceeded limit has its name and size, and the limit can be raised', () => {
  const loop = '{% for i in range(2000) %}{{ i }}{% endfor %}'
  const cases = [
    ['maxChatWork', 1000, /more than 3,000 steps, which is what limits\.maxChatWork allows/],
    ['maxChatMemory', 1000, /more than 3,000 bytes of memory, which is what limits\.maxChatMemory allows/],
    ['maxChatOutput', 1000, /more than 1,000 characters of output, which is what limits\.maxChatOutput allows/],
  ]
  for (const [name, size, message] of cases) {
    limits.configure({ ...DEFAULTS, [name]: size })
    for (const call of ['applyChatTemplate', 'countChat']) {
      const error = { code: 'ERR_TOKENLANE_CHAT_LIMIT', limit: name, message }
      assert.throws(() => tokenizer[call](CHAT, { chatTemplate: loop }), error, name)
    }
    limits.configure({ [name]: Infinity })
    assert.equal(render(loop).length, 6890)
  }
})

test('a long conversation allows three times as much, and no more', () => {
  const allowed = (messages) => {
    limits.configure({ ...DEFAULTS, maxChatWork: 100_000 })
    const options = {
      chatTemplate: '{% for a in range(99999) %}{% for b in range(999) %}{% endfor %}{% endfor %}',
      tokenize: false,
    }
    try {
      tokenizer.applyChatTemplate(messages, options)
    } catch (error) {
      return error.allowed
    }
    return assert.fail('it must be stopped')
  }
  const chat = (count) => Array.from({ length: count }, () => ({ role: 'user', content: 'x'.repeat(100) }))
  const [one, two] = [allowed(chat(1)), allowed(chat(2))]
  assert.ok(one > 100_000 && two - one >= 3 * 300 + 50, `${one} ${two}`)
  assert.equal(allowed(chat(10_000)), 300_000)
})

test('limits are checked', () => {
  for (const name of Object.keys(DEFAULTS)) {
    for (const value of [-1, 1.5, NaN])
      assert.throws(() => limits.configure({ [name]: value }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
    assert.throws(() => limits.configure({ [name]: '1' }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    assert.equal(limits[name], DEFAULTS[name])
  }
})

test('a continued message is cut within the budget, in linear time', () => {
  const content = 'ab'.repeat(500_000)
  const options = { chatTemplate: '{{ messages[0].content }}', continueFinalMessage: true, tokenize: false }
  assert.equal(tokenizer.applyChatTemplate([{ role: 'assistant', content }], options), content)
  limits.configure({ ...DEFAULTS, maxChatWork: 20_000 })
  // The template has a short output, but the whole text is searched for the end of the message.
  assert.throws(
    () =>
      tokenizer.applyChatTemplate([{ role: 'assistant', content }], {
        ...options,
        chatTemplate: '{{ messages[0].content * 3 }}',
      }),
    { code: 'ERR_TOKENLANE_CHAT_LIMIT' },
  )
})

test('a template that calls itself is refused wherever the call stands on the stack', () => {
  const template = '{% macro m(x) %}{{ [[[[[m(x)]]]]] }}{% endmacro %}{{ m(1) }}'
  const seen = new Set()
  const deep = (left) => {
    if (left > 0) return deep(left - 1)
    try {
      render(template)
    } catch (error) {
      seen.add(error.code)
    }
    return undefined
  }
  for (let depth = 0; depth < 6000; depth += 250) deep(depth)
  assert.deepEqual([...seen], ['ERR_TOKENLANE_CHAT_LIMIT'])
  const value = JSON.parse('['.repeat(5000) + ']'.repeat(5000))
  assert.throws(() => render('{{ x }}', { variables: { x: value } }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
    message: /^variables\.x(\[0\])+ must be .* at most 200 deep/,
  })
})

test('random templates with huge values end with a text or an error with a code', () => {
  const { failed, totals } = inChild(20_261_123, 150)
  assert.ok(!failed, 'what was wrong is printed above')
  assert.ok(
    totals.templates === 150 && totals.texts > 30 && totals.refused > 15 && totals.stopped > 10,
    JSON.stringify(totals),
  )
})

// Charges: templates with values of 100 characters or elements, and their recorded costs.

const ENDLESS = { maxChatWork: 1e15, maxChatMemory: 1e15, maxChatOutput: 1e15 }
const SMALL = 100
const DEEP = '{% set a = namespace(x=1) %}{% for i in range(300) %}{% set a.x = [a.x] %}{% endfor %}'

const TRACED = '{# traced #}'
const ROWS = [
  ['', 'text {# comment #} {% raw %}{{ x }}{% endraw %}', "{{ '\\x41' 'a' }}{{ 1_000 + 1.5e3 }}"],
  OPERATIONS.map((operation) => `{{ ${operation} }}`),
  STATEMENTS.map((statement) => statement.replace('%s', 'ls')),
  // Refused because of the depth
  ['{{ a.x }}', '{{ a.x|tojson }}', '{{ a.x == [a.x] }}', '{{ a.x < [a.x] }}', '{{ twice(a.x) }}'].map(
    (use) => DEEP + use,
  ),
  [
    `${DEEP.replace('[a.x]', '(a.x,)')}{{ {a.x: 1} }}`,
    `${DEEP.replaceAll('[a.x]', "{'k': a.x}")}{{ a.x == {'k': a.x} }}`,
  ],
  [
    '{{ tooDeep }}',
    '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    '{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}',
  ],
  [`{{ ${'('.repeat(101)}1${')'.repeat(101)} }}`, `{{ 1${'+1'.repeat(300)} }}`, 'x'.repeat(600_000)],
  // Rendered with origins
  [
    '{{ messages[0].content }}',
    "{{ (messages[0].content ~ '-' ~ s) * 3 }}",
    "{{ ('a<' ~ s)|escape }}",
    "{{ messages[0].content|replace('', '-') }}",
    "{{ messages[0].content|replace('x', '-') }}",
  ].map((source) => TRACED + source),
].flat()

const tooDeep = JSON.parse('['.repeat(300) + ']'.repeat(300))

/**
 * The cost of a template: work, memory and output, the growth of the budget, the cost of compiling,
 * and the result.
 */
function costOf(source, { render: renderWith, compile, within, RenderCost, Trace }) {
  const [cost, compiling] = [new RenderCost(ENDLESS), new RenderCost(ENDLESS)]
  let ended = ''
  try {
    if (source.length < 10_000) within(compiling, () => compile(source))
    const variables = {
      ...variablesOf(SMALL),
      twice: (value) => [value, value],
      ...(source.includes('tooDeep') && { tooDeep }),
    }
    const traced = source.startsWith(TRACED) && { trace: new Trace(), given: { messages: [{ content: 'xyx' }] } }
    ended = renderWith(source, { variables, ...traced }, undefined, cost).length
  } catch (error) {
    ended = error.message
  }
  const used = ({ allowed, ...left }, name) => Math.round((allowed[name] - left[name]) * 1000) / 1000
  const of = (account) => ['work', 'memory', 'output'].map((name) => used(account, name))
  return [...of(cost), Math.round(cost.allowed.work - 1e15), ...of(compiling).slice(0, 2), ended]
}

/** Loads the modules of @tokenlane/jinja anew. `change` gets the name and the code of each. */
function modulesWith(change = (_, content) => content) {
  const isOurs = (name) => name.startsWith(lib)
  const kept = Object.entries(require.cache).filter(([name]) => isOurs(name))
  for (const [name] of kept) delete require.cache[name]
  const compile = Module.prototype._compile
  Module.prototype._compile = function (content, filename) {
    return compile.call(this, change(filename, content), filename)
  }
  try {
    const [template, cost, compiler, origins] = ['template.js', 'render-cost.js', 'compile.js', 'origins.js'].map(
      (name) => require(path.join(lib, name)),
    )
    const { within, RenderCost } = cost
    return { render: template.render, RenderCost, within, compile: compiler.compile, Trace: origins.Trace }
  } finally {
    Module.prototype._compile = compile
    for (const name of Object.keys(require.cache)) if (isOurs(name)) delete require.cache[name]
    for (const [name, module] of kept) require.cache[name] = module
  }
}

const golden = new URL('../testdata/chat/costs.json', import.meta.url)
const label = (source) => (source.length > 200 ? `${source.slice(0, 40)}… (${source.length})` : source)
const expected = () => JSON.parse(fs.readFileSync(golden, 'utf8'))

test('what every operation charges is as recorded, and no less than what it writes', () => {
  const own = modulesWith()
  const found = Object.fromEntries(ROWS.map((source) => [label(source), costOf(source, own)]))
  // TOKENLANE_UPDATE=1 records the costs again after an intended change.
  if (process.env.TOKENLANE_UPDATE) {
    const lines = Object.entries(found).map(([source, cost]) => `${JSON.stringify(source)}: ${JSON.stringify(cost)}`)
    fs.writeFileSync(golden, `{\n${lines.join(',\n')}\n}\n`)
  }
  assert.deepEqual(found, expected())
  for (const [source, [work, memory, output]] of Object.entries(found)) {
    assert.ok(memory >= 2 * output && work >= output / 32, source)
  }
})

/** The positions in @tokenlane/jinja that charge a cost or check a depth. */
function sites() {
  const found = []
  // The charges of the harmony format, of OpenAI's tools and of the door of chats, in lib/chat, are
  // shown by the specs chat/agents, chat/requests and chat/conversation.
  for (const name of fs.readdirSync(lib)) {
    const content = fs.readFileSync(path.join(lib, name), 'utf8')
    const calls = content.matchAll(
      /(?<!function |[\w.])(?:spend|scan|walk|allocate|allocateText|allocateList|output|admit|checkDepth)(?=\()/g,
    )
    for (const { 0: call, index } of calls) found.push({ file: path.join(lib, name), index, call })
  }
  return found
}

/** For each position, the templates that reach it. */
function templatesOf(all) {
  const reached = new Set()
  globalThis.reaching = (site, charge) => {
    reached.add(site)
    return charge
  }
  const marked = modulesWith((filename, content) =>
    all
      .map(({ file, index, call }, site) => ({ file, index, call, site }))
      .filter(({ file }) => file === filename)
      .reduceRight((text, { index, call, site }) => {
        const rest = text.slice(index + call.length)
        return `${text.slice(0, index)}reaching(${site}, ${call})${rest}`
      }, content),
  )
  const templates = all.map(() => [])
  for (const source of ROWS) {
    reached.clear()
    costOf(source, marked)
    for (const site of reached) templates[site].push(source)
  }
  delete globalThis.reaching
  return templates
}

test('each charge that is removed is found', () => {
  const wanted = expected()
  const unnoticed = []
  const all = sites()
  const templates = templatesOf(all)
  for (const [site, { file, index, call }] of all.entries()) {
    const faulty = modulesWith((filename, content) =>
      filename === file ? `${content.slice(0, index)}void ${content.slice(index + call.length)}` : content,
    )
    const isFound = templates[site].some(
      (source) => JSON.stringify(costOf(source, faulty)) !== JSON.stringify(wanted[label(source)]),
    )
    const line = fs.readFileSync(file, 'utf8').slice(0, index).split('\n').length
    if (!isFound) unnoticed.push(`${path.basename(file)}:${line}: ${call}`)
  }
  assert.ok(all.length > 100)
  assert.deepEqual(unnoticed, [])
})
