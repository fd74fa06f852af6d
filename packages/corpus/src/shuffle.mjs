// Random orders of shards, and of the documents of a shard. They depend only on a seed.
//
// The documents of a shard are distributed at random to buckets on disk, and each bucket is
// shuffled in memory. Every order is equally likely, as if all documents were shuffled at once. If
// a bucket has large documents, only the positions of its documents are in memory.

import { createHash } from 'node:crypto'

import { COLLECTED_BYTES } from './store/part-file.mjs'
import { SIZES } from './sizes.mjs'
import { PieceBuffers, WholeTokens } from './tokens.mjs'

/** @typedef {import('./tokens.mjs').Tokens} Tokens */

/** Size of the header of a document in a bucket. */
const HEADER_BYTES = 8

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
  return () => (next() * 2 ** 32 + Math.floor(next() * 2 ** 21) / 2 ** 21) / 2 ** 32
}

/** Shuffles an array in place (Fisher and Yates). */
export function shuffle(list, random) {
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

/**
 * A file with some documents of a shard. Each is a header with the number of bytes of its tokens
 * and of its facts, the facts as JSON, and its tokens.
 */
class Bucket {
  #file
  #mostSmall
  #hasLarge = false
  /** All bytes of the file, if its documents are small. */
  #bytes = /** @type {Buffer | undefined} */ (undefined)

  /**
   * @param {import('./store/part-file.mjs').PartFile} file
   * @param {import('./sizes.mjs').Sizes} sizes
   */
  constructor(file, sizes) {
    this.#file = file
    this.#mostSmall = sizes.shuffledBlock
  }

  /**
   * @param {object} facts
   * @param {import('./tokens.mjs').Pieces} pieces
   * @param {number} size of the tokens in bytes
   */
  async add(facts, pieces, size) {
    const about = Buffer.from(JSON.stringify(facts))
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeUInt32LE(size, 0)
    header.writeUInt32LE(about.length, 4)
    await this.#file.write(header)
    await this.#file.write(about)
    this.#hasLarge ||= size > this.#mostSmall
    for (const piece of pieces) {
      await this.#file.writeNumbers(piece)
      // The memory of the tokens is reused.
      if (piece.byteLength >= COLLECTED_BYTES) await this.#file.written()
    }
  }

  /** Ends the additions. Returns the positions and sizes of all documents. */
  async documents() {
    await this.#file.written()
    const { size } = this.#file
    if (!this.#hasLarge) this.#bytes = await this.#file.read(0, size)
    const header = Buffer.alloc(HEADER_BYTES)
    const documents = []
    for (let at = 0; at < size; ) {
      await this.#read(at, header)
      const [tokens, facts] = [header.readUInt32LE(0), header.readUInt32LE(4)]
      documents.push({ at, facts, tokens })
      at += HEADER_BYTES + facts + tokens
    }
    return documents
  }

  /** Returns the facts about a document, and copies its tokens to `to`, if that is given. */
  async read({ at, facts }, to = /** @type {Buffer | undefined} */ (undefined)) {
    const about = Buffer.allocUnsafe(facts)
    await this.#read(at + HEADER_BYTES, about)
    if (to !== undefined) await this.#read(at + HEADER_BYTES + facts, to)
    return JSON.parse(about.toString())
  }

  /** The tokens of a document, which are read when they are used. */
  tokens({ at, facts, tokens }, buffers) {
    return new StoredTokens(this.#file, at + HEADER_BYTES + facts, tokens, buffers)
  }

  /** Copies bytes from a position in the file. */
  async #read(position, to) {
    if (this.#bytes === undefined) await this.#file.read(position, to.length, to)
    else this.#bytes.copy(to, 0, position, position + to.length)
  }

  /** Removes the file. */
  async discard() {
    this.#bytes = undefined
    await this.#file.discard()
  }
}

/**
 * The tokens of one document in a file.
 *
 * @implements {Tokens}
 */
class StoredTokens {
  #file
  #start
  #end
  #buffers

  /**
   * @param {import('./store/part-file.mjs').PartFile} file
   * @param {number} start position in the file
   * @param {number} size in bytes
   * @param {PieceBuffers} buffers
   */
  constructor(file, start, size, buffers) {
    this.#file = file
    this.#start = start
    this.#end = start + size
    this.#buffers = buffers
  }

  get length() {
    return (this.#end - this.#start) / this.#buffers.width
  }

  *pieces() {
    for (let at = this.#start; at < this.#end; ) {
      const numbers = this.#buffers.next()
      const piece = numbers.subarray(0, (this.#end - at) / this.#buffers.width)
      this.#file.readNow(at, Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
      at += piece.byteLength
      yield piece
    }
  }

  *documents() {
    yield this.pieces()
  }
}

/** Passes the documents of blocks to another writer in a random order. */
export class ShuffleWriter {
  #writer
  #random
  #buckets = /** @type {Bucket[]} */ ([])
  #View
  #pieces
  #sizes = SIZES

  /**
   * @param {import('./formats/formats.mjs').FormatWriter} writer
   * @param {{ seed: string, bytes: number, View: Uint16ArrayConstructor | Uint32ArrayConstructor,
   *   create: (suffix: string) => Promise<import('./store/part-file.mjs').PartFile>, sizes?:
   *   import('./sizes.mjs').Sizes }} options
   *   `bytes` is the size of the input; `create` makes a temporary file
   */
  static async create(writer, { seed, bytes, View, create, sizes = SIZES }) {
    const made = new ShuffleWriter()
    made.#writer = writer
    made.#random = randomOf(seed)
    made.#View = View
    made.#pieces = new PieceBuffers(View, sizes)
    made.#sizes = sizes
    const count = Math.min(sizes.buckets, Math.max(1, Math.ceil(bytes / sizes.bucketBytes)))
    for (let index = 0; index < count; index++) made.#buckets.push(new Bucket(await create(`.bucket-${index}`), sizes))
    return made
  }

  async write({ tokens, lengths, documents }) {
    const width = this.#View.BYTES_PER_ELEMENT
    let index = 0
    for (const pieces of tokens.documents()) {
      const bucket = this.#buckets[Math.floor(this.#random() * this.#buckets.length)]
      await bucket.add(documents[index], pieces, lengths[index] * width)
      index += 1
    }
  }

  async finish() {
    for (const bucket of this.#buckets) {
      const documents = await bucket.documents()
      shuffle(documents, this.#random)
      await this.#emit(bucket, documents)
      await bucket.discard()
    }
    await this.#writer.finish()
  }

  /** Passes the documents of a bucket on, in blocks. */
  async #emit(bucket, documents) {
    for (let first = 0; first < documents.length; ) {
      let size = 0
      let last = first
      while (last < documents.length && (last === first || size + documents[last].tokens <= this.#sizes.shuffledBlock))
        size += documents[last++].tokens
      await this.#writer.write(
        size > this.#sizes.shuffledBlock
          ? await this.#large(bucket, documents[first])
          : await this.#block(bucket, documents.slice(first, last), size),
      )
      first = last
    }
  }

  /** One document of a bucket. */
  async #large(bucket, document) {
    const tokens = bucket.tokens(document, this.#pieces)
    return { tokens, lengths: Uint32Array.of(tokens.length), documents: [await bucket.read(document)] }
  }

  /** Some documents of a bucket, with `size` bytes of tokens. */
  async #block(bucket, documents, size) {
    const width = this.#View.BYTES_PER_ELEMENT
    const block = Buffer.allocUnsafeSlow(size)
    const lengths = Uint32Array.from(documents, ({ tokens }) => tokens / width)
    const facts = []
    let to = 0
    for (const document of documents) {
      facts.push(await bucket.read(document, block.subarray(to, to + document.tokens)))
      to += document.tokens
    }
    const tokens = new WholeTokens(new this.#View(block.buffer, block.byteOffset, size / width), lengths)
    return { tokens, lengths, documents: facts }
  }
}
