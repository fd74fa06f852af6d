// Packs items of known lengths into rows of a capacity: best fit, longest first. Each item goes to
// the row with the least free space that it fits into.

/** Bits of a word of a set. */
const BITS = 32

/**
 * A set of numbers below a limit, which finds the next larger number in it. A bit of a level above
 * says whether a word of the level below has bits.
 */
class NumberSet {
  #levels = /** @type {Int32Array[]} */ ([])

  constructor(limit) {
    let words = limit
    do {
      words = Math.ceil(words / BITS)
      this.#levels.push(new Int32Array(words))
    } while (words > 1)
  }

  add(number) {
    for (const level of this.#levels) {
      level[number >>> 5] |= 1 << (number & 31)
      number >>>= 5
    }
  }

  delete(number) {
    for (const level of this.#levels) {
      level[number >>> 5] &= ~(1 << (number & 31))
      if (level[number >>> 5] !== 0) return
      number >>>= 5
    }
  }

  /** The smallest number of the set that is at least `number`; -1 if there is none. */
  atLeast(number) {
    for (let height = 0; height < this.#levels.length; height++) {
      const level = this.#levels[height]
      const word = number >>> 5
      if (word >= level.length) return -1
      const found = level[word] & (-1 << (number & 31))
      if (found !== 0) return this.#first(word * BITS + lowestBit(found), height)
      // No bit of this word: the next word is looked for in the level above.
      number = word + 1
    }
    return -1
  }

  /** The smallest number below a bit of a level. */
  #first(number, height) {
    for (let below = height - 1; below >= 0; below--) number = number * BITS + lowestBit(this.#levels[below][number])
    return number
  }
}

const lowestBit = (word) => 31 - Math.clz32(word & -word)

/**
 * Distributes items to rows.
 *
 * @param {ArrayLike<number>} lengths each is at least 1 and at most `capacity`
 * @param {number} capacity of a row, at most 2^30
 * @returns {number[][]} the items of each row
 */
export function bestFit(lengths, capacity) {
  const order = Uint32Array.from(lengths, (_, item) => item)
  order.sort((a, b) => lengths[b] - lengths[a] || a - b)
  const rows = /** @type {number[][]} */ ([])
  /** The rows with some free space, by that space. */
  const open = /** @type {Map<number, number[]>} */ (new Map())
  const spaces = new NumberSet(capacity + 1)
  for (const item of order) {
    const space = spaces.atLeast(lengths[item])
    const row = space === -1 ? rows.push([]) - 1 : take(open, spaces, space)
    rows[row].push(item)
    const left = (space === -1 ? capacity : space) - lengths[item]
    if (left === 0) continue
    const same = open.get(left)
    if (same !== undefined) same.push(row)
    else {
      open.set(left, [row])
      spaces.add(left)
    }
  }
  return rows
}

/** Takes a row with a given free space. */
function take(open, spaces, space) {
  const same = open.get(space)
  const row = same.pop()
  if (same.length === 0) {
    open.delete(space)
    spaces.delete(space)
  }
  return row
}
