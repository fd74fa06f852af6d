// Computes where rows and documents end in the tokens of a shard.

/** Divides tokens into rows of a fixed length. The last row has the tokens that are left. */
export class Packer {
  #length
  #total = 0
  #closed = 0

  constructor(length) {
    this.#length = length
  }

  /** Adds tokens. Returns the number of rows that became full. */
  add(tokens) {
    this.#total += tokens
    const full = Math.floor(this.#total / this.#length) - this.#closed
    this.#closed += full
    return full
  }

  /** The number of tokens in the last row, if that is not full; otherwise 0. */
  get rest() {
    return this.#total % this.#length
  }
}

/** Turns lengths into end positions, counted from the start of the shard. */
export class Ends {
  #last = 0

  /** @param {Uint32Array} lengths */
  of(lengths) {
    const ends = new BigUint64Array(lengths.length)
    for (let row = 0; row < lengths.length; row++) {
      this.#last += lengths[row]
      ends[row] = BigInt(this.#last)
    }
    return ends
  }
}

/**
 * The lengths of the rows that a block completes: its own, or those of `packer`, which is undefined
 * if documents are rows.
 */
export const rowLengths = ({ tokens, lengths, rows }, packer, pack) =>
  rows ?? (packer === undefined ? lengths : new Uint32Array(packer.add(tokens.length)).fill(pack))

/** The length of the last row, if that is not full, as an array of one number or none. */
export const lastRow = (packer) =>
  packer === undefined || packer.rest === 0 ? new Uint32Array(0) : Uint32Array.of(packer.rest)
