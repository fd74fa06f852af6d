// Judges loss masks by origin, for every chat template of a folder, by two rules that need no
// origins. For maintainers; the templates are other people's files, so keep the folder outside the
// repository.
//
//   node tools/compare/chat/masks.mjs FOLDER… [--all]
//
// 1. Templates with {% generation %}: without these tags, the mask is that of the tags. Some tags
//    also hold the generation prompt, or leave out a space after the answer; these are counted.
// 2. All templates: an answer is what the rendering up to it, with a generation prompt, lacks.
//
// Exits with 1 if a mask differs; --all lists every difference of a template.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { CHATS, maskByPrefixes, unmarked } from '../../../__test__/support/prefix-masks.mjs'
import { Tokenizer } from '../../../index.mjs'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { all: { type: 'boolean' } } })

const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
const config = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' }
const tokenizer = Tokenizer.fromFileSync(file, { config })

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
function shown(text, offsets, mask) {
  let written = ''
  mask.forEach((bit, i) => {
    if (bit !== (i === 0 ? 0 : mask[i - 1])) written += bit ? '⟦' : '⟧'
    written += text.slice(offsets[2 * i], offsets[2 * i + 1])
  })
  return JSON.stringify(written)
}

const files = positionals.flatMap((folder) =>
  fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.jinja'))
    .map((name) => path.join(folder, name)),
)
/**
 * Whether masks differ only where a trl template also learns the generation prompt, or learns no
 * space or newline after the end of an answer.
 */
function isNearlyTagged(text, { offsets, assistantMask }, tagged) {
  const prompted = (token) => tagged[token] === 1 && isBeforeAnswer(assistantMask, tagged, token)
  const isSpace = (token) => text.slice(offsets[2 * token], offsets[2 * token + 1]).trim() === ''
  return assistantMask.every((bit, token) => bit === tagged[token] || isSpace(token) || prompted(token))
}

/** Whether a token is at the start of a tagged block, and the next one that both learn is there. */
function isBeforeAnswer(mask, tagged, token) {
  let after = token
  while (after < mask.length && tagged[after] === 1 && mask[after] === 0) after++
  let before = token
  while (before >= 0 && tagged[before] === 1 && mask[before] === 0) before--
  return tagged[after] === 1 && (before < 0 || tagged[before] === 0)
}

let [compared, wrong, byTags, nearly, byPrefix, unjudged] = [0, 0, 0, 0, 0, 0]
const failed = new Set()
for (const name of files) {
  const source = fs.readFileSync(name, 'utf8')
  const plain = unmarked(source)
  for (const [kind, [messages, options = {}]] of Object.entries(CHATS)) {
    const made = encodingOf(plain, messages, options, 'origin')
    if (made === undefined) continue
    compared++
    const text = textOf(plain, messages, options)
    const judge = (rule, wanted) => {
      if (made.assistantMask.every((bit, i) => bit === wanted[i])) return
      wrong++
      if (failed.has(`${name} ${rule}`) && !values.all) return
      failed.add(`${name} ${rule}`)
      console.log(`${path.basename(name)}, ${kind}, by ${rule}:`)
      for (const [what, mask] of Object.entries({ is: made.assistantMask, should: wanted }))
        console.log(`  ${what.padEnd(6)} ${shown(text, made.offsets, mask)}`)
    }
    if (plain !== source) {
      const { assistantMask: tagged } = encodingOf(source, messages, options, 'generation')
      byTags++
      const isEqual = made.assistantMask.every((bit, i) => bit === tagged[i])
      if (!isEqual && isNearlyTagged(text, made, tagged)) nearly++
      else judge('tags', tagged)
    }
    const wanted = maskByPrefixes((some, more) => textOf(plain, some, more), messages, options, made.offsets)
    if (wanted === undefined) unjudged++
    else {
      byPrefix++
      judge('prefixes', wanted)
    }
  }
}
console.log(
  [
    `${files.length} templates, ${compared} conversations: ${byTags} judged by tags, of which ${nearly} differ by the prompt`,
    `or by white space; ${byPrefix} judged by prefixes, ${unjudged} do not append; ${wrong} differ`,
  ].join('\n'),
)
process.exitCode = wrong === 0 ? 0 : 1
