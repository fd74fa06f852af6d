// Judges loss masks by origin, for every chat template of a folder, by two rules that need no
// origins. For maintainers; the templates are other people's files, so keep the folder outside the
// repository.
//
//   node tools/compare/chat/masks.mjs FOLDER… [--all]
//
// 1. Templates with {% generation %}: without these tags, the mask is that of the tags.
// 2. All templates: an answer is what the rendering up to it, with a generation prompt, lacks of
//    the rendering with it, if both are prefixes of the whole. Other answers are not judged.
//
// The conversations have answers, empty answers, calls of tools with and without text, reasoning,
// and parts. Exits with 1 if a mask differs; --all lists every difference of a template.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../../../index.mjs'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { all: { type: 'boolean' } } })

const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
const config = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' }
const tokenizer = Tokenizer.fromFileSync(file, { config })

const user = (content) => ({ role: 'user', content })
const said = (content, more) => ({ role: 'assistant', content, ...more })
const call = (id, city) => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: { city, days: 2 } },
})
const called = (content, ...calls) => said(content, { tool_calls: calls })
const result = (id, content) => ({ role: 'tool', tool_call_id: id, name: 'get_weather', content })
const parts = (text) => [{ type: 'text', text }]
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string', description: 'A city' } }, required: [] },
    },
  },
]

/** Conversations by what they have, with options. */
const CHATS = {
  answers: [[user('Hello?'), said('Yes, hello.'), user('And you?'), said('Fine, thanks.')]],
  'with a system message': [
    [{ role: 'system', content: 'Be brief.' }, user('Hello?'), said('Yes.'), user('Again?'), said('No.')],
  ],
  'an empty answer': [[user('Hello?'), said(''), user('Again?'), said('')]],
  'ends with a question': [[user('Hello?'), said('Yes.'), user('Again?')]],
  'ends with a prompt': [[user('Hello?'), said('Yes.'), user('Again?')], { addGenerationPrompt: true }],
  parts: [[user(parts('Hello?')), said(parts('Yes.')), user(parts('Again?')), said(parts('No.'))]],
  calls: [
    [user('Weather?'), called('', call('abcdefghi', 'Paris')), result('abcdefghi', 'sunny'), said('It is sunny.')],
    { tools },
  ],
  'calls without content': [
    [user('Weather?'), called(null, call('abcdefghi', 'Paris')), result('abcdefghi', 'sunny'), said('It is sunny.')],
    { tools },
  ],
  'calls with text': [
    [user('Weather?'), called('I look.', call('abcdefghi', 'Rome')), result('abcdefghi', 'rain'), said('Rain.'), user('Ok'), said('Bye.')],
    { tools },
  ],
  'parallel calls': [
    [
      user('Weather?'),
      called('', call('abcdefghi', 'Paris'), call('abcdefghj', 'Rome')),
      result('abcdefghi', 'sunny'),
      result('abcdefghj', 'rain'),
      called('', call('abcdefghk', 'Bern')),
      result('abcdefghk', 'snow'),
      said('Sun, rain and snow.'),
    ],
    { tools },
  ],
  reasoning: [
    [
      user('2 + 2?'),
      said('4', { reasoning_content: 'Easy.', thinking: 'Easy.' }),
      user('3 + 3?'),
      said('6', { reasoning_content: 'As before.', thinking: 'As before.' }),
    ],
  ],
  'reasoning in the text': [[user('2 + 2?'), said('<think>\nEasy.\n</think>\n\n4'), user('3 + 3?'), said('6')]],
  'reasoning and calls': [
    [
      user('Weather?'),
      said('', { reasoning_content: 'I look.', thinking: 'I look.', tool_calls: [call('abcdefghi', 'Paris')] }),
      result('abcdefghi', 'sunny'),
      said('Sunny.', { reasoning_content: 'Good.', thinking: 'Good.' }),
    ],
    { tools },
  ],
  'no reasoning': [
    [user('2 + 2?'), said('4'), user('3 + 3?'), said('6')],
    { variables: { enable_thinking: false, thinking: false } },
  ],
}

const MARKS = /\{%-?\s*(end)?generation\s*-?%\}/g
/** A template without the tags of generations, with the same trimming of white space. */
const unmarked = (source) =>
  source.replace(MARKS, (tag, end) =>
    [tag.startsWith('{%-') ? '{%-' : '{%', end ? ' endif ' : ' if true ', tag.endsWith('-%}') ? '-%}' : '%}'].join(''),
  )

const REFUSALS = ['ERR_TOKENLANE_CHAT_REFUSED', 'ERR_TOKENLANE_CHAT_TEMPLATE', 'ERR_TOKENLANE_CHAT_LIMIT']
function tried(work) {
  try {
    return work()
  } catch (failure) {
    if (!REFUSALS.includes(failure.code)) throw failure
    return undefined
  }
}

const textOf = (chatTemplate, messages, options) =>
  tried(() => tokenizer.applyChatTemplate(messages, { ...options, chatTemplate, tokenize: false }))
const encodingOf = (chatTemplate, messages, options, by) =>
  tried(() => tokenizer.applyChatTemplate(messages, { ...options, chatTemplate, returnAssistantMask: { by } }))

/** The masked text, with the rest between brackets. */
function shown(text, { offsets, assistantMask }) {
  let written = ''
  assistantMask.forEach((bit, i) => {
    if (bit !== (i === 0 ? 0 : assistantMask[i - 1])) written += bit ? '⟦' : '⟧'
    written += text.slice(offsets[2 * i], offsets[2 * i + 1])
  })
  return JSON.stringify(written)
}

/** The mask by the rule of prefixes: 1, 0, or undefined for tokens that it does not judge. */
function maskByPrefixes(chatTemplate, messages, options, text, offsets) {
  const { addGenerationPrompt, ...others } = options
  const wanted = new Array(offsets.length / 2).fill(0)
  let judged = 0
  messages.forEach(({ role }, i) => {
    if (role !== 'assistant' || i === 0) return
    const before = textOf(chatTemplate, messages.slice(0, i), { ...others, addGenerationPrompt: true })
    const isLast = i === messages.length - 1
    const after = isLast && !addGenerationPrompt ? text : textOf(chatTemplate, messages.slice(0, i + 1), others)
    const isAppended = [before, after].every((one) => one !== undefined && text.startsWith(one))
    if (isAppended && after.length >= before.length) judged++
    for (let token = 0; token < wanted.length; token++) {
      const [start, end] = [offsets[2 * token], offsets[2 * token + 1]]
      if (!isAppended) {
        // The answer is somewhere in what differs.
        wanted[token] = undefined
      } else if (end > before.length && start < after.length) wanted[token] = 1
    }
  })
  return { wanted: wanted.includes(undefined) ? undefined : wanted, judged }
}

const files = positionals.flatMap((folder) =>
  fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.jinja'))
    .map((name) => path.join(folder, name)),
)
let [compared, wrong, byTags, byPrefix, unjudged] = [0, 0, 0, 0, 0]
const failed = new Set()
for (const name of files) {
  const source = fs.readFileSync(name, 'utf8')
  const isMarked = new RegExp(MARKS.source).test(source)
  const plain = isMarked ? unmarked(source) : source
  for (const [kind, [messages, options = {}]] of Object.entries(CHATS)) {
    const found = encodingOf(plain, messages, options, 'origin')
    if (found === undefined) continue
    compared++
    const text = textOf(plain, messages, options)
    const judge = (rule, wanted) => {
      if (found.assistantMask.every((bit, i) => bit === wanted[i])) return
      wrong++
      if (failed.has(`${name} ${rule}`) && !values.all) return
      failed.add(`${name} ${rule}`)
      console.log(`${path.basename(name)}, ${kind}, by ${rule}:`)
      console.log(`  is     ${shown(text, found)}\n  should ${shown(text, { ...found, offsets: found.offsets, assistantMask: Uint8Array.from(wanted) })}`)
    }
    if (isMarked) {
      const marked = encodingOf(source, messages, options, 'generation')
      byTags++
      judge('tags', marked.assistantMask)
    }
    const { wanted } = maskByPrefixes(plain, messages, options, text, found.offsets)
    if (wanted === undefined) unjudged++
    else {
      byPrefix++
      judge('prefixes', wanted)
    }
  }
}
console.log(
  `${files.length} templates, ${compared} conversations: ${byTags} judged by tags, ${byPrefix} by prefixes, ${unjudged} do not append; ${wrong} differ, in ${failed.size} templates`,
)
process.exitCode = wrong === 0 ? 0 : 1
