'use strict'

// Encoding of the npm package tokenizers: what tokenlane's own has, as plain arrays, and with ways to change it.

const { error, typeError } = require('../errors.js')
const { directionOf } = require('./settings.js')
const { Encoding: Columns } = require('../../lib/encoding.js')

// The numbers of the columns that lib/encoding.js asks its source for.
const ORDER = ['offsets', 'tokens', 'specialTokensMask', 'typeIds', 'attentionMask', 'wordIds']
const RANGES = 8

// More than that would be gigabytes of JavaScript's numbers, and the end of the process.
const MOST_PADDED = 2 ** 22

const EMPTY = { ids: [], offsets: [], tokens: [], specialTokensMask: [], typeIds: [], attentionMask: [], wordIds: [], ranges: [] }

class Encoding {
  #ids
  #columns
  #make
  #overflowing

  /** `make` gives tokenlane's encoding, whose ids are known already or not. Without it there are no tokens. */
  constructor(make = undefined, ids = undefined) {
    this.#make = make
    this.#ids = ids
    if (make === undefined) this.#become(EMPTY, [])
  }

  static of(columns, overflowing = []) {
    const encoding = new Encoding()
    encoding.#become(columns, overflowing)
    return encoding
  }

  get #all() {
    return (this.#columns ??= this.#make())
  }

  getLength() {
    return (this.#ids ?? this.#all.ids).length
  }

  getNSequences() {
    return this.#all.sequenceRanges.length || 1
  }

  getIds() {
    return Array.from(this.#ids ?? this.#all.ids)
  }

  getTypeIds() {
    return Array.from(this.#all.typeIds)
  }

  getAttentionMask() {
    return Array.from(this.#all.attentionMask)
  }

  getSpecialTokensMask() {
    return Array.from(this.#all.specialTokensMask)
  }

  getTokens() {
    return [...this.#all.tokens]
  }

  getOffsets() {
    const { offsets } = this.#all
    return Array.from({ length: offsets.length / 2 }, (_, token) => [offsets[2 * token], offsets[2 * token + 1]])
  }

  getWordIds() {
    return Array.from(this.#all.wordIds, orNull)
  }

  getSequenceIds() {
    const { sequenceRanges, length } = this.#all
    const ids = new Array(length).fill(sequenceRanges.length === 0 ? 0 : null)
    for (const { sequence, start, end } of sequenceRanges) ids.fill(sequence, start, end)
    return ids
  }

  getOverflowing() {
    this.#overflowing ??= this.#all.overflowing.map((part) => new Encoding(() => part))
    return [...this.#overflowing]
  }

  charToToken(pos, seqId) {
    return this.#all.charToToken(pos, seqId ?? 0) ?? null
  }

  charToWord(pos, seqId) {
    return this.#all.charToWord(pos, seqId ?? 0) ?? null
  }

  wordToTokens(word, seqId) {
    return this.#all.wordToTokens(word, seqId ?? 0) ?? null
  }

  wordToChars(word, seqId) {
    return this.#all.wordToChars(word, seqId ?? 0) ?? null
  }

  tokenToChars(token) {
    return this.#all.tokenToChars(token) ?? null
  }

  tokenToWord(token) {
    return this.#all.tokenToWord(token) ?? null
  }

  tokenToSequence(token) {
    return this.#all.tokenToSequence(token) ?? null
  }

  pad(length, options) {
    if (!Number.isInteger(length)) throw typeError('length must be an integer')
    if (length > MOST_PADDED) throw error('PADDING_TOO_LONG', `an Encoding is padded to ${MOST_PADDED} tokens at most`)
    const { direction, padId = 0, padTypeId = 0, padToken = '[PAD]' } = options ?? {}
    const isLeft = directionOf(direction, 'padding') === 'left'
    for (const part of this.getOverflowing()) part.pad(length, options)
    const missing = length - this.getLength()
    if (missing <= 0) return
    const fill = (value, width = 1) => new Array(missing * width).fill(value)
    const padding = {
      ids: fill(padId),
      offsets: fill(0, 2),
      tokens: fill(padToken),
      specialTokensMask: fill(1),
      typeIds: fill(padTypeId),
      attentionMask: fill(0),
      wordIds: fill(-1),
      ranges: [],
    }
    const { columns } = this
    this.#become(isLeft ? joined([padding, columns]) : joined([columns, padding]))
  }

  truncate(length, stride = 0, direction = 'left') {
    const isLeft = directionOf(direction ?? 'left', 'truncation') === 'left'
    const all = this.columns
    const total = this.getLength()
    if (length >= total) return
    if (length === 0) {
      this.#become(EMPTY, [Encoding.of(all, this.getOverflowing())])
      return
    }
    if ((stride ?? 0) >= length) throw error('TRUNCATION_STRIDE', `the stride ${stride} must be less than the length ${length}`)
    const parts = windows(total, length, length - (stride ?? 0), isLeft).map(([start, end]) => slice(all, start, end))
    this.#become(parts[0], parts.slice(1).map((part) => Encoding.of(part)))
  }

  /** All that is known of each token, copied. */
  get columns() {
    const { ids, offsets, tokens, specialTokensMask, typeIds, attentionMask, wordIds, sequenceRanges } = this.#all
    const copied = { ids, offsets, tokens, specialTokensMask, typeIds, attentionMask, wordIds }
    for (const name in copied) copied[name] = Array.from(copied[name])
    return { ...copied, ranges: sequenceRanges }
  }

  #become(columns, overflowing = this.getOverflowing()) {
    this.#overflowing = overflowing
    this.#columns = made(columns)
    this.#ids = undefined
  }
}

const orNull = (id) => (id === -1 ? null : id)

/** tokenlane's encoding over columns that are there; what overflows is kept beside it. */
function made(columns) {
  const { ranges, ids } = columns
  const words = [ranges.length, ...ranges.flatMap(({ sequence, start, end }) => [sequence, start, end])]
  const column = (which) => (which === RANGES ? Uint32Array.from(words) : columns[ORDER[which]])
  return new Columns(Uint32Array.from(ids), { hasOffsets: true, column })
}

/** From the kept part on, the parts that a truncation makes of so many tokens. */
function windows(total, length, step, isLeft) {
  const found = []
  for (let at = 0; at < total; at += step) {
    const [start, end] = [at, Math.min(at + length, total)]
    found.push(isLeft ? [total - end, total - start] : [start, end])
    if (end === total) break
  }
  return found
}

function slice(columns, start, end) {
  const cut = (name) => (name === 'offsets' ? columns.offsets.slice(2 * start, 2 * end) : columns[name].slice(start, end))
  const names = Object.keys(EMPTY).filter((name) => name !== 'ranges')
  return { ...Object.fromEntries(names.map((name) => [name, cut(name)])), ranges: [] }
}

/** One after the other; places of sequences move along. Of two with the same number the last is known. */
function joined(all) {
  const names = Object.keys(EMPTY).filter((name) => name !== 'ranges')
  const columns = Object.fromEntries(names.map((name) => [name, all.flatMap((one) => one[name])]))
  let before = 0
  const ranges = new Map()
  for (const { ranges: known, ids } of all) {
    for (const { sequence, start, end } of known) ranges.set(sequence, { sequence, start: start + before, end: end + before })
    before += ids.length
  }
  return { ...columns, ranges: [...ranges.values()] }
}

function mergeEncodings(encodings, growingOffsets = false) {
  return encodings.reduce((first, second) => merged(first, second, growingOffsets ?? false), new Encoding())
}

/** Two encodings as one; the parts that overflow go together in every way. */
function merged(first, second, growingOffsets) {
  const before = growingOffsets ? (first.columns.offsets.at(-1) ?? 0) : 0
  const { columns } = second
  const moved = { ...columns, offsets: columns.offsets.map((place) => place + before) }
  const all = joined([first.columns, moved])
  const [parts, others] = [first.getOverflowing(), second.getOverflowing()]
  const pairs = parts.flatMap((part) => [second, ...others].map((other) => [part, other]))
  for (const other of others) pairs.push([first, other])
  const bare = (encoding) => Encoding.of(encoding.columns)
  return Encoding.of(all, pairs.map(([one, other]) => merged(bare(one), bare(other), growingOffsets)))
}

/** The same encoding, to be changed without changing the first. */
const copyOf = (encoding) => Encoding.of(encoding.columns, encoding.getOverflowing().map(copyOf))

module.exports = { Encoding, mergeEncodings, copyOf }
