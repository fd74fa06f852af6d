// Memory for the texts of a batch. It is used again when the batch is encoded, so that the garbage
// collector has nothing to do.

/** Bytes of a block. Longer texts have a block of their own, of a power of two bytes. */
const BLOCK = 4 << 20
/** Long blocks that are kept, and the most bytes of one. */
const LONG_BLOCKS = 2
const MAX_KEPT = 32 << 20

/** The texts of one batch. */
class Arena {
  #pool
  #blocks = /** @type {Buffer[]} */ ([])
  #left = Buffer.alloc(0)

  constructor(pool) {
    this.#pool = pool
  }

  /** Reserves this number of bytes. Bytes that are not kept are reserved again by the next call. */
  room(length) {
    if (length <= this.#left.length) return this.#left
    this.#left = this.#pool.take(length)
    this.#blocks.push(this.#left)
    return this.#left
  }

  /** Keeps the first bytes of the room. */
  keep(length) {
    const kept = this.#left.subarray(0, length)
    this.#left = this.#left.subarray(length)
    return kept
  }

  copy(bytes) {
    bytes.copy(this.room(bytes.length))
    return this.keep(bytes.length)
  }

  /** Gives the memory back. The texts must not be used any more. */
  release() {
    this.#pool.give(this.#blocks)
    this.#blocks = []
    this.#left = Buffer.alloc(0)
  }
}

/** Blocks that no batch uses. */
export class ArenaPool {
  #free = /** @type {Buffer[]} */ ([])
  #long = /** @type {Buffer[]} */ ([])

  arena() {
    return new Arena(this)
  }

  take(length) {
    if (length > BLOCK) {
      const found = this.#long.findIndex((block) => block.length >= length)
      if (found !== -1) return this.#long.splice(found, 1)[0]
      return Buffer.allocUnsafeSlow(length > MAX_KEPT ? length : 2 ** Math.ceil(Math.log2(length)))
    }
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK)
  }

  give(blocks) {
    for (const block of blocks) {
      if (block.length === BLOCK) this.#free.push(block)
      else if (block.length <= MAX_KEPT && this.#long.length < LONG_BLOCKS) this.#long.push(block)
    }
  }
}
