// Finds documents that occur more than once in the inputs of a merge, by the SHA-256 of their
// tokens, of which 128 bits are compared. The first one in the order of the inputs stays.

import { createHash } from 'node:crypto'

import { SIZES } from '../sizes.mjs'

/**
 * A set of hashes of 128 bits, with open addressing. It has at least twice as many slots as
 * hashes, so it takes 32 to 64 bytes for each of them.
 */
export class HashSet {
  #slots
  #size = 0

  constructor(slots) {
    this.#slots = new BigUint64Array(2 * slots)
  }

  /** Adds a hash, two numbers that are not both 0. Returns whether it was not there. */
  add(high, low) {
    const slots = this.#slots
    const mask = slots.length / 2 - 1
    for (let at = Number(low & 0xffffffffn) & mask; ; at = (at + 1) & mask) {
      const [foundHigh, foundLow] = [slots[2 * at], slots[2 * at + 1]]
      if (foundHigh === high && foundLow === low) return false
      if (foundHigh !== 0n || foundLow !== 0n) continue
      slots[2 * at] = high
      slots[2 * at + 1] = low
      this.#size += 1
      if (this.#size > mask / 2) this.#grow()
      return true
    }
  }

  #grow() {
    const old = this.#slots
    this.#slots = new BigUint64Array(2 * old.length)
    this.#size = 0
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0n || old[at + 1] !== 0n) this.add(old[at], old[at + 1])
  }
}

/**
 * Marks the documents of the inputs that occurred before: sets `unique` of each shard.
 *
 * @param {import('../reading/finished-job.mjs').FinishedJob[]} jobs
 * @param {{ signal?: AbortSignal, onEvent: (event: object) => void }} options
 * @param {import('../sizes.mjs').Sizes} [sizes]
 */
export async function markDuplicates(jobs, { signal, onEvent }, sizes = SIZES) {
  const seen = new HashSet(sizes.seenSlots)
  const all = jobs.reduce((sum, { shards }) => sum + shards.length, 0)
  let done = 0
  for (const job of jobs) {
    for (const shard of job.shards) {
      signal?.throwIfAborted()
      shard.unique = await uniqueOf(job, shard, seen, sizes)
      onEvent({ event: 'compared', done: ++done, all })
    }
  }
}

/** Which documents of a shard are new. */
async function uniqueOf(job, shard, seen, sizes) {
  const reader = job.read(shard)
  const ends = await reader.documentEnds()
  const isNew = new Uint8Array(ends.length)
  let [tokens, documents] = [0, 0]
  const limit = sizes.mergedBlock / reader.View.BYTES_PER_ELEMENT
  for (let first = 0; first < ends.length; ) {
    const from = first === 0 ? 0 : ends[first - 1]
    let end = first + 1
    while (end < ends.length && ends[end] - from <= limit) end += 1
    const block = await reader.read(from, ends[end - 1])
    for (let index = first, start = 0; index < end; index++) {
      const next = ends[index] - from
      // Equal tokens have equal hashes in inputs of 16 and of 32 bits.
      if (seen.add(...hashOf(Uint32Array.from(block.subarray(start, next))))) {
        isNew[index] = 1
        documents += 1
        tokens += next - start
      }
      start = next
    }
    first = end
  }
  return { isNew, documents, tokens, duplicates: ends.length - documents }
}

/** @returns {[bigint, bigint]} */
function hashOf(tokens) {
  const bytes = createHash('sha256').update(tokens).digest()
  return [bytes.readBigUInt64LE(0), bytes.readBigUInt64LE(8) || 1n]
}
