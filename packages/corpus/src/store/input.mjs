// The base class of inputs. A subclass for each store reads the bytes.

import { createHash } from 'node:crypto'

/** Size of a chunk in bytes. */
export const CHUNK_BYTES = 1 << 20
/** Number of bytes at each end of a range that its sample covers. */
export const SAMPLE_BYTES = 1 << 16

/** An open input. Errors name its path. */
export class Input {
  /** The last sample, with the range that it covers. */
  #sampled = { name: '', sha256: '' }

  /**
   * @param {string} path the path as the user named it
   * @param {number} size in bytes, when it was opened
   * @param {number} mtime the time of its last change, in milliseconds
   */
  constructor(path, size, mtime) {
    this.path = path
    this.size = size
    this.mtime = mtime
  }

  /**
   * Reads `length` bytes from a position on; fewer at the end of the input.
   *
   * @abstract
   * @param {number} _position
   * @param {number} _length
   * @returns {Promise<Buffer>}
   */
  async read(_position, _length) {
    throw new Error('a subclass reads')
  }

  /** The SHA-256 of the first and the last bytes of a range, or of all bytes of a short range. */
  async sample(start, end) {
    const name = `${start} ${end}`
    if (this.#sampled.name === name) return this.#sampled.sha256
    const hash = createHash('sha256')
    hash.update(await this.read(start, Math.min(SAMPLE_BYTES, end - start)))
    const tail = Math.max(start + SAMPLE_BYTES, end - SAMPLE_BYTES)
    if (tail < end) hash.update(await this.read(tail, end - tail))
    this.#sampled = { name, sha256: hash.digest('hex') }
    return this.#sampled.sha256
  }

  /**
   * The end of the row that contains the byte before `position`: after the next line feed, or at
   * the end of the input.
   */
  async recordEnd(position) {
    for (let from = position - 1; from < this.size; from += CHUNK_BYTES) {
      const chunk = await this.read(from, CHUNK_BYTES)
      const newline = chunk.indexOf(10)
      if (newline !== -1) return from + newline + 1
      if (chunk.length < CHUNK_BYTES) break
    }
    return this.size
  }
}
