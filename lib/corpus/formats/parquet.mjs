// The format `parquet`: one row per document with `ids`, a list<int32>, and with `id` if documents
// have ids. With `pack`, a row has `ids` and `starts`, the positions at which documents start, and,
// if documents have ids, `documents`, the ids of those documents.

import fs from 'node:fs'

import { checkPackages } from '../../files/parquet.mjs'
import { unsupported } from '../errors.mjs'

/** A row group ends when it has this many ids or rows. */
const MAX_GROUP_IDS = 1 << 19
const MAX_GROUP_ROWS = 100_000
/** Maximum number of ids of a row. V8 ends the process at an array of twice this length. */
const MAX_ROW_IDS = 2 ** 26

/** The schema elements of a list. */
const list = (name, element) => [
  { name, repetition_type: 'REQUIRED', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', repetition_type: 'REQUIRED', ...element },
]
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const NUMBER = { type: 'INT32' }

/** The elements of the schema of each column. */
const ELEMENTS = {
  id: [{ name: 'id', repetition_type: 'REQUIRED', ...TEXT }],
  ids: list('ids', NUMBER),
  starts: list('starts', NUMBER),
  documents: list('documents', TEXT),
}

/**
 * The package that writes the files, with its version. Another version may write other bytes, so
 * all machines of a job must have the same one.
 */
export function parquetWriterVersion() {
  checkPackages('hyparquet-writer', 'hyparquet')
  const file = new URL('../package.json', import.meta.resolve('hyparquet-writer'))
  return `hyparquet-writer ${JSON.parse(fs.readFileSync(file, 'utf8')).version}`
}

function checkLength(ids) {
  if (ids > MAX_ROW_IDS)
    throw unsupported(`a row of Parquet has at most ${MAX_ROW_IDS} ids: choose another format, maxTokens or pack`)
}

export class ParquetWriter {
  #file
  #writer
  #sink
  #pack
  /** The columns of the current row group. */
  #columns = /** @type {Record<string, any[]>} */ ({})
  #rows = 0
  #values = 0
  /** The current row of packed documents. */
  #row = { ids: [], starts: [], documents: [] }

  constructor(file, library, pack, hasIds) {
    this.#file = file
    this.#pack = pack
    const names =
      pack === undefined ? [...(hasIds ? ['id'] : []), 'ids'] : ['ids', 'starts', ...(hasIds ? ['documents'] : [])]
    for (const name of names) this.#columns[name] = []
    this.#sink = new library.ByteWriter()
    this.#writer = new library.ParquetWriter({
      writer: this.#sink,
      schema: [{ name: 'root', num_children: names.length }, ...names.flatMap((name) => ELEMENTS[name])],
      createdBy: 'tokenlane',
    })
  }

  static async create({ pack, idField }, create) {
    return new ParquetWriter(
      (await create('.parquet')).appendOnly(),
      await import('hyparquet-writer'),
      pack,
      idField !== undefined,
    )
  }

  async write({ tokens, documents }) {
    let index = 0
    for (const pieces of tokens.documents()) {
      if (this.#pack === undefined) {
        /** @type {number[]} */
        const ids = []
        for (const piece of pieces) {
          checkLength(ids.length + piece.length)
          for (const id of piece) ids.push(id)
        }
        await this.#add({ id: documents[index].id, ids })
      } else await this.#packed(pieces, documents[index])
      index += 1
    }
  }

  async finish() {
    if (this.#row.ids.length > 0) await this.#endRow()
    await this.#flush()
    this.#writer.finish()
    await this.#drain()
  }

  /** Adds a document to the current row and further ones. */
  async #packed(pieces, { id }) {
    let isStart = true
    for (const ids of pieces) {
      for (let from = 0; from < ids.length; ) {
        const row = this.#row
        const count = Math.min(ids.length - from, this.#pack - row.ids.length)
        checkLength(row.ids.length + count)
        if (isStart) {
          row.starts.push(row.ids.length)
          row.documents.push(id)
          isStart = false
        }
        for (let at = from; at < from + count; at++) row.ids.push(ids[at])
        from += count
        if (row.ids.length === this.#pack) await this.#endRow()
      }
    }
  }

  #endRow() {
    const row = this.#row
    this.#row = { ids: [], starts: [], documents: [] }
    return this.#add(row)
  }

  async #add(row) {
    for (const [name, values] of Object.entries(this.#columns)) values.push(row[name])
    this.#rows += 1
    this.#values += row.ids.length
    if (this.#rows >= MAX_GROUP_ROWS || this.#values >= MAX_GROUP_IDS) await this.#flush()
  }

  /** Encodes the current row group. */
  async #flush() {
    if (this.#rows === 0) return
    const columnData = Object.entries(this.#columns).map(([name, data]) => ({ name, data }))
    this.#writer.write({ columnData, rowGroupSize: this.#rows })
    for (const name of Object.keys(this.#columns)) this.#columns[name] = []
    this.#rows = 0
    this.#values = 0
    await this.#drain()
  }

  /** Appends the encoded bytes to the file. */
  #drain() {
    const bytes = Buffer.from(this.#sink.getBytes())
    this.#sink.index = 0
    return this.#file.write(bytes)
  }
}
