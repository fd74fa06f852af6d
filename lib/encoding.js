'use strict'

const { typeError } = require('./errors.js')
const { countResult } = require('./memory.js')
const native = require('./native.js')
const { COLUMN_NAMES, LITERAL, checkId, hasOffsets, hasWords, withOverflow } = require('./options.js')
const { isArray } = require('./realm.js')
const { copyOfBytes, unproxied } = require('./texts.js')

// The indices of the columns. Two pseudo-columns of src/encoding.rs follow them.
const OFFSETS = COLUMN_NAMES.indexOf('offsets')
const TOKENS = COLUMN_NAMES.indexOf('tokens')
const SPECIAL_TOKENS_MASK = COLUMN_NAMES.indexOf('specialTokensMask')
const TYPE_IDS = COLUMN_NAMES.indexOf('typeIds')
const ATTENTION_MASK = COLUMN_NAMES.indexOf('attentionMask')
const WORD_IDS = COLUMN_NAMES.indexOf('wordIds')
const SEQUENCE_IDS = COLUMN_NAMES.indexOf('sequenceIds')
const ROWS = COLUMN_NAMES.length
const RANGES = COLUMN_NAMES.length + 1

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

const asIs = (column) => column
const asUint32 = (buffer) => new Uint32Array(buffer)
// The core's value for "none", u32::MAX, becomes -1.
const asInt32 = (buffer) => new Int32Array(buffer)
const VIEWS = Array(RANGES + 1).fill(asUint32)
for (const column of [TOKENS, SPECIAL_TOKENS_MASK, ATTENTION_MASK]) VIEWS[column] = asIs
for (const column of [WORD_IDS, SEQUENCE_IDS]) VIEWS[column] = asInt32

// The order in which src/encoding.rs packs the numeric columns, with the number of values per
// token. The ranges follow, aligned to four bytes.
/** @type {[number, any, number][]} */
const PACKED = [
  [OFFSETS, Uint32Array, 2],
  [TYPE_IDS, Uint32Array, 1],
  [WORD_IDS, Int32Array, 1],
  [SEQUENCE_IDS, Int32Array, 1],
  [SPECIAL_TOKENS_MASK, Uint8Array, 1],
  [ATTENTION_MASK, Uint8Array, 1],
]

/** An input with its options. Columns that the first call did not compute are computed from it. */
class Source {
  #handle
  #text
  #pair
  #flags
  #extra
  #columns
  #packed

  constructor(handle, text, pair, flags, extra) {
    this.#handle = handle
    this.#text = text
    this.#pair = pair
    this.#flags = flags
    this.#extra = extra
  }

  get hasOffsets() {
    return hasOffsets(this.#flags)
  }

  /** The length of the input, in UTF-16 units or bytes. */
  get size() {
    const sizeOf = (text) =>
      Array.isArray(text) ? text.reduce((sum, word) => sum + sizeOf(word), 0) : (text?.length ?? 0)
    return sizeOf(this.#text) + (this.#flags & LITERAL ? 0 : sizeOf(this.#pair))
  }

  /** The same input, with the overflowing parts. */
  withOverflow() {
    return new Source(this.#handle, this.#text, this.#pair, withOverflow(this.#flags), this.#extra)
  }

  /**
   * A column over all rows. The first column is computed alone. The second one encodes the input
   * again and computes all numeric columns, because encoding costs more than the columns.
   */
  column(which) {
    if (this.#columns?.[which] === undefined) {
      const isAlone = this.#columns === undefined || which === TOKENS || which === ROWS
      const column = isAlone ? VIEWS[which](this.#call(native.column, which)) : this.#numbers(which)
      countResult(column.byteLength ?? 0)
      this.#columns ??= []
      this.#columns[which] = column
    }
    return this.#columns[which]
  }

  #call(call, which) {
    return call(this.#handle, this.#text, this.#pair, this.#flags, this.#extra, which)
  }

  /** Copies a column out of the buffer with all numeric columns. */
  #numbers(which) {
    if (this.#packed === undefined) {
      this.#packed = this.#call(native.numbers)
      countResult(this.#packed.byteLength)
    }
    const [tokens] = new Uint32Array(this.#packed, 0, 1)
    let at = 4
    for (const [number, View, width] of PACKED) {
      const length = number === OFFSETS && !this.hasOffsets ? 0 : tokens * width
      if (number === which) return new View(this.#packed, at, length).slice()
      at += length * View.BYTES_PER_ELEMENT
    }
    return new Uint32Array(this.#packed, Math.ceil(at / 4) * 4)
  }
}

// Makes the constructor private: only the functions below create encodings.
const INTERNAL = Symbol('internal')

/**
 * The encoding of an input. Nobody else can change the ids, the text and the pair.
 *
 * @type {(ids: Uint32Array, handle: object, text: any, pair: any, flags: number, extra: any) =>
 *   Encoding}
 */
let encodingOf

/**
 * An encoding without an input of its own; `more.source` has its columns.
 *
 * @type {(ids: Uint32Array, more: object) => Encoding}
 */
let encodingOfSource

/**
 * The encoding of one input. The ids are stored; every other column is computed from the input on
 * first use. An overflowing part is a row of its source. Callers of most encodings read
 * only the ids, so the rest is one object that is created on first use.
 */
class Encoding {
  static {
    encodingOf = (ids, handle, text, pair, flags, extra) => {
      const encoding = new Encoding(INTERNAL, ids)
      encoding.#handle = handle
      encoding.#text = text
      encoding.#pair = pair
      encoding.#flags = flags
      encoding.#extra = extra
      return encoding
    }
    encodingOfSource = (ids, more) => {
      const encoding = new Encoding(INTERNAL, ids)
      encoding.#more = more
      return encoding
    }
  }

  #ids
  #handle
  #text
  #pair
  #flags
  #extra
  #more

  constructor(internal, ids) {
    if (internal !== INTERNAL) {
      throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'Encoding has no public constructor; call tokenizer.encode()')
    }
    this.#ids = ids
  }

  /** The source with the place of this part in it, and everything that was computed from it. */
  get #rest() {
    this.#more ??= {
      source: new Source(this.#handle, this.#text, this.#pair, this.#flags, this.#extra),
      row: 0,
      start: 0,
      overflow: undefined,
      columns: undefined,
      ranges: undefined,
      overflowing: undefined,
    }
    return this.#more
  }

  get ids() {
    return this.#ids
  }

  get length() {
    return this.#ids.length
  }

  get offsets() {
    return this.#rest.source.hasOffsets ? this.#column(OFFSETS, 2) : undefined
  }

  get tokens() {
    return this.#column(TOKENS)
  }

  get specialTokensMask() {
    return this.#column(SPECIAL_TOKENS_MASK)
  }

  get typeIds() {
    return this.#column(TYPE_IDS)
  }

  get attentionMask() {
    return this.#column(ATTENTION_MASK)
  }

  get wordIds() {
    return this.#column(WORD_IDS)
  }

  get sequenceIds() {
    return this.#column(SEQUENCE_IDS)
  }

  get overflowing() {
    const rest = this.#rest
    rest.overflowing ??= rest.overflow === undefined ? this.#parts() : rest.overflow()
    return rest.overflowing
  }

  /** The overflowing parts. The overflow of a part consists of parts of the same list. */
  #parts() {
    const source = this.#rest.source.withOverflow()
    const words = source.column(ROWS)
    const ends = words.subarray(1, 1 + words[0])
    let at = 1 + words[0]
    const places = Array.from(ends, () => {
      const start = at + 1
      at = start + words[at]
      return words.subarray(start, at)
    })
    const ids = words.subarray(at)
    const parts = Array.from(ends.subarray(1), (end, index) => {
      const overflow = () => Array.from(places[index + 1], (place) => parts[place])
      const more = { source, row: index + 1, start: ends[index], overflow }
      return encodingOfSource(ids.slice(ends[index], end), more)
    })
    return parts
  }

  get sequenceRanges() {
    const rest = this.#rest
    if (rest.ranges === undefined) {
      const words = rest.source.column(RANGES)
      let at = 0
      for (let row = 0; row < rest.row; row++) at += 1 + words[at] * 3
      rest.ranges = Array.from({ length: words[at] }, (_, index) => {
        const [sequence, start, end] = words.subarray(at + 1 + index * 3)
        return { sequence, start, end }
      })
    }
    return rest.ranges
  }

  [Symbol.iterator]() {
    const ids = this.#ids
    try {
      return ids[Symbol.iterator]()
    } catch {
      throw typeError('ERR_TOKENLANE_BUFFER', 'the memory of the encoding was detached: it was transferred')
    }
  }

  toJSON() {
    return require('./print.js').encodingJson(this)
  }

  /** @param {import('./print.js').InspectArguments} args */
  [INSPECT](...args) {
    if (!(#ids in this)) return 'Encoding.prototype'
    return require('./print.js').printEncoding(this, this.#rest.source.size, ...args)
  }

  tokenToSequence(token) {
    checkId('token', token)
    // As in Hugging Face's library, one past the last token has a sequence too.
    if (this.sequenceRanges.length === 0) return token <= this.length ? 0 : undefined
    const found = this.sequenceRanges.filter(({ start, end }) => start <= token && token < end)
    return found.length > 0 ? Math.max(...found.map(({ sequence }) => sequence)) : undefined
  }

  tokenToChars(token) {
    if (this.tokenToSequence(token) === undefined || token >= this.length) return undefined
    const { offsets } = this
    return offsets && [offsets[2 * token], offsets[2 * token + 1]]
  }

  tokenToWord(token) {
    if (this.tokenToSequence(token) === undefined || token >= this.length) return undefined
    const word = this.wordIds[token]
    return word === -1 ? undefined : word
  }

  wordToTokens(word, sequence = 0) {
    checkId('word', word)
    const [from, to] = this.#rangeOf(sequence)
    const { wordIds } = this
    /** @type {[number, number] | undefined} */
    let found
    for (let token = from; token < to && wordIds[token] <= word; token++) {
      if (wordIds[token] === word) found = [found?.[0] ?? token, token + 1]
    }
    return found
  }

  wordToChars(word, sequence = 0) {
    const tokens = this.wordToTokens(word, sequence)
    const { offsets } = this
    return tokens && offsets && [offsets[2 * tokens[0]], offsets[2 * tokens[1] - 1]]
  }

  charToToken(place, sequence = 0) {
    checkId('place', place)
    const [from, to] = this.#rangeOf(sequence)
    const { offsets } = this
    if (offsets === undefined) return undefined
    for (let token = from; token < to; token++) {
      if (offsets[2 * token] <= place && place < offsets[2 * token + 1]) return token
    }
    return undefined
  }

  charToWord(place, sequence = 0) {
    const token = this.charToToken(place, sequence)
    return token === undefined ? undefined : this.tokenToWord(token)
  }

  /**
   * The token range of a sequence. As in Hugging Face's library, an unknown sequence has all
   * tokens.
   */
  #rangeOf(sequence) {
    checkId('sequence', sequence)
    const found = this.sequenceRanges.find((range) => range.sequence === sequence)
    return found === undefined ? [0, this.length] : [found.start, found.end]
  }

  #column(which, width = 1) {
    const rest = this.#rest
    rest.columns ??= []
    if (rest.columns[which] === undefined) {
      const whole = rest.source.column(which)
      const [start, end] = [rest.start * width, (rest.start + this.length) * width]
      rest.columns[which] = whole.length === end - start ? whole : whole.slice(start, end)
    }
    return rest.columns[which]
  }
}

// The addon writes the ids of one text to these buffers; longer results have their own memory. They
// are never visible to callers. The first is memory that the addon knows; there is none in
// WebAssembly and where external memory is not allowed.
const shared = native.sharedIds?.()
const scratch = new Uint32Array(4096)

// The fastest call for one string shorter than SHORT_TEXT_UNITS (see src/node_api/short.rs). It
// returns undefined if the general call has to be made.
const SHORT_TEXT_UNITS = 4096
const encodeShort = shared === undefined ? () => undefined : native.encodeShort

/** Up to this number of ids, a loop is faster than a typed array's method. */
const FEW_IDS = 64

function shortIds(handle, text, flags) {
  const count = encodeShort(handle, text, flags)
  // The array has no ids if a caller replaced built-in methods to get access to it and detached it.
  if (count === undefined || count > shared.length) return undefined
  if (count > FEW_IDS) {
    countResult(4 * count)
    return shared.slice(0, count)
  }
  const ids = new Uint32Array(count)
  for (let index = 0; index < count; index++) ids[index] = shared[index]
  return ids
}

/**
 * Encodes a text, or a text and a pair.
 *
 * @param {object} handle
 * @param {any} text
 * @param {any} pair
 * @param {number} flags
 * @param {any} extra options
 */
function encodeOne(handle, text, pair, flags, extra) {
  const words = hasWords(flags)
  // Bytes and arrays can change before another column is computed; a string cannot.
  const isString = typeof text === 'string' && pair === undefined
  if (isString && !words && extra === undefined && text.length < SHORT_TEXT_UNITS) {
    const ids = shortIds(handle, text, flags)
    if (ids !== undefined) return encodingOf(ids, handle, text, undefined, flags, undefined)
  }
  const [first, second] = words ? [unproxied('text', text), unproxied('pair', pair)] : [text, pair]
  const found = native.encode(handle, first, second, flags, extra, scratch)
  const ids = typeof found === 'number' ? scratch.slice(0, found) : new Uint32Array(found)
  countResult(ids.byteLength)
  return encodingOf(ids, handle, snapshotOf(first), snapshotOf(second), flags, extra)
}

/** Copies a text or an array of words, so that the caller cannot change it. */
function snapshotOf(text) {
  if (isArray(text)) return Array.from(text, snapshotOf)
  return copyOfBytes(text)
}

module.exports = { Encoding, SHORT_TEXT_UNITS, encodeOne, encodingOfSource }
