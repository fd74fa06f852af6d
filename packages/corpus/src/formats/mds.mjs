// MDS, the format of MosaicML's streaming. A file has:
//
//   u32        number of samples
//   u32 each   where each sample starts in the file, and where the last one ends
//   JSON       the columns (mds-index.mjs)
//   samples    sizes of the columns (u32 each), and their values
//
// A sample is a document or a packed row: `tokens`, and `loss_mask` if there is one. A document has
// its `id`. A row has `cu_seqlens`, where the parts of documents in it start, and where the last
// one ends, and `documents`, the id of each part. An array of one dimension is a byte that says how
// wide the length is, the length, and the numbers.
//
// The number of samples is known at the end, so samples are in a temporary file until then.

import { rangeError, unsupported } from '../errors.mjs'
import { idOfToken, maskOfToken } from '../loss-mask.mjs'
import { fileViewOf, hasLossMask, viewOf } from '../tokens.mjs'
import { COLLECTED_BYTES } from '../store/part-file.mjs'
import { columnsOf, configText } from './mds-index.mjs'
import { Rows } from './rows.mjs'

/** Positions have 32 bits. */
const MAX_FILE_BYTES = 2 ** 32 - 1
/** Maximum number of ids of a row, which is in memory. */
const MAX_ROW_IDS = 2 ** 26
/** A larger buffer of a row, in bytes, is not kept. */
const MAX_KEPT_BYTES = 1 << 20
const MIN_CAPACITY = 1 << 10

/** @typedef {import('../store/part-file.mjs').PartFile} PartFile */

export class MdsWriter {
  #file
  #samples
  #ends
  #content
  #sizes
  #columns
  #config
  #row
  #rows
  #count = 0
  #end = 0

  /**
   * @param {PartFile} file
   * @param {PartFile} samples
   * @param {PartFile} ends of the samples, counted from the start of the first one
   * @param {import('../options.mjs').Content} content
   * @param {import('../sizes.mjs').Sizes} sizes
   */
  constructor(file, samples, ends, content, sizes) {
    this.#file = file
    this.#samples = samples
    this.#ends = ends
    this.#content = content
    this.#sizes = sizes
    this.#columns = columnsOf(content).map(([name]) => VALUES[name])
    this.#config = Buffer.from(configText(content))
    this.#row = new Row(viewOf(content))
    this.#rows = new Rows(content.pack)
  }

  static async create(content, create, scratch, sizes) {
    const file = (await create('.mds')).appendOnly()
    return new MdsWriter(file, await scratch('.samples'), await scratch('.ends'), content, sizes)
  }

  async write(block) {
    for (const { ids, id, length, startsDocument, startsRow, endsRow } of this.#rows.pieces(block)) {
      if (startsDocument || startsRow) this.#row.start(id)
      this.#row.add(ids, length)
      if (endsRow) await this.#endRow()
    }
  }

  async finish() {
    if (this.#rows.isOpen) await this.#endRow()
    const start = this.#startOfSamples
    await this.#file.writeNumbers(Uint32Array.of(this.#count, start))
    for await (const bytes of contentOf(this.#ends, this.#sizes.mdsPositions * 4)) {
      const ends = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
      await this.#file.writeNumbers(ends.map((end) => start + end))
    }
    await this.#file.write(this.#config)
    for await (const bytes of contentOf(this.#samples, this.#sizes.mdsBytes)) await this.#file.write(bytes)
  }

  get #startOfSamples() {
    return 4 + (this.#count + 1) * 4 + this.#config.length
  }

  async #endRow() {
    const values = this.#columns.map((valueOf) => valueOf(this.#row, this.#content))
    const sizes = Uint32Array.from(values, (parts) => parts.reduce((sum, { length }) => sum + length, 0))
    const sample = [bytesOf(sizes), ...values.flat()]
    const size = sample.reduce((sum, { length }) => sum + length, 0)
    this.#count += 1
    this.#end += size
    if (this.#startOfSamples + this.#end > MAX_FILE_BYTES)
      throw rangeError(
        `a file of MDS has at most ${MAX_FILE_BYTES} bytes, but this shard has more: choose smaller shards`,
      )
    await this.#ends.writeNumbers(Uint32Array.of(this.#end))
    if (size < COLLECTED_BYTES) await this.#samples.write(Buffer.concat(sample, size))
    else {
      for (const part of sample) await this.#samples.write(part)
      // The memory of the row is reused.
      await this.#samples.written()
    }
    this.#row.clear()
  }
}

/** The current row. */
class Row {
  #View
  #buffer
  length = 0
  /** Where the parts of documents start in it, and their ids. */
  starts = /** @type {number[]} */ ([])
  ids = /** @type {string[]} */ ([])

  /** @param {Uint16ArrayConstructor | Uint32ArrayConstructor} View */
  constructor(View) {
    this.#View = View
    this.#buffer = new View(MIN_CAPACITY)
  }

  get tokens() {
    return this.#buffer.subarray(0, this.length)
  }

  /** Starts a part of a document. */
  start(id = '') {
    this.starts.push(this.length)
    this.ids.push(id)
  }

  /** Adds tokens to a row that becomes at most `limit` long. */
  add(tokens, limit) {
    const length = this.length + tokens.length
    if (length > MAX_ROW_IDS)
      throw unsupported(`a row of MDS has at most ${MAX_ROW_IDS} ids: choose another format, maxTokens or pack`)
    if (length > this.#buffer.length) {
      const larger = new this.#View(Math.max(length, Math.min(limit, this.#buffer.length * 2)))
      larger.set(this.tokens)
      this.#buffer = larger
    }
    this.#buffer.set(tokens, this.length)
    this.length = length
  }

  clear() {
    this.length = 0
    this.starts = []
    this.ids = []
    if (this.#buffer.byteLength > MAX_KEPT_BYTES) this.#buffer = new this.#View(MIN_CAPACITY)
  }
}

/** The value of each column of a row, in parts. */
const VALUES = {
  cu_seqlens: ({ starts, length }) => arrayOf(Int32Array.of(...starts, length)),
  documents: ({ ids }) => [Buffer.from(JSON.stringify(ids))],
  id: ({ ids }) => [Buffer.from(ids[0])],
  loss_mask: ({ tokens }) => arrayOf(Uint8Array.from(tokens, maskOfToken)),
  tokens: ({ tokens }, content) =>
    arrayOf(hasLossMask(content) ? new (fileViewOf(content))(tokens.map(idOfToken)) : tokens),
}

/** An array of one dimension: the width of its length, the length, and the numbers. */
function arrayOf(numbers) {
  const { length } = numbers
  const width = length < 2 ** 8 ? 0 : length < 2 ** 16 ? 1 : 2
  const head = Buffer.alloc(1 + 2 ** width)
  head[0] = (1 << 2) | width
  head.writeUIntLE(length, 1, 2 ** width)
  return [head, bytesOf(numbers)]
}

/** Like the files, all machines that the addon supports store the low byte first. */
const bytesOf = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)

/** Reads a temporary file from its start. */
async function* contentOf(file, length) {
  for (let from = 0; from < file.size; from += length) yield file.read(from, Math.min(length, file.size - from))
}
