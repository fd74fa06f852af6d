// The format `parquet`: one row per document with `ids`, a list<int32>, and with `id` if documents
// have ids. With `pack`, a row has `ids` and `starts`, the positions at which documents start, and,
// if documents have ids, `documents`, the ids of those documents. With a loss mask, `loss_mask`
// follows `ids`, a list<uint8>.

import fs from 'node:fs'
import path from 'node:path'

import { importOptional, resolveOptional } from 'tokenlane/internal/corpus.js'
import { checkPackages } from 'tokenlane/internal/files.mjs'
import { unsupported } from '../errors.mjs'
import { idOfToken, maskOfToken } from '../loss-mask.mjs'
import { hasLossMask } from '../tokens.mjs'
import { Rows } from './rows.mjs'

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
  loss_mask: list('loss_mask', { ...NUMBER, converted_type: 'UINT_8' }),
  starts: list('starts', NUMBER),
  documents: list('documents', TEXT),
}

/**
 * The package that writes the files, with its version. Another version may write other bytes, so
 * all machines of a job must have the same one.
 */
export function parquetWriterVersion() {
  checkPackages(import.meta, 'hyparquet-writer', 'hyparquet')
  const file = path.join(path.dirname(resolveOptional('hyparquet-writer', import.meta.url)), '..', 'package.json')
  return `hyparquet-writer ${JSON.parse(fs.readFileSync(file, 'utf8')).version}`
}

const newRow = (id) => ({
  id,
  ids: /** @type {number[]} */ ([]),
  loss_mask: /** @type {number[]} */ ([]),
  starts: /** @type {number[]} */ ([]),
  documents: /** @type {any[]} */ ([]),
})

export class ParquetWriter {
  #file
  #writer
  #sink
  /** The columns of the current row group. */
  #columns = /** @type {Record<string, any[]>} */ ({})
  #rows = 0
  #values = 0
  #rowsOf
  #row = newRow(undefined)
  #hasMask
  #sizes

  constructor(file, library, { pack, hasIds, hasMask }, sizes) {
    this.#sizes = sizes
    this.#file = file
    this.#rowsOf = new Rows(pack)
    this.#hasMask = hasMask
    const ids = hasMask ? ['ids', 'loss_mask'] : ['ids']
    const names =
      pack === undefined ? [...(hasIds ? ['id'] : []), ...ids] : [...ids, 'starts', ...(hasIds ? ['documents'] : [])]
    for (const name of names) this.#columns[name] = []
    this.#sink = new library.ByteWriter()
    this.#writer = new library.ParquetWriter({
      writer: this.#sink,
      schema: [{ name: 'root', num_children: names.length }, ...names.flatMap((name) => ELEMENTS[name])],
      createdBy: 'tokenlane',
    })
  }

  static async create(content, create, _scratch, sizes) {
    const { pack, idField } = content
    const columns = { pack, hasIds: idField !== undefined, hasMask: hasLossMask(content) }
    const library = await importOptional('hyparquet-writer', () => import('hyparquet-writer'))
    return new ParquetWriter((await create('.parquet')).appendOnly(), library, columns, sizes)
  }

  async write(block) {
    for (const { ids, id, startsDocument, startsRow, endsRow } of this.#rowsOf.pieces(block)) {
      if (startsRow) this.#row = newRow(id)
      const row = this.#row
      if (row.ids.length + ids.length > MAX_ROW_IDS)
        throw unsupported(`a row of Parquet has at most ${MAX_ROW_IDS} ids: choose another format, maxTokens or pack`)
      if (startsDocument) {
        row.starts.push(row.ids.length)
        row.documents.push(id)
      }
      this.#push(row, ids)
      if (endsRow) await this.#add(row)
    }
  }

  async finish() {
    if (this.#rowsOf.isOpen) await this.#add(this.#row)
    await this.#flush()
    this.#writer.finish()
    await this.#drain()
  }

  /** Adds tokens to a row. */
  #push(row, tokens) {
    if (!this.#hasMask) for (const id of tokens) row.ids.push(id)
    else
      for (const token of tokens) {
        row.ids.push(idOfToken(token))
        row.loss_mask.push(maskOfToken(token))
      }
  }

  async #add(row) {
    for (const [name, values] of Object.entries(this.#columns)) values.push(row[name])
    this.#rows += 1
    this.#values += row.ids.length
    if (this.#rows >= this.#sizes.groupRows || this.#values >= this.#sizes.groupIds) await this.#flush()
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
