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

/** The tags around reasoning. */
const TAGS = [
  ['<think>', '</think>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
]
const REASONING = ['reasoning_content', 'thinking', 'reasoning']

/**
 * The spans that are learned, in order, and those of reasoning: a token that has a character of
 * both is not learned.
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
  const seen = new Set(marked.map(({ message }) => message))
  let chosen = marked.filter(({ message }) => learned[message] !== NOTHING)
  /** @type {{ start: number, end: number }[]} */
  const left = []
  if (withoutReasoning) {
    const ofMessage = (index) => chosen.filter(({ message }) => message === index)
    const indexes = new Set(chosen.map(({ message }) => message))
    chosen = [...indexes].flatMap((index) => afterReasoning(text, ofMessage(index), messages[index], left))
  }
  const isWritten = (index) => learned[index] === ALWAYS && !seen.has(index) && messages[index].role !== 'assistant'
  const texts = messages.flatMap((message, index) => (isWritten(index) ? [{ message, index }] : []))
  for (const { message, index } of texts) chosen.push(...textsOf(text, runs, message, index))
  return { chosen: inOrder(chosen), left: inOrder(left) }
}

const inOrder = (spans) => spans.sort((a, b) => a.start - b.start)

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

/**
 * The spans of an answer without its reasoning, which the prompt before it may have opened, and
 * which is added to `left`.
 */
function afterReasoning(text, spans, message, left) {
  const thoughts = reasoningIn(text, spans[0].start, spans.at(-1).end)
  left.push(...thoughts.map(({ start, tagged }) => ({ start, end: tagged })))
  const kept = spans.flatMap((span) => without(span, thoughts))
  const reasoning = REASONING.map((name) => message[name]).find((one) => typeof one === 'string' && one.trim() !== '')
  const hasIt = ({ start, end }) => text.slice(start, end).includes(reasoning.trim())
  if (reasoning !== undefined && !thoughts.some(hasIt) && kept.some(hasIt)) {
    const reason = 'the template writes the reasoning of a message without a tag that is known'
    throw error('ERR_TOKENLANE_CHAT_REFUSED', `${reason}, so that it cannot be left out of what is learned`)
  }
  return kept
}

/**
 * Where reasoning is in an answer: with its tags up to `tagged`, and with the white space behind
 * them up to `end`. Without a tag that ends it, it is all the rest.
 */
function reasoningIn(text, start, end) {
  const answer = text.slice(0, end)
  const prompt = text.slice(0, start).trimEnd()
  const found = []
  let tags = TAGS.find(([open]) => prompt.endsWith(open))
  let [from, inside] = [start, start]
  for (;;) {
    if (tags === undefined) {
      const next = nextTags(answer, from)
      if (next === undefined) return found
      tags = next.tags
      inside = next.at + tags[0].length
      // White space at the start of an answer belongs to the reasoning behind it.
      from = answer.slice(start, next.at).trim() === '' ? start : next.at
    }
    const close = answer.indexOf(tags[1], inside)
    if (close === -1) return [...found, { start: from, tagged: end, end }]
    const tagged = close + tags[1].length
    found.push({ start: from, tagged, end: end - answer.slice(tagged).trimStart().length })
    from = found.at(-1).end
    tags = undefined
  }
}

/** The first tags that open reasoning from a position on. */
function nextTags(text, from) {
  const places = TAGS.map((tags) => ({ tags, at: text.indexOf(tags[0], from) })).filter(({ at }) => at !== -1)
  return places.sort((a, b) => a.at - b.at)[0]
}

/** What is left of a span without ranges, which are in order. */
function without(span, ranges) {
  const pieces = []
  let { start } = span
  for (const range of ranges) {
    if (range.end <= start || range.start >= span.end) continue
    if (range.start > start) pieces.push({ ...span, start, end: range.start })
    start = range.end
  }
  return start < span.end ? [...pieces, { ...span, start }] : pieces
}

module.exports = { ALWAYS, MARKED, NOTHING, chosenSpans }
