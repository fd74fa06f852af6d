'use strict'

// Reads the rank formats of the package tiktoken. Tokens are binary strings: one character (U+0000
// to U+00FF) for each byte.

const { binaryOf, ofBase64, ofBinary } = require('./bytes.js')

/**
 * Converts ranks to lines of base64 and rank. The package's own files have a shorter form: a line
 * `! RANK TOKEN TOKEN …` gives consecutive ranks to its tokens.
 */
function plainRanks(text) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      if (!line.startsWith('! ')) return line
      const [, first, ...tokens] = line.split(' ')
      return tokens.map((token, index) => `${token} ${Number(first) + index}`).join('\n')
    })
    .join('\n')
}

/** The tokens of a rank file, parsed on first use. */
class RankTable {
  #read
  #ids
  #sorted
  #tokens
  #maxLength

  constructor(read) {
    this.#read = read
  }

  #all() {
    if (this.#ids === undefined) {
      const lines = this.#read()
        .split('\n')
        .filter((line) => line !== '')
      this.#ids = new Map(
        lines.map((line) => {
          const [token, rank] = line.split(' ')
          return [binaryOf(ofBase64(token)), Number(rank)]
        }),
      )
    }
    return this.#ids
  }

  /** Yields the bytes of each token and its rank. */
  *entries() {
    for (const [token, rank] of this.#all())
      yield/** @type {[Uint8Array, number]} */ ([Uint8Array.from(ofBinary(token)), rank])
  }

  id(token) {
    return this.#all().get(token)
  }

  token(id) {
    this.#tokens ??= new Map([...this.#all()].map(([token, rank]) => [rank, token]))
    return this.#tokens.get(id)
  }

  /** All tokens, sorted by their bytes. */
  get sorted() {
    this.#sorted ??= [...this.#all().keys()].sort()
    return this.#sorted
  }

  /** The number of bytes of the longest token. */
  get maxLength() {
    this.#maxLength ??= this.sorted.reduce((most, { length }) => Math.max(most, length), 0)
    return this.#maxLength
  }

  /** Yields the tokens that start with `prefix`. */
  *startingWith(prefix) {
    const { sorted } = this
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sorted[middle] < prefix) low = middle + 1
      else high = middle
    }
    for (; low < sorted.length && sorted[low].startsWith(prefix); low++) yield sorted[low]
  }

  /**
   * Applies BPE to bytes that need not be valid UTF-8: merges the leftmost pair of the lowest rank
   * until no pair is a token.
   */
  merge(bytes) {
    if (this.id(bytes) !== undefined) return [this.id(bytes)]
    const parts = [...bytes]
    const rankAt = (index) => this.id(parts[index] + parts[index + 1]) ?? Infinity
    // The rank of each part and the next one.
    const ranks = parts.map((_, index) => (index + 1 < parts.length ? rankAt(index) : Infinity))
    for (;;) {
      let at = 0
      for (let index = 1; index < ranks.length; index++) if (ranks[index] < ranks[at]) at = index
      if (ranks[at] === Infinity) return parts.map((part) => this.id(part))
      parts.splice(at, 2, parts[at] + parts[at + 1])
      ranks.splice(at, 1)
      ranks[at] = at + 1 < parts.length ? rankAt(at) : Infinity
      if (at > 0) ranks[at - 1] = rankAt(at - 1)
    }
  }
}

module.exports = { RankTable, plainRanks }
