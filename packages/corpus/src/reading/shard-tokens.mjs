// Reads the tokens of one shard of a finished job: any range of them, and where its rows and
// documents end. Only the formats of fixed width can be read so: megatron, npy and bin. The files
// can have changed since they were written, so their sizes and numbers are checked.

import { promisify } from 'node:util'
import zlib from 'node:zlib'

import { damaged, unsupported } from '../errors.mjs'
import { stemOf } from '../record.mjs'
import { joinMask } from '../loss-mask.mjs'
import { fileViewOf, hasLossMask, viewOf } from '../tokens.mjs'

const gunzip = promisify(zlib.gunzip)

/** Sizes in bytes of what stands before the numbers of a file (formats/megatron.mjs, npy.mjs). */
const INDEX_HEADER = 34
const NPY_HEADER = 128

/**
 * @typedef {object} FinishedShard
 * @property {number} shard
 * @property {number} tokens
 * @property {number} documents with best fit, the pieces of documents
 * @property {number} rows
 * @property {number} textBytes
 * @property {number} characters
 * @property {{ name: string, bytes: number, sha256: string }[]} files
 * @property {{ isNew: Uint8Array, documents: number, tokens: number, duplicates: number }} [unique]
 *   which documents did not occur before, if a merge compares them
 */

/** Throws if the shards of a format cannot be read. */
export function checkReadable({ format }, place) {
  if (['megatron', 'npy', 'bin'].includes(format)) return
  throw unsupported(`${place} has the format ${format}: only megatron, npy and bin are read back`)
}

export class ShardTokens {
  #store
  #content
  #record
  #rowEnds = /** @type {Promise<Float64Array> | undefined} */ (undefined)
  #documentEnds = /** @type {Promise<Float64Array> | undefined} */ (undefined)

  /**
   * @param {import('../store/types.js').Store} store
   * @param {import('../options.mjs').Content} content
   * @param {FinishedShard} record
   */
  constructor(store, content, record) {
    this.#store = store
    this.#content = content
    this.#record = record
  }

  /** The type of the tokens that `read` returns. */
  get View() {
    return viewOf(this.#content)
  }

  /** The tokens from one position to another, with their loss mask, as writers get them. */
  async read(from, to) {
    const ids = await this.ids(from, to)
    return hasLossMask(this.#content) ? joinMask(ids, await this.lossMask(from, to)) : ids
  }

  /** The ids from one position to another. */
  ids(from, to) {
    return this.#perToken(fileViewOf(this.#content), '', from, to)
  }

  /** The loss mask from one position to another. */
  lossMask(from, to) {
    return this.#perToken(Uint8Array, '.mask', from, to)
  }

  /** Reads a file that has a number for each token. */
  #perToken(View, name, from, to) {
    const header = this.#content.format === 'npy' ? NPY_HEADER : 0
    const suffix = `${name}.${this.#content.format === 'npy' ? 'npy' : 'bin'}`
    const width = View.BYTES_PER_ELEMENT
    const range = { from: header + from * width, to: header + to * width }
    return this.#numbers(View, suffix, range, header + this.#record.tokens * width)
  }

  /** The position behind each row, in tokens. */
  rowEnds() {
    this.#rowEnds ??= this.#ends(this.#record.rows, this.#content.format === 'megatron' ? '.idx' : '.rows')
    return this.#rowEnds
  }

  /** The position behind each document, in tokens. */
  documentEnds() {
    if (this.#content.pack === undefined) return this.rowEnds()
    this.#documentEnds ??= this.#ends(this.#record.documents, '.docs')
    return this.#documentEnds
  }

  /**
   * What is known about each document: its id, and where it was read. Files for Megatron have no
   * such table: there it is the shard, and the number of the document in it.
   *
   * @returns {Promise<{ id?: string, path: string, at: number }[]>}
   */
  async facts() {
    const { documents, shard } = this.#record
    if (this.#content.format === 'megatron') {
      const path = this.#store.where(stemOf(shard))
      return Array.from({ length: documents }, (_, at) => ({ path, at }))
    }
    const { name, bytes } = this.#file('.csv.gz')
    const table = await this.#store.readRange(name, 0, bytes)
    // Stored blocks never unpack to more bytes than they have.
    const text = await gunzip(table, { maxOutputLength: Math.max(1, bytes) }).catch((reason) => {
      throw damaged(`${this.#store.where(name)} is not as it was written: ${reason.message}`)
    })
    const facts = Array.from(rowsOfTable(text.toString()), ([, , id, path, at]) => ({ id, path, at: Number(at) }))
    if (facts.length !== documents) throw this.#wrong(name, `${facts.length} rows instead of ${documents}`)
    return facts
  }

  /** Reads where `count` parts of the tokens end. */
  async #ends(count, suffix) {
    const ends = await (suffix === '.idx' ? this.#endsOfIndex(count) : this.#endsOfNumbers(count, suffix))
    const name = this.#file(this.#suffixed(suffix)).name
    for (let at = 0; at < count; at++)
      if (!(ends[at] > (at === 0 ? 0 : ends[at - 1]))) throw this.#wrong(name, `part ${at} ends at ${ends[at]}`)
    const last = count === 0 ? 0 : ends[count - 1]
    if (last !== this.#record.tokens) throw this.#wrong(name, `${last} tokens instead of ${this.#record.tokens}`)
    return ends
  }

  /** Reads the lengths of an index for Megatron. */
  async #endsOfIndex(count) {
    const range = { from: INDEX_HEADER, to: INDEX_HEADER + count * 4 }
    const lengths = await this.#numbers(Int32Array, '.idx', range, INDEX_HEADER + count * 12 + (count + 1) * 8)
    const ends = new Float64Array(count)
    let end = 0
    for (let row = 0; row < count; row++) ends[row] = end += lengths[row]
    return ends
  }

  /** Reads a file of starts, which has the end of the last part too. */
  async #endsOfNumbers(count, suffix) {
    const file = this.#suffixed(suffix)
    const header = file.endsWith('.npy') ? NPY_HEADER : 0
    const range = { from: header + 8, to: header + (count + 1) * 8 }
    return Float64Array.from(await this.#numbers(BigUint64Array, file, range, range.to), Number)
  }

  /** The suffix of a file of positions: those of a job for Megatron are arrays of NumPy. */
  #suffixed = (suffix) => (suffix === '.idx' ? suffix : `${suffix}.${this.#content.format === 'bin' ? 'bin' : 'npy'}`)

  #file(suffix) {
    const file = this.#record.files.find(({ name }) => name === `${stemOf(this.#record.shard)}${suffix}`)
    if (file !== undefined) return file
    throw damaged(`the record of ${this.#store.where(stemOf(this.#record.shard))} names no file ${suffix}`)
  }

  /** Reads numbers from a file that has a known size. */
  async #numbers(View, suffix, { from, to }, size) {
    const { name, bytes } = this.#file(suffix)
    if (bytes !== size) throw this.#wrong(name, `${bytes} bytes instead of ${size}`)
    const found = await this.#store.readRange(name, from, to)
    if (found.length !== to - from) throw this.#wrong(name, `it ends before byte ${to}`)
    // Views need positions that are multiples of their width.
    const aligned = found.byteOffset % View.BYTES_PER_ELEMENT === 0 ? found : Uint8Array.from(found)
    return new View(aligned.buffer, aligned.byteOffset, aligned.byteLength / View.BYTES_PER_ELEMENT)
  }

  #wrong = (name, what) => damaged(`${this.#store.where(name)} is not as it was written: ${what}`)
}

const CELL = '("(?:[^"]|"")*"|[^,"\\r\\n]*)'
const ROW = new RegExp(`${Array(5).fill(CELL).join(',')}\\r\\n`, 'y')

/** The cells of the rows of a table, see formats/binary.mjs. Ends at what is no row. */
function* rowsOfTable(text) {
  const plain = (cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
  ROW.lastIndex = 0
  for (let at = 0; at < text.length; ) {
    ROW.lastIndex = at
    const found = ROW.exec(text)
    if (found === null) return
    at = ROW.lastIndex
    yield found.slice(1).map(plain)
  }
}
