// Memory that the shards of a process share.

/**
 * Bytes of large rows that are in memory at a time. A row needs several times its size: its line,
 * its text, its ids, and what is written.
 */
export const LARGE_ROWS = 16 << 20

/** Grants bytes in the order of the requests, each of them when there is room for it. */
export class ByteBudget {
  #total
  #free
  #granted = /** @type {Map<object, number>} */ (new Map())
  #waiting = /** @type {{ owner: object, bytes: number, grant: () => void }[]} */ ([])

  constructor(total = LARGE_ROWS) {
    this.#total = total
    this.#free = total
  }

  /** Bytes that are granted. */
  get used() {
    return this.#total - this.#free
  }

  /**
   * Resolves when the owner, which has none yet, may use so many bytes. More than the total is
   * granted when nobody else has any.
   *
   * @param {object} owner
   * @param {number} bytes
   */
  async take(owner, bytes) {
    await new Promise((resolve) => {
      this.#waiting.push({ owner, bytes: Math.min(bytes, this.#total), grant: () => resolve(undefined) })
      this.#grant()
    })
  }

  /** Takes back what an owner has, and what it waits for. */
  giveBack(owner) {
    this.#waiting = this.#waiting.filter((request) => request.owner !== owner)
    this.#free += this.#granted.get(owner) ?? 0
    this.#granted.delete(owner)
    this.#grant()
  }

  #grant() {
    while (this.#waiting.length > 0 && this.#waiting[0].bytes <= this.#free) {
      const { owner, bytes, grant } = /** @type {any} */ (this.#waiting.shift())
      this.#free -= bytes
      this.#granted.set(owner, bytes)
      grant()
    }
  }
}
