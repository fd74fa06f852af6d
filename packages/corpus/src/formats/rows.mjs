// Where rows and documents end in the tokens of a shard.

/**
 * The tokens of several documents.
 *
 * @typedef {object} Block
 * @property {import('../tokens.mjs').Tokens} tokens of all documents, end to end
 * @property {Uint32Array} lengths of the documents; none is empty
 * @property {Uint32Array} [rows] the lengths of the rows that end in it, if documents are no rows
 * @property {boolean} [isLarge] whether this block has to be on disk before the next one is made
 * @property {{ id?: string, path: string, at: number }[]} documents
 */

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
 * Divides the tokens of blocks into rows: of best fit, of a length, or a row for each document.
 */
export class Rows {
  #pack
  /** The tokens of the current row so far. */
  #filled = 0

  /** @param {number} [pack] the length of rows; `undefined`: that of each document */
  constructor(pack) {
    this.#pack = pack
  }

  /** Whether there are tokens of a row that is not full. */
  get isOpen() {
    return this.#filled > 0
  }

  /**
   * The parts of documents that lie in one row, in pieces: ids that are valid until the next piece,
   * the id of their document, the length of the row, and whether a document or the row starts with
   * them, and the row ends.
   *
   * @param {Block} block
   */
  *pieces({ tokens, lengths, rows, documents }) {
    let [document, row] = [0, 0]
    for (const arrays of tokens.documents()) {
      const { id } = documents[document]
      let startsDocument = true
      for (const ids of arrays) {
        for (let from = 0; from < ids.length; ) {
          const length = rows?.[row] ?? this.#pack ?? lengths[document]
          const startsRow = this.#filled === 0
          const to = Math.min(ids.length, from + length - this.#filled)
          this.#filled += to - from
          const endsRow = this.#filled === length
          if (endsRow) [this.#filled, row] = [0, row + 1]
          yield { ids: ids.subarray(from, to), id, length, startsDocument, startsRow, endsRow }
          startsDocument = false
          from = to
        }
      }
      document += 1
    }
  }
}
