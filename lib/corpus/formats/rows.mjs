// Where rows and documents start among the tokens of a shard.

/** The lengths of rows of a fixed length; the last one is what is left. */
export class Packer {
  #length
  #total = 0
  #closed = 0

  constructor(length) {
    this.#length = length
  }

  /** Adds tokens; returns the number of rows that became full. */
  add(tokens) {
    this.#total += tokens
    const full = Math.floor(this.#total / this.#length) - this.#closed
    this.#closed += full
    return full
  }

  /** Tokens of the last row, which is not full; 0 if there is none. */
  get rest() {
    return this.#total % this.#length
  }
}

/** The ends of rows, counted from the start of the shard. */
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

/** The lengths of the rows that a block completes. `packer` is undefined if documents are rows. */
export const rowLengths = ({ tokens, lengths }, packer, pack) =>
  packer === undefined ? lengths : new Uint32Array(packer.add(tokens.length)).fill(pack)

/** The last row, if there is one that is not full. */
export const lastRow = (packer) =>
  packer === undefined || packer.rest === 0 ? new Uint32Array(0) : Uint32Array.of(packer.rest)
