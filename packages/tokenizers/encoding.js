'use strict'

// Encoding of the npm package tokenizers: wraps tokenlane's encoding, returns plain arrays, and can
// be padded and truncated in place.

const { boundedArray, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { directionOf } = require('./settings.js')
const { encodingOfSource } = require('tokenlane/internal/tokenizers.js')

// The columns by the numbers that tokenlane passes to `column`.
const ORDER = ['offsets', 'tokens', 'specialTokensMask', 'typeIds', 'attentionMask', 'wordIds']
const RANGES = 8

// Maximum length for `pad`, in tokens. Larger arrays of JavaScript numbers can exhaust the heap,
// which ends the process.
const MAX_PADDED_LENGTH = 2 ** 22

/** Maximum number of parts that `truncate` makes, and of all their tokens. */
const MAX_PARTS = 2 ** 17
const MAX_PART_TOKENS = 2 ** 22

const EMPTY = {
  ids: [],
  offsets: [],
  tokens: [],
  specialTokensMask: [],
  typeIds: [],
  attentionMask: [],
  wordIds: [],
  ranges: [],
}

class Encoding {
  #ids
  #columns
  #make
  #overflowing

  /**
   * `make` returns tokenlane's encoding; it is called when more than `ids` is needed. Without
   * `make` the encoding is empty.
   */
  constructor(make = undefined, ids = undefined) {
    this.#make = make
    this.#ids = ids
    if (make === undefined) this.#replace(EMPTY, [])
  }

  static of(columns, overflowing = []) {
    const encoding = new Encoding()
    encoding.#replace(columns, overflowing)
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
    if (length > MAX_PADDED_LENGTH) {
      throw error('PADDING_TOO_LONG', `length is ${length}; an Encoding can have at most ${MAX_PADDED_LENGTH} tokens`)
    }
    const { direction, padId = 0, padTypeId = 0, padToken = '[PAD]' } = options ?? {}
    for (const [name, value] of Object.entries({ padId, padTypeId, padToken })) primitive(value, name)
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
    this.#replace(isLeft ? concat([padding, columns]) : concat([columns, padding]))
  }

  truncate(length, stride = 0, direction = 'left') {
    const isLeft = directionOf(direction ?? 'left', 'truncation') === 'left'
    for (const [name, value] of Object.entries({ length, stride: stride ?? 0 }))
      if (!Number.isInteger(value) || value < 0) throw typeError(`${name} must be a non-negative integer`)
    const all = this.columns
    const total = this.getLength()
    if (length >= total) return
    if (length === 0) {
      this.#replace(EMPTY, [Encoding.of(all, this.getOverflowing())])
      return
    }
    if ((stride ?? 0) >= length) {
      throw error('TRUNCATION_STRIDE', `the stride ${stride} must be less than the length ${length}`)
    }
    const count = Math.ceil((total - length) / (length - (stride ?? 0))) + 1
    if (count > MAX_PARTS || count * length > Math.max(MAX_PART_TOKENS, 32 * total)) {
      throw error('OVERFLOW_TOO_LARGE', `truncation makes ${count} parts of ${length} tokens, which are too many`)
    }
    const parts = windows(total, length, length - (stride ?? 0), isLeft).map(([start, end]) => slice(all, start, end))
    this.#replace(
      parts[0],
      parts.slice(1).map((part) => Encoding.of(part)),
    )
  }

  /** A copy of all columns. */
  get columns() {
    const { ids, offsets, tokens, specialTokensMask, typeIds, attentionMask, wordIds, sequenceRanges } = this.#all
    const copied = { ids, offsets, tokens, specialTokensMask, typeIds, attentionMask, wordIds }
    for (const name of Object.keys(copied)) copied[name] = Array.from(copied[name])
    return { ...copied, ranges: sequenceRanges }
  }

  #replace(columns, overflowing = this.getOverflowing()) {
    this.#overflowing = overflowing
    this.#columns = fromColumns(columns)
    this.#ids = undefined
  }
}

const orNull = (id) => (id === -1 ? null : id)

/** Creates tokenlane's encoding from columns. The overflowing parts are stored separately. */
function fromColumns(columns) {
  const { ranges, ids } = columns
  const words = [ranges.length, ...ranges.flatMap(({ sequence, start, end }) => [sequence, start, end])]
  const column = (which) => (which === RANGES ? Uint32Array.from(words) : columns[ORDER[which]])
  return encodingOfSource(Uint32Array.from(ids), { source: { hasOffsets: true, column }, row: 0, start: 0 })
}

/** Token ranges into which a truncation splits `total` tokens; the first range is kept. */
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
  const width = (name) => (name === 'offsets' ? 2 : 1)
  const part = (name) => columns[name].slice(width(name) * start, width(name) * end)
  const names = Object.keys(EMPTY).filter((name) => name !== 'ranges')
  return { ...Object.fromEntries(names.map((name) => [name, part(name)])), ranges: [] }
}

/**
 * Concatenates columns and shifts their sequence ranges. If a sequence number occurs twice, its
 * last range wins.
 */
function concat(all) {
  const names = Object.keys(EMPTY).filter((name) => name !== 'ranges')
  const columns = Object.fromEntries(names.map((name) => [name, all.flatMap((one) => one[name])]))
  let before = 0
  const ranges = new Map()
  for (const { ranges: known, ids } of all) {
    for (const { sequence, start, end } of known) {
      ranges.set(sequence, { sequence, start: start + before, end: end + before })
    }
    before += ids.length
  }
  return { ...columns, ranges: [...ranges.values()] }
}

function mergeEncodings(encodings, growingOffsets = false) {
  if (!boundedArray(encodings, 'encodings').every((one) => one instanceof Encoding))
    throw typeError('encodings must be an array of encodings')
  if (encodings.some((one) => one.getOverflowing().length > 0))
    return encodings.reduce((first, second) => merge(first, second, growingOffsets ?? false), new Encoding())
  // Without overflowing parts, all are merged at once: one by one takes quadratic time.
  let before = 0
  const moved = encodings.map(({ columns }) => {
    const offsets = columns.offsets.map((place) => place + before)
    if (growingOffsets) before = offsets.at(-1) ?? before
    return { ...columns, offsets }
  })
  return Encoding.of(concat(moved))
}

/** Merges two encodings. The overflowing parts become all combinations, as in the original. */
function merge(first, second, growingOffsets) {
  const before = growingOffsets ? (first.columns.offsets.at(-1) ?? 0) : 0
  const { columns } = second
  const moved = { ...columns, offsets: columns.offsets.map((place) => place + before) }
  const all = concat([first.columns, moved])
  const [parts, others] = [first.getOverflowing(), second.getOverflowing()]
  const pairs = parts.flatMap((part) => [second, ...others].map((other) => [part, other]))
  for (const other of others) pairs.push([first, other])
  const withoutOverflow = (encoding) => Encoding.of(encoding.columns)
  const mergePair = ([one, other]) => merge(withoutOverflow(one), withoutOverflow(other), growingOffsets)
  return Encoding.of(all, pairs.map(mergePair))
}

/** A deep copy, overflowing parts included. */
const copyOf = (encoding) => Encoding.of(encoding.columns, encoding.getOverflowing().map(copyOf))

module.exports = { Encoding, mergeEncodings, copyOf }
