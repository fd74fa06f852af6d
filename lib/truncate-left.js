'use strict'

// The end of a text that has at most a number of tokens.

const { limitTooSmall } = require('./errors.js')
const { isUint8Array } = require('./realm.js')

/** As for the start of a text: the section that is encoded, and the part of it that no end has. */
const MIN_SECTION = 4096
const PER_TOKEN = 32
const MARGIN = 1024
const GROWTH = 4

/**
 * Where an end may start in a section: where a token starts, between two characters. The last one
 * comes first, each has the number of tokens behind it.
 */
function candidatesOf(offsets, before, min) {
  const candidates = []
  let end = Infinity
  for (let token = offsets.length / 2 - 1; token >= 0; token--) {
    const start = offsets[2 * token]
    const previous = token === 0 ? 0 : offsets[2 * token - 1]
    if (start < min) break
    if (previous <= start && start < end) candidates.push({ start: before + start, tokens: offsets.length / 2 - token })
    end = Math.min(end, start)
  }
  return candidates
}

/**
 * @param {any} tokenizer
 * @param {any} text a string or bytes
 * @param {number} maxTokens
 * @param {any} options of count
 */
function truncateLeft(tokenizer, text, maxTokens, options) {
  const isBytes = isUint8Array(text)
  const from = (start) => (isBytes ? text.subarray(start) : text.slice(start))
  const fits = (start) => tokenizer.count(from(start), options) <= maxTokens
  const added = tokenizer.count('', options)
  if (added > maxTokens) throw limitTooSmall(`the special tokens around a text are more than ${maxTokens}`)
  const isWithin = (at) => isInCharacter(text, at)
  const limit = maxTokens - added
  const bare = { ...options, addSpecialTokens: false, offsets: isBytes ? 'byte' : 'utf16' }
  let candidates = []
  for (let units = MIN_SECTION + PER_TOKEN * limit; ; units *= GROWTH) {
    let start = Math.max(0, text.length - units)
    while (start > 0 && isWithin(start)) start--
    const { offsets } = tokenizer.encode(from(start), { ...bare, truncation: false, padding: false })
    candidates = candidatesOf(offsets, start, start === 0 ? 0 : MARGIN)
    const isEnough = candidates.length > 0 && candidates.at(-1).tokens >= limit
    if (start === 0 && (candidates.at(-1)?.tokens ?? 0) <= limit && fits(0)) return from(0)
    if (start === 0 || isEnough) break
  }
  let own = limit
  for (let isFirst = true; own > 0; isFirst = false) {
    const candidate = candidates.findLast(({ tokens }) => tokens <= own)
    if (candidate === undefined) break
    const count = tokenizer.count(from(candidate.start), options)
    if (count <= maxTokens) return from(candidate.start)
    const half = Math.floor(candidate.tokens / 2)
    own = Math.max(0, isFirst ? candidate.tokens - Math.min(count - maxTokens, candidate.tokens - half) : half)
  }
  // Not even the last token fits: halves of it, down to one character.
  for (let length = text.length - (candidates[0]?.start ?? 0); length > 0; length = length >> 1) {
    let start = text.length - length
    while (start < text.length && isWithin(start)) start++
    if (start < text.length && fits(start)) return from(start)
  }
  return from(text.length)
}

/** Whether a position lies within a character. */
function isInCharacter(text, at) {
  if (at >= text.length) return false
  if (typeof text !== 'string') return (text[at] & 0xc0) === 0x80
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800
}

module.exports = { truncateLeft }
