'use strict'

// Which tokens of a conversation the assistant wrote, and which message each token came from.

const { messageOf } = require('@tokenlane/jinja/internal').origins

const { error } = require('../errors.js')
const { answersOf } = require('./answers.js')

/**
 * The columns `assistantMask` and `messageIds` of an encoded conversation. `by` is 'generation',
 * 'origin', or 'auto': the first if the template has `{% generation %}`, else the second. `render`
 * is that of answers.js; `isOpen` says that the text does not end with the last turn. `choice`, if
 * it is given, says what of the conversation is learned (learned.js).
 */
function masksOf(rendered, { encoding, messages, by, isOpen, render, last, calls, choice }) {
  const { text, trace } = rendered
  const isMarked = trace.hasGenerations
  if (by === 'generation' && !isMarked) {
    const message = 'the template has no {% generation %} tags, so that it does not say what the assistant writes'
    throw error('ERR_TOKENLANE_CHAT_REFUSED', `${message}: use returnAssistantMask: { by: 'origin' }`)
  }
  const { offsets } = encoding
  const messageIds = messagesOf(rendered, offsets)
  const isGenerated = by === 'generation' || (by === 'auto' && isMarked)
  const maskFor = (spans) => {
    if (choice === undefined) return maskOf(spans, offsets)
    const { chosen, left } = require('./learned.js').chosenSpans(rendered, messages, spans, choice)
    const isLeft = maskOf(left, offsets)
    return maskOf(chosen, offsets).map((isChosen, token) => isChosen & ~isLeft[token])
  }
  if (isGenerated) return { assistantMask: maskFor(spansOf(text, trace.generations)), messageIds }
  const endOf = (from, next, prompt) => endOfTurn(rendered.text, encoding, { from, next, prompt, last: last(), calls })
  const spans = answersOf(rendered, { messages, isOpen, render, endOf })
  return { assistantMask: maskFor(spans), messageIds }
}

/** The mask of transformers: the tokens that overlap a `{% generation %}` block. */
const generationMask = (text, generations, offsets) => maskOf(spansOf(text, generations), offsets)

/** A mask with 1 for the tokens that overlap a span. Tokens and spans are taken to be in order. */
function maskOf(spans, offsets) {
  const mask = new Uint8Array(offsets.length / 2)
  let at = 0
  for (let token = 0; token < mask.length; token++) {
    while (at < spans.length && offsets[2 * token] >= spans[at].end) at++
    if (at === spans.length) break
    if (offsets[2 * token + 1] > spans[at].start) mask[token] = 1
  }
  return mask
}

/** The start and the end of blocks, in UTF-16 units. */
function spansOf(text, generations) {
  const isPlain = !/[\ud800-\udbff]/.test(text)
  const spans = []
  for (let i = 0; i < generations.length; i += 2) {
    const [start, length] = [generations[i], generations[i + 1]]
    let end = isPlain ? start + length : start
    for (let left = isPlain ? 0 : length; left > 0 && end < text.length; left--)
      end += text.codePointAt(end) > 0xffff ? 2 : 1
    spans.push({ start, end })
  }
  return spans
}

/** For each token the message that its first character of a message comes from, or -1. */
function messagesOf({ runs }, offsets) {
  const ids = new Int32Array(offsets.length / 2).fill(-1)
  let at = 0
  for (let token = 0; token < ids.length; token++) {
    const [start, end] = [offsets[2 * token], offsets[2 * token + 1]]
    while (at > 0 && runs[at - 2] > start) at -= 2
    while (at < runs.length && runs[at] <= start) at += 2
    for (let i = at; i < runs.length && (i === 0 || runs[i - 2] < end) && ids[token] === -1; i += 2)
      ids[token] = messageOf(runs[i + 1])
  }
  return ids
}

/**
 * The end of the token that ends a turn, among those that start from `from` on and before `next`:
 * the end of sequence, or else the first special token, unless it starts the prompt of an answer.
 */
function endOfTurn(text, { ids, offsets }, { from, next, prompt, last, calls }) {
  let [token, high] = [0, ids.length]
  while (token < high) {
    const middle = (token + high) >> 1
    if (offsets[2 * middle] < from) token = middle + 1
    else high = middle
  }
  let first
  for (; token < ids.length && offsets[2 * token] < next; token++) {
    if (ids[token] === last) return offsets[2 * token + 1]
    if (first === undefined && calls.isSpecial(ids[token])) first = token
  }
  if (first === undefined) return undefined
  const [start, end] = offsets.slice(2 * first, 2 * first + 2)
  return prompt.startsWith(text.slice(start, end)) ? undefined : end
}

module.exports = { generationMask, masksOf }
