// Joins the parts of a text in one growing buffer, up to a limit. Parts are copied and not kept in
// a list, because they may be as small as a byte.

import { Failure } from './failure.mjs'

/** Initial size of the buffer. */
const FIRST_BYTES = 1 << 16

export class Gatherer {
  #buffer = Buffer.alloc(0)
  #length = 0
  #most
  #tooLong

  /**
   * @param {number} most maximum number of bytes
   * @param {(most: number) => Error} tooLong the error of a text that has more
   */
  constructor(most, tooLong) {
    this.#most = most
    this.#tooLong = tooLong
  }

  get length() {
    return this.#length
  }

  push(part) {
    const length = this.#length + part.length
    if (length > this.#most) throw this.#tooLong(this.#most)
    if (length > this.#buffer.length)
      this.#grow(Math.min(Math.max(length, 2 * this.#buffer.length, FIRST_BYTES), this.#most))
    part.copy(this.#buffer, this.#length)
    this.#length = length
  }

  /** Reserves space for a known number of bytes. */
  reserve(length) {
    if (length > this.#buffer.length) this.#grow(Math.min(length, this.#most))
  }

  /** Returns the text and starts the next one. */
  take() {
    const text = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
    return text
  }

  #grow(size) {
    let larger
    try {
      larger = Buffer.allocUnsafeSlow(size)
    } catch (cause) {
      throw new Failure('OUT_OF_MEMORY', `out of memory for a row of ${size} bytes`, { cause })
    }
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
