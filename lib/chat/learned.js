'use strict'

// The choice of what is learned of a conversation, from the spans that its mask has: by message,
// and without reasoning.

const { messageOf } = require('@tokenlane/jinja/internal').origins

const { error } = require('../errors.js')

/** A message of which nothing is learned. */
const NOTHING = 0
/** A message of which the spans of the mask are learned. */
const MARKED = 1
/** The same; or its text, if it is not the assistant's and the mask has no span of it. */
const ALWAYS = 2

/** The tags around the reasoning that starts an answer. */
const TAGS = [
  ['<think>', '</think>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
]
const REASONING = ['reasoning_content', 'thinking', 'reasoning']

/**
 * The spans that are learned, in order.
 *
 * @param {{ text: string, runs: number[], trace: any }} rendered
 * @param {any[]} messages
 * @param {{ start: number, end: number, message?: number }[]} spans of the mask. Those of
 *   `{% generation %}` blocks have no message
 * @param {{ learned: number[], withoutReasoning?: boolean }} choice for each message one of the
 *   numbers above
 */
function chosenSpans({ text, runs, trace }, messages, spans, { learned, withoutReasoning }) {
  const marked = spans.map((span) => ({ ...span, message: span.message ?? messageAt(span, runs, trace) }))
  const seen = new Set()
  const chosen = marked.flatMap((span) => {
    const isFirst = !seen.has(span.message)
    seen.add(span.message)
    if (learned[span.message] === NOTHING) return []
    return withoutReasoning && isFirst ? [afterReasoning(text, span, messages[span.message])] : [span]
  })
  const isWritten = (index) => learned[index] === ALWAYS && !seen.has(index) && messages[index].role !== 'assistant'
  const texts = messages.flatMap((message, index) => (isWritten(index) ? [{ message, index }] : []))
  for (const { message, index } of texts) chosen.push(...textsOf(text, runs, message, index))
  return chosen.sort((a, b) => a.start - b.start)
}

/** The message of a block: that of the turn, or of the first character of a message in it. */
function messageAt({ start, end }, runs, { turns }) {
  const turn = turns.find((one) => one.start <= start && start < one.end)
  if (turn !== undefined) return turn.message
  for (let i = 0; i < runs.length && (i === 0 || runs[i - 2] < end); i += 2)
    if (runs[i] > start && messageOf(runs[i + 1]) !== -1) return messageOf(runs[i + 1])
  const reason = 'the template does not show which message a {% generation %} block is of'
  throw error('ERR_TOKENLANE_CHAT_REFUSED', `${reason}, so that messages cannot be chosen`)
}

/** The characters of a message, without its role at the start. */
function textsOf(text, runs, { role }, index) {
  const found = []
  for (let i = 0; i < runs.length; i += 2)
    if (messageOf(runs[i + 1]) === index) found.push({ start: i === 0 ? 0 : runs[i - 2], end: runs[i] })
  const [first] = found
  return first !== undefined && text.slice(first.start, first.end) === role ? found.slice(1) : found
}

/** An answer without the reasoning at its start, which the prompt before it may have opened. */
function afterReasoning(text, span, message) {
  const answer = text.slice(span.start, span.end)
  const prompt = text.slice(0, span.start).trimEnd()
  for (const [open, close] of TAGS) {
    if (!answer.trimStart().startsWith(open) && !prompt.endsWith(open)) continue
    const at = answer.indexOf(close)
    if (at === -1) return { ...span, start: span.end }
    const behind = answer.slice(at + close.length)
    return { ...span, start: span.end - behind.trimStart().length }
  }
  const reasoning = REASONING.map((name) => message[name]).find((one) => typeof one === 'string' && one.trim() !== '')
  if (reasoning !== undefined && answer.includes(reasoning.trim())) {
    const reason = 'the template writes the reasoning of a message without a tag that is known'
    throw error('ERR_TOKENLANE_CHAT_REFUSED', `${reason}, so that it cannot be left out of what is learned`)
  }
  return span
}

module.exports = { ALWAYS, MARKED, NOTHING, chosenSpans }
