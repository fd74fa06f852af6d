#!/usr/bin/env node
// Renders the hostile templates of the tests, and random ones that combine all filters, tests,
// methods, operators and blocks with huge and unusual values. Each must return a text or throw an
// error with a code, in less than 2 s of CPU time and 1 GiB of memory.
//
//   usage: npm run maintain -- hostile templates [--seed 1] [--count 5000] [--chunk 250]
//
// A child process renders each chunk of --chunk templates. __test__/chat/limits.test.mjs runs a
// short form.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { OPERATIONS, STATEMENTS } from '../../../__test__/support/chat-operations.mjs'
import { FOUND, MORE, wrongAmong } from '../../../__test__/support/hostile-templates.mjs'
import { root } from '../../setup.mjs'
import { runChild } from './child.mjs'
import { random } from './random.mjs'

const MAX_CPU_MS = 2000
const MAX_RSS_MIB = 1024
/** Expressions of Jinja: texts, and values that operations rarely get. */
const { pieces: PIECES, odd: ODD } = createRequire(import.meta.url)('./operands.json')

/** Random expressions and templates. */
class Templates {
  #draw

  constructor(seed) {
    this.#draw = random(seed)
  }

  #size() {
    const { below, of } = this.#draw
    return of([1, 3, 100, 10 ** (1 + below(5)), 10 ** (1 + below(9)), 99_999])
  }

  /** An expression for a variable of the operations. */
  #value(name, depth) {
    const { below, chance, of } = this.#draw
    if (chance(0.06)) return of(ODD)
    if (depth > 0 && chance(0.35)) return `(${this.expression(depth - 1)})`
    switch (name) {
      case 'n':
        return String(this.#size())
      case 'l':
        return chance(0.5) ? `range(${Math.min(this.#size(), 100_000)})` : `([${of(ODD)}] * ${this.#size()})`
      case 'ls':
        return `([${of(PIECES)} * ${this.#size()}, 'x'] * ${this.#size()})`
      case 'ld':
        return `([{'k': ${of(PIECES)}, 'n': ${below(9)}}] * ${this.#size()})`
      case 'deep':
        return 'deep.x'
      case 'd':
        return 'd'
      default:
        return `(${of(PIECES)} * ${this.#size()})`
    }
  }

  expression(depth) {
    const source = this.#draw.of(OPERATIONS)
    return source.replace(
      /(?<![\w'".|%])(?:s|lines|html|quotes|spaces|wide|digits|long|places|fields|tabs|l|ls|ld|d|deep|n)(?![\w'"(=:])/g,
      (name) => this.#value(name, depth),
    )
  }

  template() {
    const { chance, of } = this.#draw
    const statements = Array.from({ length: 1 + (chance(0.3) ? 1 : 0) }, () =>
      of(STATEMENTS).replace('%s', () => this.expression(2)),
    )
    const body = statements.join('')
    if (chance(0.4)) return `{% for i in range(${Math.min(this.#size(), 100_000)}) %}${body}{% endfor %}`
    if (chance(0.2))
      return `{% set deep = namespace(x=1) %}{% for i in range(60) %}{% set deep.x = [deep.x, deep.x] %}{% endfor %}${body}`
    return body
  }
}

/** Renders templates in this process. Prints the first one that violates a limit, and exits. */
function main(seed, count) {
  const { Tokenizer } = createRequire(import.meta.url)(root)
  const tokenizer = Tokenizer.fromFileSync(`${root}/__test__/testdata/chat/tokenizer.json`)
  const templates = new Templates(seed)
  const messages = Array.from({ length: 20 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `text ${i}` }))
  const variables = {
    d: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])),
    twice: (value) => [value, value],
    deep: { x: [[1]] },
  }
  const totals = { templates: 0, texts: 0, refused: 0, stopped: 0, mostMs: 0 }
  for (let i = 0; i < count; i++) {
    const chatTemplate = templates.template()
    if (process.env.TOKENLANE_LAST) fs.writeFileSync(process.env.TOKENLANE_LAST, chatTemplate)
    const before = process.cpuUsage()
    let wrong
    try {
      tokenizer.applyChatTemplate(messages, { chatTemplate, variables, tokenize: false })
      totals.texts++
    } catch (error) {
      if (error.code === 'ERR_TOKENLANE_CHAT_LIMIT') totals.stopped++
      else if (error.code === 'ERR_TOKENLANE_CHAT_TEMPLATE' && isOwn(error)) totals.refused++
      else wrong = error.cause?.stack ?? error.stack
    }
    const { user, system } = process.cpuUsage(before)
    const ms = (user + system) / 1000
    const rss = process.resourceUsage().maxRSS / 1024
    if (process.env.TOKENLANE_SLOW && ms > Number(process.env.TOKENLANE_SLOW))
      console.log(`${ms.toFixed(0)} ms: ${chatTemplate}`)
    totals.mostMs = Math.max(totals.mostMs, Math.round(ms))
    totals.templates++
    if (ms > MAX_CPU_MS) wrong ??= `${ms.toFixed(0)} ms of CPU time`
    if (rss > MAX_RSS_MIB) wrong ??= `${rss.toFixed(0)} MiB`
    if (wrong !== undefined) {
      console.log(`${wrong}\n${chatTemplate}`)
      process.exit(1)
    }
  }
  console.log(JSON.stringify(totals))
}

/** Whether the interpreter threw the error on purpose. */
const isOwn = ({ cause }) => cause.constructor.name === 'TemplateError'

export const inChild = (seed, count) => runChild(fileURLToPath(import.meta.url), seed, count)

if (process.argv[2] === '--child') main(Number(process.argv[3]), Number(process.argv[4]))
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '5000' },
      chunk: { type: 'string', default: '250' },
    },
  })
  const chunk = Number(values.chunk)
  let failed = false
  for (const messages of [1, 10_000]) {
    const wrong = await wrongAmong([...FOUND, ...MORE], messages, MAX_CPU_MS / 1000)
    console.log(`${FOUND.length + MORE.length} templates with ${messages} messages: ${wrong.length} wrong`, ...wrong)
    failed ||= wrong.length > 0
  }
  for (let done = 0; done < Number(values.count); done += chunk) {
    const result = inChild(Number(values.seed) + done, chunk)
    failed ||= result.failed
    console.log(`seed ${Number(values.seed) + done}: ${JSON.stringify(result.totals)}`)
  }
  process.exit(failed ? 1 : 0)
}
