#!/usr/bin/env node
// What it costs that strings of a chat know their origin: conversations are rendered with origins,
// without them, and by the code of the commit before there were origins, in turn in one process.
//
//   usage: npm run maintain -- chat-origins FOLDER [--before COMMIT] [--rounds N]
//
// FOLDER has *.jinja files of others. The result is the ratio of CPU times, in each round the sum
// over all templates, and the median over the rounds; then the templates with the largest ratios.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { root } from '../setup.mjs'

/** The commit that gave strings their origins. */
const ORIGINS = 'faff3fca'
/** CPU time in microseconds of the renders of a template in a round, approximately. */
const BLOCK_MICROS = 4000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { before: { type: 'string', default: `${ORIGINS}^` }, rounds: { type: 'string', default: '25' } },
})
const [folder] = positionals
if (folder === undefined) throw new Error('usage: npm run maintain -- chat-origins FOLDER')

const TEXT = 'The quick brown fox jumps over the lazy dog. "Naïve" <b>text</b>, 漢字 and\n\nmore lines. '
const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Returns the weather.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'A city' }, days: { type: 'integer' } },
      required: ['city'],
    },
  },
}
const turn = (role, times) => ({ role, content: TEXT.repeat(times).trim() })
const call = {
  id: 'call00001',
  type: 'function',
  function: { name: 'get_weather', arguments: { city: 'Zürich', days: 3 } },
}
/**
 * Conversations. Templates that refuse one render the others.
 *
 * @type {[messages: object[], options: object][]}
 */
const CHATS = [
  [[turn('user', 1)], {}],
  [[turn('system', 2), turn('user', 4), turn('assistant', 8), turn('user', 1)], {}],
  [Array.from({ length: 20 }, (_, index) => turn(index % 2 === 0 ? 'user' : 'assistant', 3)), {}],
  [
    [
      turn('user', 1),
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', name: 'get_weather', tool_call_id: 'call00001', content: '{"degrees": 12.5}' },
      turn('assistant', 2),
    ],
    { tools: [TOOL, TOOL] },
  ],
]
const TOKENS = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' }

/** The modules of a commit, beside the addon of this tree. */
function checkout(commit) {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-before-'))
  process.on('exit', () => fs.rmSync(place, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', commit, 'lib', 'package.json'], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync('tar', ['x', '-C', place], { input: archive })
  for (const name of fs.readdirSync(root))
    if (name === 'native.js' || name.endsWith('.node')) fs.copyFileSync(path.join(root, name), path.join(place, name))
  return place
}

const requireOf = (place) => createRequire(path.join(place, 'package.json'))
const [now, before] = [requireOf(root), requireOf(checkout(values.before))]
const { Trace } = now('./lib/chat/origins.js')

/** The ways to render: a function of a template that returns one of a conversation. */
const WAYS = {
  before: (source) => {
    const chat = before('./lib/chat/chat.js').chatOf({ ...TOKENS, chat_template: source })
    return ([messages, options]) => chat.render(messages, options)
  },
  without: (source) => {
    const chat = now('./lib/chat/chat.js').chatOf({ ...TOKENS, chat_template: source })
    return ([messages, options]) => chat.render(messages, options)
  },
  origins: (source) => {
    const chat = now('./lib/chat/chat.js').chatOf({ ...TOKENS, chat_template: source })
    return ([messages, options]) => chat.render(messages, options, new Trace())
  },
}

/** A template, the conversations that it renders, and how often a round does so. */
function caseOf(name) {
  const source = fs.readFileSync(path.join(folder, name), 'utf8')
  const ways = Object.values(WAYS).map((way) => way(source))
  const chats = CHATS.filter((chat) =>
    ways.every((render) => {
      try {
        render(chat)
        return true
      } catch {
        return false
      }
    }),
  )
  const run = (way, times) => {
    const render = ways[way]
    // Compiles the template, if it is no longer kept.
    render(chats[0])
    const start = process.cpuUsage()
    for (let time = 0; time < times; time++) for (const chat of chats) render(chat)
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
  if (chats.length === 0) return undefined
  for (let way = 0; way < ways.length; way++) run(way, 20)
  return { name, run, times: Math.max(1, Math.ceil((20 * BLOCK_MICROS) / Math.max(1, run(0, 20)))), ratios: [] }
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
const names = fs.readdirSync(folder).filter((name) => name.endsWith('.jinja'))
const cases = names.sort().flatMap((name) => caseOf(name) ?? [])
const sums = Array.from({ length: Number(values.rounds) }, () => [0, 0, 0])
// All rounds of a template follow each other, because only some compiled templates are kept.
for (const one of cases) {
  for (const [round, sum] of sums.entries()) {
    const times = [0, 0, 0]
    // Another way is first in each round.
    for (let step = 0; step < 3; step++) {
      const way = (round + step) % 3
      times[way] = one.run(way, one.times)
      sum[way] += times[way]
    }
    one.ratios.push(times[2] / Math.max(1, times[0]))
  }
}
const rounds = sums.map(([old, without, origins]) => ({ without: without / old, origins: origins / old }))
for (const way of ['without', 'origins']) {
  const ratios = rounds.map((one) => one[way])
  const range = [Math.min(...ratios), Math.max(...ratios)].map((one) => one.toFixed(2)).join(' to ')
  console.log(`${way.padEnd(8)} ${median(ratios).toFixed(3)} times the CPU time of ${values.before} (rounds: ${range})`)
}
const slow = cases.map(({ name, ratios }) => [median(ratios), name]).sort(([a], [b]) => b - a)
console.log(`${cases.length} templates; the largest ratios:`)
for (const [ratio, name] of slow.slice(0, 10)) console.log(`  ${ratio.toFixed(2)}  ${name}`)
console.log(`  median of templates: ${median(slow.map(([ratio]) => ratio)).toFixed(2)}`)
