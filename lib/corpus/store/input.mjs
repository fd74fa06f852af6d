// What inputs of every store have in common. A subclass reads bytes.

import { createHash } from 'node:crypto'

/** Bytes of a chunk. */
export const CHUNK = 1 << 20
/** Bytes at each end of a range that its sample covers. */
const SAMPLE = 1 << 16

/** An input that is open. Errors name its path. */
export class Input {
  /** The sample that was made last. */
  #sampled = { name: '', sha256: '' }

  /**
   * @param {string} path as it was named
   * @param {number} size in bytes, when it was opened
   * @param {number} mtime when it was changed last, in milliseconds
   */
  constructor(path, size, mtime) {
    this.path = path
    this.size = size
    this.mtime = mtime
  }

  /**
   * Up to `length` bytes from a position on; fewer only at the end of the input.
   *
   * @abstract
   * @param {number} _position
   * @param {number} _length
   * @returns {Promise<Buffer>}
   */
  async read(_position, _length) {
    throw new Error('a subclass reads')
  }

  /** SHA-256 of the first and the last bytes of a range; of a short range it covers all. */
  async sample(start, end) {
    const name = `${start} ${end}`
    if (this.#sampled.name === name) return this.#sampled.sha256
    const hash = createHash('sha256')
    hash.update(await this.read(start, Math.min(SAMPLE, end - start)))
    const tail = Math.max(start + SAMPLE, end - SAMPLE)
    if (tail < end) hash.update(await this.read(tail, end - tail))
    this.#sampled = { name, sha256: hash.digest('hex') }
    return this.#sampled.sha256
  }

  /**
   * The end of the record that has the byte before `position`: behind the next line end, or the end
   * of the input.
   */
  async recordEnd(position) {
    for (let from = position - 1; from < this.size; from += CHUNK) {
      const chunk = await this.read(from, CHUNK)
      const newline = chunk.indexOf(10)
      if (newline !== -1) return from + newline + 1
      if (chunk.length < CHUNK) break
    }
    return this.size
  }
}
