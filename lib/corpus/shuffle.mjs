// Random orders of shards, and of the documents of a shard. They depend only on a seed.
//
// The documents of a shard are distributed at random to buckets on disk, and each bucket is
// shuffled in memory. Every order is equally likely, as if all documents were shuffled at once.

import { createHash } from 'node:crypto'

import { WholeTokens } from './tokens.mjs'

/** Bytes of input per bucket, and the maximum number of buckets. */
const BUCKET_BYTES = 8 << 20
const MAX_BUCKETS = 64
/** Bytes that are collected before they are written to a bucket. */
const FLUSH_BYTES = 1 << 16
/** Maximum number of bytes of tokens in a block of several documents. */
const MAX_BLOCK_BYTES = 4 << 20

/** A random number generator (sfc32), seeded by a text. Numbers are at least 0 and below 1. */
export function randomOf(seed) {
  const words = createHash('sha256').update(seed).digest()
  let [a, b, c, counter] = [0, 4, 8, 12].map((at) => words.readUInt32LE(at) | 0)
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  // Two draws give a number the 53 bits of a double's fraction.
  return () => (next() * 2 ** 21 + Math.floor(next() * 2 ** 21) / 2 ** 21) / 2 ** 21
}

/** Shuffles an array in place (Fisher and Yates). */
function shuffle(list, random) {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const held = list[last]
    list[last] = list[other]
    list[other] = held
  }
}

/**
 * A permutation of the numbers below `count`. It is computed for one number at a time, so it needs
 * no memory: a Feistel network over the next power of four, applied until the result is below
 * `count`.
 */
export function permutation(seed, count) {
  const half = Math.max(1, Math.ceil(Math.log2(Math.max(2, count)) / 2))
  const size = 2 ** half
  const round = (value, key) => createHash('sha256').update(`${seed} ${key} ${value}`).digest().readUInt32LE(0) % size
  const once = (value) => {
    let left = Math.floor(value / size)
    let right = value % size
    for (let key = 0; key < 4; key++) [left, right] = [right, (left ^ round(right, key)) >>> 0]
    return left * size + right
  }
  return (index) => {
    let value = once(index)
    while (value >= count) value = once(value)
    return value
  }
}

/** Passes the documents of blocks to another writer in a random order. */
export class ShuffleWriter {
  #writer
  #random
  #buckets
  #View

  /**
   * @param {import('./formats/formats.mjs').FormatWriter} writer
   * @param {{ seed: string, bytes: number, View: Uint16ArrayConstructor | Uint32ArrayConstructor,
   *   create: (suffix: string) => Promise<any> }} options `bytes` is the size of the input;
   *   `create` makes a temporary file
   */
  static async create(writer, { seed, bytes, View, create }) {
    const made = new ShuffleWriter()
    made.#writer = writer
    made.#random = randomOf(seed)
    made.#View = View
    made.#buckets = []
    const count = Math.min(MAX_BUCKETS, Math.max(1, Math.ceil(bytes / BUCKET_BYTES)))
    for (let index = 0; index < count; index++)
      made.#buckets.push({ file: await create(`.bucket-${index}`), pending: [], size: 0 })
    return made
  }

  async write({ tokens, lengths, documents }) {
    const width = this.#View.BYTES_PER_ELEMENT
    let index = 0
    for (const pieces of tokens.documents()) {
      const size = lengths[index] * width
      const about = Buffer.from(JSON.stringify(documents[index++]))
      const header = Buffer.alloc(8)
      header.writeUInt32LE(size, 0)
      header.writeUInt32LE(about.length, 4)
      const bucket = this.#buckets[Math.floor(this.#random() * this.#buckets.length)]
      bucket.pending.push(header, about)
      bucket.size += 8 + about.length
      for (const piece of pieces) {
        // The memory of the tokens is reused, so they are copied.
        bucket.pending.push(Buffer.copyBytesFrom(piece))
        bucket.size += piece.byteLength
        if (bucket.size >= FLUSH_BYTES) await flush(bucket)
      }
    }
  }

  async finish() {
    for (const bucket of this.#buckets) {
      await flush(bucket)
      const bytes = await bucket.file.read(0, bucket.file.size)
      await bucket.file.discard()
      const records = []
      for (let at = 0; at < bytes.length; ) {
        const [tokens, about] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
        records.push([at, tokens, about])
        at += 8 + about + tokens
      }
      shuffle(records, this.#random)
      await this.#emit(bytes, records)
    }
    await this.#writer.finish()
  }

  /** Passes the records of a bucket on, in blocks. */
  async #emit(bytes, records) {
    for (let first = 0; first < records.length; ) {
      let size = 0
      let last = first
      while (last < records.length && (last === first || size + records[last][1] <= MAX_BLOCK_BYTES))
        size += records[last++][1]
      const block = Buffer.allocUnsafeSlow(size)
      const width = this.#View.BYTES_PER_ELEMENT
      const lengths = new Uint32Array(last - first)
      const documents = []
      let to = 0
      for (const [at, tokens, about] of records.slice(first, last)) {
        documents.push(JSON.parse(bytes.toString('utf8', at + 8, at + 8 + about)))
        bytes.copy(block, to, at + 8 + about, at + 8 + about + tokens)
        lengths[documents.length - 1] = tokens / width
        to += tokens
      }
      await this.#writer.write({
        tokens: new WholeTokens(new this.#View(block.buffer, block.byteOffset, size / width), lengths),
        lengths,
        documents,
      })
      first = last
    }
  }
}

async function flush(bucket) {
  if (bucket.pending.length === 0) return
  const bytes = Buffer.concat(bucket.pending)
  bucket.pending = []
  bucket.size = 0
  await bucket.file.write(bytes)
}
