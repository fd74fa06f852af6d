// Inputs that are objects in a store. What is read of them ends with the signal of the job.

import { untilEnded } from 'tokenlane/internal/corpus.js'
import { inputChanged } from '../errors.mjs'
import { checkKey } from './address.mjs'
import { CHUNK_BYTES, Input } from './input.mjs'
import { objectsOf } from './objects.mjs'

/** Number of bytes that are read when an object is opened. */
const FIRST_BYTES = 1 << 17
/** Number of bytes per request when a range is read to its end. */
const REQUEST_BYTES = 8 << 20

/** An open object. All requests are for the version that the first request found. */
export class ObjectInput extends Input {
  #objects
  #object
  /** The bytes that were read when the object was opened, and their position. */
  #held
  #heldAt

  constructor(objects, object, held, heldAt) {
    super(object.address, object.size, object.mtime)
    this.#objects = objects
    this.#object = object
    this.#held = held
    this.#heldAt = heldAt
  }

  /**
   * @param {string} address
   * @param {number} [first] the position of the first bytes that are wanted
   */
  static async open(address, first = 0) {
    checkKey(address)
    const objects = await objectsOf(address)
    const { object, bytes } = await untilEnded(() => objects.open(address, first, FIRST_BYTES))
    return new ObjectInput(objects, object, bytes, first)
  }

  async read(position, length) {
    const end = Math.min(this.size, position + length)
    if (position >= end) return Buffer.alloc(0)
    const at = position - this.#heldAt
    if (at >= 0 && at + end - position <= this.#held.length) return this.#held.subarray(at, at + end - position)
    return untilEnded(() => this.#objects.range(this.#object, position, end))
  }

  /**
   * Yields a range in chunks, the first one of what was read at opening if the range starts there.
   * The next request is sent while a chunk is in use.
   */
  async *chunks(start, end, { onRead = (_chunk) => {} } = {}) {
    if (end > this.size) throw inputChanged(this.path, `it ends at byte ${this.size}, before byte ${end}`)
    const step = (from) => {
      const next = untilEnded(() => this.#objects.range(this.#object, from, Math.min(from + REQUEST_BYTES, end)))
      // The failure is reported when the promise is awaited.
      next.catch(() => {})
      return next
    }
    const held = start === this.#heldAt ? this.#held.subarray(0, end - start) : Buffer.alloc(0)
    let next = start >= end ? undefined : held.length > 0 ? Promise.resolve(held) : step(start)
    for (let position = start; position < end; ) {
      const bytes = await next
      position += bytes.length
      if (position < end) next = step(position)
      for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
        const chunk = bytes.subarray(from, from + CHUNK_BYTES)
        onRead(chunk)
        yield chunk
      }
    }
  }

  /** Each request was for the version that was opened, so there is nothing to compare. */
  async checkUnchanged() {}

  async close() {}
}
