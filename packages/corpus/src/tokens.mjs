// The tokens of a block of documents. Writers get them as arrays, one after the other, so that the
// tokens of a long document are not copied as a whole.

import { SIZES } from './sizes.mjs'

/** The largest id of each type. Megatron's type of 32 bits is signed. */
export const MAX_IDS = { u16: 65535, u32: 2 ** 31 - 1 }

const VIEWS = { u16: Uint16Array, u32: Uint32Array }

/**
 * Whether the tokens of a job have a loss mask: its documents are chats.
 *
 * @param {{ messages?: string }} content
 */
export const hasLossMask = ({ messages }) => messages !== undefined

/** The array type for the ids in files. Those of jsonl and parquet, which set no type, are u32. */
export const fileViewOf = ({ type = 'u32' }) => VIEWS[type]

/** The array type for the tokens of a job in memory, which have their loss mask (loss-mask.mjs). */
export const viewOf = (content) => (hasLossMask(content) ? Uint32Array : fileViewOf(content))

/** @typedef {Iterable<Uint16Array | Uint32Array>} Pieces */

/**
 * The tokens of documents, end to end.
 *
 * @typedef {object} Tokens
 * @property {number} length the number of tokens
 * @property {() => Pieces} pieces the tokens of all documents. An array is valid until the second
 *   next one is requested, from this block or a later one
 * @property {() => Iterable<Pieces>} documents for each document its tokens. An array is valid
 *   until the next one is requested
 */

/**
 * Tokens that are in one array already.
 *
 * @implements {Tokens}
 */
export class WholeTokens {
  #tokens
  #lengths

  /**
   * @param {Uint16Array | Uint32Array} tokens
   * @param {Uint32Array} lengths of the documents
   */
  constructor(tokens, lengths) {
    this.#tokens = tokens
    this.#lengths = lengths
  }

  get length() {
    return this.#tokens.length
  }

  pieces() {
    return [this.#tokens]
  }

  *documents() {
    let from = 0
    for (const length of this.#lengths) yield [this.#tokens.subarray(from, (from += length))]
  }
}

/** Two buffers, which are used in turn: one is filled while the other one is written. */
export class PieceBuffers {
  #buffers

  /**
   * @param {Uint16ArrayConstructor | Uint32ArrayConstructor} View
   * @param {import('./sizes.mjs').Sizes} [sizes]
   */
  constructor(View, { piece } = SIZES) {
    this.#buffers = [new View(piece), new View(piece)]
  }

  /** Size of a number in bytes. */
  get width() {
    return this.#buffers[0].BYTES_PER_ELEMENT
  }

  next() {
    this.#buffers.reverse()
    return this.#buffers[0]
  }
}

/**
 * Tokens that are copied out of a batch, because a document has further tokens, or fewer, or the
 * numbers have another type.
 *
 * @implements {Tokens}
 */
export class CopiedTokens {
  #batch
  #kept
  #ends
  #buffers

  /**
   * @param {{ ids: Uint32Array, rowOffsets: Uint32Array }} batch
   * @param {Uint32Array} kept the number of ids of each row that are used; without any, a row has
   *   no tokens
   * @param {{ bos: Uint32Array, eos: Uint32Array, length: number }} ends the tokens before and
   *   after each row, and the number of all tokens
   * @param {PieceBuffers} buffers
   */
  constructor({ ids, rowOffsets }, kept, ends, buffers) {
    this.#batch = { ids, rowOffsets }
    this.#kept = kept
    this.#ends = ends
    this.#buffers = buffers
  }

  get length() {
    return this.#ends.length
  }

  pieces() {
    return this.#joined(0, this.#kept.length)
  }

  *documents() {
    for (let row = 0; row < this.#kept.length; row++) {
      if (this.#hasIds(row)) yield this.#joined(row, row + 1)
    }
  }

  #hasIds(row) {
    return this.#kept[row] > 0
  }

  /** The arrays whose copies are the tokens of some rows. */
  *#sources(first, end) {
    const { ids, rowOffsets } = this.#batch
    const { bos, eos } = this.#ends
    for (let row = first; row < end; row++) {
      if (!this.#hasIds(row)) continue
      yield bos
      yield ids.subarray(rowOffsets[row], rowOffsets[row] + this.#kept[row])
      yield eos
    }
  }

  *#joined(first, end) {
    let buffer = this.#buffers.next()
    let to = 0
    for (const source of this.#sources(first, end)) {
      for (let from = 0; from < source.length; ) {
        if (to === buffer.length) {
          yield buffer
          buffer = this.#buffers.next()
          to = 0
        }
        const count = Math.min(source.length - from, buffer.length - to)
        buffer.set(source.subarray(from, from + count), to)
        from += count
        to += count
      }
    }
    if (to > 0) yield buffer.subarray(0, to)
  }
}
