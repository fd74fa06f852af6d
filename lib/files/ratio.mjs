// Limits what compressed data decompresses to.
//
// A few kilobytes can decompress to terabytes. Therefore the output is limited to FREE_BYTES plus
// `maxRatio` bytes for each compressed byte.

import { Failure } from './failure.mjs'

/** Number of decompressed bytes that are allowed at any ratio. */
const FREE_BYTES = 64 << 20
/** The ratio of text is seldom above 30. Files that repeat one line reach a few hundred. */
export const MAX_RATIO = 100

/** Counts bytes on both sides of a decompressor. */
export class Ratio {
  #most
  #read = 0
  #made = 0

  /** @param {number} [most] decompressed bytes per compressed byte */
  constructor(most = MAX_RATIO) {
    this.#most = most
  }

  read(bytes) {
    this.#read += bytes
  }

  make(bytes) {
    this.#made += bytes
    if (this.#made <= FREE_BYTES + this.#most * this.#read) return
    throw new Failure(
      'DECOMPRESS_LIMIT',
      `it decompresses to more than ${this.#most} times its size: '--max-ratio ${this.#most * 10}' allows more, if you trust it`,
    )
  }
}
