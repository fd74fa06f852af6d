// Renders random answers with chat templates, reads them back, and renders them again.
//
//   node tools/compare/completions/round_trip.mjs FOLDER… [--each 40] [--seed 1] [--show]
//     [--record FILE]
//
// The templates are other people's files, so keep the folder outside the repository. Each answer is
// read as text and as ids, of a tokenizer whose control tokens are the markers of the format, and
// the calls and the second rendering have to equal the first ones. A template that writes no calls
// at all is left out. With --record, three answers of each template that come back become test
// data: the message, what the template wrote for it, and the format.

import fs from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'

import { formatFor, parseCompletion } from '@tokenlane/completions'

import { generator } from '../../../__test__/support/random.mjs'
import { Tokenizer } from '../../../index.mjs'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    each: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    show: { type: 'boolean' },
    record: { type: 'string' },
  },
})

const FILE = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
const CONFIG = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' }
const TOKEN = /<[^<>\s'"{}%]*>|\[[A-Z_]+\]|◁[^▷]*▷/g
const STRINGS = [
  'Paris',
  'a "b" \\ c',
  "it's",
  'x\ny',
  '  ',
  '',
  '東京 😀',
  '{"a": [1]}',
  'true',
  '12',
  '</tool_call>',
  '<think>',
  '<|im_end|>',
  '[TOOL_CALLS]x',
  '<b>&amp;</b>',
]
const TEXTS = ['Let me see.', 'Ω and ü.', 'One.\n\nTwo.', 'It is "so".', 'A list: [1, 2]', 'f(x) = {y}']
const QUESTION = { role: 'user', content: 'A question' }

const rng = generator(Number(values.seed))
const pick = (list) => list[rng(list.length)]
const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'A city.' },
    days: { type: 'integer', description: 'Days.' },
    share: { type: 'number', description: 'A share.' },
    now: { type: 'boolean', description: 'Now?' },
    list: { type: 'array', items: { type: 'string' }, description: 'A list.' },
    more: { type: 'object', properties: {}, description: 'More.' },
  },
  required: ['city'],
}
const MAKERS = {
  city: () => pick(STRINGS),
  days: () => pick([0, 7, -3]),
  share: () => pick([0.5, -2.25]),
  now: () => rng(2) === 0,
  list: () => Array.from({ length: rng(3) }, () => pick(STRINGS)),
  more: () => ({ a: pick(STRINGS), b: [1, null] }),
}
const NAMES = ['get_weather', 'now', 'find_it']
const TOOLS = NAMES.map((name) => ({
  type: 'function',
  function: { name, description: 'A tool.', parameters: SCHEMA },
}))

function answer(count) {
  const calls = Array.from({ length: count }, (_, i) => {
    const names = Object.keys(MAKERS).filter(() => rng(2) === 0)
    const id = `functions.${pick(NAMES)}:${i}`
    const name = id.slice(10, -2)
    return {
      id,
      type: 'function',
      function: { name, arguments: Object.fromEntries(names.map((key) => [key, MAKERS[key]()])) },
    }
  })
  const message = { role: 'assistant', content: rng(2) === 0 || count === 0 ? pick(TEXTS) : '' }
  if (rng(2) === 0) message.reasoning_content = pick(TEXTS)
  return count === 0 ? message : { ...message, tool_calls: calls }
}

function valueOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The message with arguments as the template takes them. */
function styled(message, style) {
  if (message.tool_calls === undefined) return message
  const tool_calls = message.tool_calls.map((call, i) => {
    const given = call.function.arguments
    const value = typeof given === 'string' ? (valueOf(given) ?? given) : given
    const id = style.id === undefined ? call.id : style.id(i)
    return { ...call, id, function: { ...call.function, arguments: style.isText ? JSON.stringify(value) : value } }
  })
  return {
    ...message,
    content: message.content === '' || message.content === null ? style.empty : message.content,
    tool_calls,
  }
}

function tried(work) {
  try {
    return work()
  } catch (failure) {
    if (!failure.code?.startsWith('ERR_TOKENLANE_CHAT')) throw failure
    return undefined
  }
}

/** What a template writes for an answer: the text after the prompt, and its ids. */
function written(tokenizer, message, options) {
  const prompt = tried(() => tokenizer.applyChatTemplate([QUESTION], { ...options, addGenerationPrompt: true }))
  const whole = tried(() => tokenizer.applyChatTemplate([QUESTION, message], options))
  if (whole === undefined || prompt === undefined) return undefined
  let same = 0
  while (same < prompt.ids.length && prompt.ids[same] === whole.ids[same]) same++
  const ids = whole.ids.slice(same)
  return { ids, text: tokenizer.decode(ids, { skipSpecialTokens: false }), shared: prompt.ids.slice(0, same) }
}

/** The names and arguments of a message's calls. */
const callsOf = ({ tool_calls: calls = [] }) =>
  calls.map(({ function: { name, arguments: given } }) => [name, typeof given === 'string' ? valueOf(given) : given])

const STYLES = [
  { isText: false, empty: null },
  { isText: false, empty: '' },
  { isText: true, empty: null },
  { isText: true, empty: '' },
  { isText: false, empty: null, id: (i) => `abcdefgh${i}` },
  { isText: true, empty: '', id: (i) => `abcdefgh${i}` },
]

function isWritten(tokenizer, style) {
  const call = { id: 'functions.now:0', type: 'function', function: { name: 'now', arguments: { city: 'a "b"' } } }
  const message = styled({ role: 'assistant', content: '', tool_calls: [call] }, style)
  const { text } = written(tokenizer, message, { tools: TOOLS }) ?? {}
  return text?.includes('now') && text.includes('city') && !text.includes('\\\\\\"')
}

let [answers, same, judged] = [0, 0, 0]
const recorded = []
for (const folder of positionals)
  for (const name of fs
    .readdirSync(folder)
    .filter((file) => file.endsWith('.jinja'))
    .sort()) {
    const source = fs.readFileSync(path.join(folder, name), 'utf8')
    const base = Tokenizer.fromFileSync(FILE, { chatTemplate: source, config: CONFIG })
    const addedTokens = [...new Set(source.match(TOKEN))].filter((token) => base.tokenToId(token) === undefined)
    const tokenizer = base.with({
      addedTokens: addedTokens.map((content) => ({
        content,
        special: !/^<\/?(tool|think|arg|func|param)/.test(content),
      })),
    })
    const style = STYLES.find((one) => isWritten(tokenizer, one))
    if (style === undefined) {
      console.log(`${name}: writes no calls`)
      continue
    }
    judged++
    const format = formatFor(tokenizer)
    const failures = []
    const kept = []
    for (let i = 0; i < Number(values.each); i++) {
      const message = styled(answer(pick([0, 1, 1, 2])), style)
      const first = written(tokenizer, message, { tools: TOOLS })
      if (first === undefined) continue
      answers++
      // The prompt may open reasoning that an answer without it does not have.
      const shared = tokenizer.decode(first.shared, { skipSpecialTokens: false })
      const startsIn = /(<think>|<\|channel>thought|<\|START_THINKING\|>)\s*$/.test(shared) ? 'reasoning' : 'text'
      let reason
      for (const input of [first.text, first.ids]) {
        const read = parseCompletion(tokenizer, input, {
          tools: TOOLS,
          startsIn,
          createId: (index) => message.tool_calls?.[index]?.id ?? 'id',
        })
        const second = written(tokenizer, styled(read.message, { ...style, id: undefined }), { tools: TOOLS })
        if (read.parts.map(({ raw }) => raw).join('') !== first.text) reason = ['characters are lost', read]
        else if (!isDeepStrictEqual(callsOf(read.message), callsOf(message))) reason = ['calls', read, second?.text]
        else if (second?.text !== first.text) reason = [typeof input === 'string' ? 'text' : 'ids', read, second?.text]
        if (reason !== undefined) break
        const byName = parseCompletion(undefined, first.text, {
          format,
          tools: TOOLS,
          startsIn,
          createId: (index) => message.tool_calls?.[index]?.id ?? 'id',
        })
        if (typeof input === 'string' && format !== 'plain' && isDeepStrictEqual(byName.message, read.message))
          kept.push([name, format, startsIn, input, read.message])
      }
      if (reason === undefined) same++
      else failures.push([message, first.text, ...reason])
    }
    recorded.push(
      ...kept.filter((one) => one[4].tool_calls !== undefined).slice(0, 2),
      ...kept.filter((one) => one[4].tool_calls === undefined).slice(0, 1),
    )
    if (failures.length === 0) continue
    console.log(`${name} (${format}): ${failures.length} differ`)
    if (!values.show) continue
    const [message, text, kind, read, second] = failures[0]
    console.log(
      ` given  ${JSON.stringify(message)}\n wrote  ${JSON.stringify(text)}\n read (${kind}) ${JSON.stringify(read.message)}`,
    )
    console.log(` damage ${JSON.stringify(read.damage)}\n again  ${JSON.stringify(second)}`)
  }
console.log(`${judged} templates that write calls, ${answers} answers: ${same} come back, ${answers - same} differ`)
if (values.record !== undefined) {
  const head = JSON.stringify({
    source: 'what chat templates wrote for random messages, by round_trip.mjs',
    tools: TOOLS,
  })
  fs.writeFileSync(
    values.record,
    `${head.slice(0, -1)},"cases":[\n${recorded.map((one) => JSON.stringify(one)).join(',\n')}\n]}\n`,
  )
}
