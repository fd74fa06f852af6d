// The memory for large rows, which the shards of a process share.

/**
 * Maximum size in bytes of the large rows that are in memory at the same time. A row needs several
 * times its size: for its line, its text, its ids and the output.
 */
export const LARGE_ROWS_BYTES = 16 << 20

/**
 * Reserves bytes for owners. Requests are granted in order, each as soon as enough bytes are free.
 */
export class RowMemory {
  #total
  #free
  #granted = /** @type {Map<object, number>} */ (new Map())
  #waiting = /** @type {{ owner: object, bytes: number, grant: () => void }[]} */ ([])

  constructor(total = LARGE_ROWS_BYTES) {
    this.#total = total
    this.#free = total
  }

  /** The number of bytes that are reserved. */
  get used() {
    return this.#total - this.#free
  }

  /**
   * Waits until `bytes` bytes are free, and reserves them for an owner that has no reservation. A
   * request for more than the total counts as a request for the total.
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

  /** Ends the reservation of an owner, or its wait for one. */
  release(owner) {
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
