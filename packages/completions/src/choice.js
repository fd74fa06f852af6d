'use strict'

// The format of a tokenizer, by its chat template: the first by which an answer that the template
// renders is read as the message that it was rendered from.

const { Engine } = require('./engine.js')
const { FORMATS, TOKENS, compile, markersOf } = require('./formats.js')
const { valueError } = require('./errors.js')
const { formatOfTemplate } = require('./response-template.js')

const QUESTION = { role: 'user', content: 'A question' }
const NAME = 'probe_tool'
const TOOL = {
  type: 'function',
  function: {
    name: NAME,
    description: 'A tool.',
    parameters: { type: 'object', properties: { key: { type: 'string', description: 'A key.' } }, required: ['key'] },
  },
}
const CONTENT = 'An answer.'
const VALUES = { key: 'a value' }

/** By tokenizer: what its template and its vocabulary say. */
const CHOICES = new WeakMap()
const CONTROLS = new WeakMap()
const PROMPTS = new WeakMap()

const kept = (map, tokenizer, make) => {
  if (!map.has(tokenizer)) map.set(tokenizer, make())
  return map.get(tokenizer)
}

/** Which texts are control tokens, and the tokens that end an answer. */
function controlsOf(tokenizer) {
  if (tokenizer === undefined) return { control: undefined, eos: [] }
  return kept(CONTROLS, tokenizer, () => {
    const special = tokenizer.specialTokens ?? new Map()
    const ordinary = tokenizer.vocabSize({ addedTokens: false })
    const control = (token) => {
      const id = tokenizer.tokenToId(token)
      if (id === undefined) return undefined
      const isSpecial = special.has(token)
      return isSpecial || id >= ordinary ? { id, isSpecial } : undefined
    }
    const eos = tokenizer.eosId === undefined ? undefined : tokenizer.idToToken(tokenizer.eosId)
    return { control, eos: eos === undefined ? [] : [eos] }
  })
}

function rendered(tokenizer, messages, options) {
  try {
    return tokenizer.applyChatTemplate(messages, { ...options, content: 'parse', tokenize: false })
  } catch {
    return undefined
  }
}

/** What the template writes for an answer, after the prompt. */
function answerOf(tokenizer, answer, tools) {
  const prompt = rendered(tokenizer, [QUESTION], { addGenerationPrompt: true, ...tools })
  const whole = rendered(tokenizer, [QUESTION, answer], tools)
  if (whole === undefined || prompt === undefined) return whole
  let same = 0
  while (same < prompt.length && prompt[same] === whole[same]) same++
  // Not within a token: <think> of the prompt, and </think> of the answer.
  const open = prompt.lastIndexOf('<', same - 1)
  if (same < prompt.length && open >= 0 && !prompt.slice(open, same).includes('>')) same = open
  return whole.slice(same)
}

function choose(tokenizer) {
  if (typeof tokenizer?.applyChatTemplate !== 'function')
    throw valueError('format', `one of ${[...FORMATS.keys()].join(', ')}, without a tokenizer`, undefined)
  return kept(CHOICES, tokenizer, () => byTemplate(tokenizer))
}

/** The format, and the tokens that it does not know by which the template ends an answer. */
function byTemplate(tokenizer) {
  if (tokenizer[Symbol.for('tokenlane.chatFormat')]?.kind === 'harmony')
    return { format: FORMATS.get('harmony'), ends: [] }
  const ends = endsOf(tokenizer)
  const own = formatOfTemplate(tokenizer[Symbol.for('tokenlane.responseTemplate')])
  for (const content of [null, ''])
    for (const values of [VALUES, JSON.stringify(VALUES)]) {
      const call = { id: 'abcdefghi', type: 'function', function: { name: NAME, arguments: values } }
      const text = answerOf(tokenizer, { role: 'assistant', content, tool_calls: [call] }, { tools: [TOOL] })
      if (!text?.includes(NAME)) continue
      const found = [...FORMATS.values()].find((format) => isRead(format, endsBeside(format, ends), text))
      // A repository names the end of its own answers, and not always that of calls.
      const all = [...ends, ...(found?.end ?? [])]
      const format = own !== undefined && isRead(own, endsBeside(own, all), text) ? own : found
      if (format !== undefined) return { format, ends: endsBeside(format, all) }
    }
  const format = own ?? FORMATS.get('plain')
  return { format, ends: endsBeside(format, ends) }
}

/** The ends that a format does not know. */
function endsBeside(format, ends) {
  const known = markersOf(format)
  return ends.filter((end) => !known.some((marker) => marker.includes(end)))
}

/** The tokens after the content of an answer. */
function endsOf(tokenizer) {
  const text = answerOf(tokenizer, { role: 'assistant', content: CONTENT }, {})
  const at = text?.indexOf(CONTENT) ?? -1
  // A template can change the content. Then no place says what is after it.
  const after = at < 0 ? '' : text.slice(at + CONTENT.length)
  return [...new Set([...controlsOf(tokenizer).eos, ...(after.match(TOKENS) ?? [])])]
}

/** Whether a format reads the call from the answer of the template, and nothing else. */
function isRead(format, ends, text) {
  const tools = new Map([[NAME, TOOL.function.parameters]])
  const engine = new Engine(compile(format, undefined, ends), { tools, createId: () => 'id' })
  engine.hasEnded = true
  engine.feed(text)
  engine.answer('text').next()
  const [call, ...others] = engine.calls
  if (call === undefined || others.length > 0 || engine.totals.text.trim() !== '') return false
  const isClean = engine.damage.every(({ kind }) =>
    ['unopened', 'unclosed', 'trailing', 'header', 'marker'].includes(kind),
  )
  return (
    isClean && call.name === NAME && call.arguments.replace(/\s/g, '') === JSON.stringify(VALUES).replace(/\s/g, '')
  )
}

/** Whether the prompt of the template ends in reasoning. */
function startOf(tokenizer, { reasoning }) {
  if (reasoning === undefined || typeof tokenizer?.applyChatTemplate !== 'function') return 'text'
  const prompt = kept(
    PROMPTS,
    tokenizer,
    () => rendered(tokenizer, [QUESTION], { addGenerationPrompt: true }) ?? '',
  ).trimEnd()
  return reasoning.open.some((marker) => prompt.endsWith(marker.trimEnd())) ? 'reasoning' : 'text'
}

module.exports = { choose, controlsOf, startOf }
