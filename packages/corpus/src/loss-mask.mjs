// Loss masks: which tokens of a chat the assistant wrote. In memory the mask of a token is the
// highest bit of its id, so that whatever moves tokens moves their masks with them. In files, ids
// and masks are apart: writers divide them, and readers join them.

import { PieceBuffers, fileViewOf, hasLossMask } from './tokens.mjs'

/** @typedef {import('tokenlane/internal/files.mjs').NumberFile} NumberFile */

/** Largest id; ids of corpora have 31 bits. */
const ID_BITS = 2 ** 31 - 1
const MASK_SHIFT = 31

/**
 * Joins ids and their masks.
 *
 * @param {Uint16Array | Uint32Array} ids
 * @param {Uint8Array} mask
 */
export function joinMask(ids, mask) {
  const tokens = Uint32Array.from(ids)
  for (let at = 0; at < tokens.length; at++) if (mask[at] === 1) tokens[at] |= ~ID_BITS
  return tokens
}

/** The id of a token. */
export const idOfToken = (token) => token & ID_BITS

/** The mask of a token: 1 if the assistant wrote it, else 0. */
export const maskOfToken = (token) => token >>> MASK_SHIFT

/** The number of tokens in a range that the assistant wrote. */
export function lossTokensOf(tokens, from, to) {
  let count = 0
  for (let at = from; at < to; at++) count += maskOfToken(tokens[at])
  return count
}

/**
 * The file of the tokens of a shard: that of the ids, or both if the tokens have a loss mask.
 *
 * @param {import('./options.mjs').Content} content
 * @param {NumberFile} ids
 * @param {() => Promise<NumberFile>} createMask
 * @param {import('./sizes.mjs').Sizes} sizes
 */
export const withLossMask = async (content, ids, createMask, sizes) =>
  hasLossMask(content) ? new MaskedNumbers(content, ids, await createMask(), sizes) : ids

/** Divides arrays of tokens, and writes ids and masks to two files. */
class MaskedNumbers {
  #ids
  #mask
  #idBuffers
  #maskBuffers

  /**
   * @param {import('./options.mjs').Content} content
   * @param {NumberFile} ids
   * @param {NumberFile} mask
   * @param {import('./sizes.mjs').Sizes} sizes
   */
  constructor(content, ids, mask, sizes) {
    this.#ids = ids
    this.#mask = mask
    this.#idBuffers = new PieceBuffers(fileViewOf(content), sizes)
    this.#maskBuffers = new PieceBuffers(/** @type {any} */ (Uint8Array), sizes)
  }

  /** @param {Uint32Array} tokens */
  async write(tokens) {
    for (let from = 0; from < tokens.length; ) {
      const [ids, mask] = [this.#idBuffers.next(), this.#maskBuffers.next()]
      const count = Math.min(ids.length, tokens.length - from)
      for (let at = 0; at < count; at++) {
        ids[at] = idOfToken(tokens[from + at])
        mask[at] = maskOfToken(tokens[from + at])
      }
      await this.#ids.write(ids.subarray(0, count))
      await this.#mask.write(mask.subarray(0, count))
      from += count
    }
  }

  async finish() {
    await this.#ids.finish()
    await this.#mask.finish()
  }
}
