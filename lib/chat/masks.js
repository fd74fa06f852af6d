'use strict'

// Which tokens of a conversation the assistant wrote, and which message each token came from.

const { messageOf } = require('@tokenlane/jinja/internal').origins

const { error } = require('../errors.js')

/**
 * The columns `assistantMask` and `messageIds` of an encoded conversation. `by` is 'generation',
 * 'origin', or 'auto': the first if the template has `{% generation %}`, else the second.
 */
function masksOf(rendered, { encoding, messages, by, prompt, last, calls }) {
  const { trace } = rendered
  const isMarked = trace.hasGenerations
  if (by === 'generation' && !isMarked) {
    const message = 'the template has no {% generation %} tags, so that it does not say what the assistant writes'
    throw error('ERR_TOKENLANE_CHAT_REFUSED', `${message}: use returnAssistantMask: { by: 'origin' }`)
  }
  const { offsets } = encoding
  const groups = groupsOf(rendered)
  const messageIds = messagesOf(groups, offsets)
  const isGenerated = by === 'generation' || (by === 'auto' && isMarked)
  const assistantMask = isGenerated
    ? generationMask(rendered.text, trace.generations, offsets)
    : originMask(rendered.text, groups, { encoding, messages, prompt: prompt(), last: last(), calls })
  return { assistantMask, messageIds }
}

/**
 * The mask of transformers: the tokens that overlap a `{% generation %}` block. As there, tokens
 * and blocks are taken to be in order.
 */
function generationMask(text, generations, offsets) {
  const spans = spansOf(text, generations)
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

/** The parts of a text that come from one message: start, end and index of the message. */
function groupsOf({ runs }) {
  const groups = []
  let start = 0
  for (let i = 0; i < runs.length; i += 2) {
    const message = messageOf(runs[i + 1])
    if (message !== -1) groups.push({ start, end: runs[i], message })
    start = runs[i]
  }
  return groups
}

/** For each token the message that its first character of a message comes from, or -1. */
function messagesOf(groups, offsets) {
  const ids = new Int32Array(offsets.length / 2).fill(-1)
  let at = 0
  for (let token = 0; token < ids.length; token++) {
    const [start, end] = [offsets[2 * token], offsets[2 * token + 1]]
    while (at > 0 && groups[at - 1].end > start) at--
    while (at < groups.length && groups[at].end <= start) at++
    if (at < groups.length && groups[at].start < end) ids[token] = groups[at].message
  }
  return ids
}

/**
 * The mask of a template without `{% generation %}`: what is between the first and the last
 * character of an assistant message, what the template writes before it behind the generation
 * prompt, and what it writes behind it up to the end-of-turn token.
 */
function originMask(text, groups, { encoding: { ids, offsets }, messages, prompt, last, calls }) {
  const mask = new Uint8Array(ids.length)
  const turns = turnsOf(groups)
  const [header] = specialsIn(calls.encode(prompt).ids, calls)
  const tokensFrom = laterTokens(offsets)
  turns.forEach(({ start, end, message }, i) => {
    if (messages[message]?.role !== 'assistant') return
    const from = behindPrompt(text, turns[i - 1]?.end ?? 0, start, prompt)
    const next = turns[i + 1]?.start ?? text.length
    let token = tokensFrom(from)
    const first = token
    while (token < ids.length && offsets[2 * token] < end) token++
    mask.fill(1, first, token)
    const ending = endOfTurn(ids, offsets, { token, next, header, last, calls })
    if (ending !== undefined) mask.fill(1, token, ending + 1)
  })
  return mask
}

/** A function that returns the first token that ends behind a place. Places come in order. */
function laterTokens(offsets) {
  let token = 0
  return (at) => {
    while (2 * token < offsets.length && offsets[2 * token + 1] <= at) token++
    return token
  }
}

/** Adjacent parts of one message as one. */
function turnsOf(groups) {
  const turns = []
  for (const { start, end, message } of groups) {
    if (turns.at(-1)?.message === message) turns.at(-1).end = end
    else turns.push({ start, end, message })
  }
  return turns
}

/** Where an answer begins that has its first own character at `start`. */
function behindPrompt(text, from, start, prompt) {
  const before = text.slice(from, start)
  // Templates open the reasoning of the next answer only, so the first line is enough.
  for (const sought of [prompt, prompt.slice(0, prompt.indexOf('\n') + 1)]) {
    const at = sought === '' ? -1 : before.lastIndexOf(sought)
    if (at !== -1) return from + at + sought.length
  }
  return start
}

/**
 * The token that ends a turn, among those from `token` on that start before `next`: the end of
 * sequence, or else the first special token, unless it starts the next turn.
 */
function endOfTurn(ids, offsets, { token, next, header, last, calls }) {
  let first
  for (let i = token; i < ids.length && offsets[2 * i] < next; i++) {
    if (ids[i] === last) return i
    if (first === undefined && calls.isSpecial(ids[i])) first = i
  }
  return first === undefined || ids[first] === header ? undefined : first
}

const specialsIn = (ids, { isSpecial }) => [...ids].filter((id) => isSpecial(id))

module.exports = { generationMask, masksOf }
