// Reads Parquet inputs: their row groups, and the values of the columns that a job needs.
//
// A column of plain values is read page by page, so memory is bounded by a page and a dictionary. A
// field inside a list or a struct needs its whole row group. The header of a page is checked before
// the page is decoded, because a few bytes can stand for billions of values.

import { createHash } from 'node:crypto'

import {
  Failure,
  isTable,
  ROW_BYTES,
  VALUE_BYTES,
  checkCodec,
  checkEncoding,
  checkSizes,
  crc32,
  parquetCompressors,
  startOf,
  checkPackages,
  Ratio,
  valueAt,
} from 'tokenlane/internal/files.mjs'
import { importOptional } from 'tokenlane/internal/corpus.js'
import { checkThrift } from './thrift-guard.mjs'
import { inputChanged } from './errors.mjs'

/** Maximum size in bytes of the metadata at the end of a file. */
const MAX_FOOTER_BYTES = 64 << 20
/** Number of bytes that are read at once. */
const READ_BYTES = 4 << 20
/** Maximum size in bytes of the header of a page. */
const MAX_HEADER_BYTES = 8 << 20
/** Maximum size in bytes, and in values, of a page or of a row group that is read as a whole. */
const MAX_BYTES = 256 << 20
const MAX_VALUES = 2 ** 21
const EMPTY = Buffer.alloc(0)

/** Text stays bytes. Whether they are UTF-8 is checked later, where the row is known. */
const parsers = { stringFromBytes: (bytes) => bytes, jsonFromBytes: (bytes) => bytes }

const damaged = (what) => new Failure('PARQUET', `the Parquet file is damaged: ${what}`)

/** Runs `work` and turns errors of hyparquet into failures. */
async function decoded(work) {
  try {
    return await work()
  } catch (failure) {
    throw asDamage(failure)
  }
}

/** The failure for an error of hyparquet, or of code that uses damaged metadata. */
const asDamage = (failure) =>
  typeof failure?.code === 'string' && failure.code.startsWith('ERR_TOKENLANE_') ? failure : damaged(failure?.message)

/** The metadata at the end of a file. */
async function metadataOf(input) {
  checkPackages(import.meta, 'hyparquet', 'fzstd')
  const { parquetMetadata } = await importOptional('hyparquet', () => import('hyparquet'))
  const end = await input.read(Math.max(0, input.size - 8), 8)
  if (input.size < 12 || !isTable(end.subarray(4))) throw damaged('it does not end with PAR1')
  const length = end.readUInt32LE(0)
  if (length + 12 > input.size) throw damaged('its metadata is longer than the file')
  if (length > MAX_FOOTER_BYTES)
    throw new Failure('PARQUET', `its metadata has ${length} bytes, and the limit is ${MAX_FOOTER_BYTES}`)
  const footer = await exactly(input, input.size - length - 8, length + 8)
  return decoded(() => {
    checkThrift(footer)
    const metadata = parquetMetadata(footer, { geoparquet: false })
    checkSizes(metadata, input.size)
    checkGroups(metadata, input.size)
    return metadata
  })
}

/** Throws if row groups are missing, or would be left out because of where they are. */
function checkGroups({ row_groups, num_rows }, size) {
  let rows = 0n
  for (const group of row_groups) {
    rows += BigInt(group.num_rows)
    const start = group.num_rows === 0n ? 0 : groupStart(group)
    if (!(group.num_rows >= 0n && start >= 0 && start < size)) throw damaged('a row group is not in the file')
  }
  if (rows !== num_rows) throw damaged(`it says that it has ${num_rows} rows, and its row groups have ${rows}`)
}

/** Reads `length` bytes, no fewer. */
async function exactly(input, start, length) {
  if (!(start >= 0 && length >= 0 && start + length <= input.size)) throw damaged('a part of it lies beyond its end')
  const bytes = await input.read(start, length)
  if (bytes.length < length) throw inputChanged(input.path, `it ends at byte ${start + bytes.length}`)
  return bytes
}

/** The position of a row group in the file. */
const groupStart = ({ columns }) =>
  columns.reduce((least, { meta_data }) => Math.min(least, startOf(meta_data)), Infinity)

/**
 * The pieces that a file can be cut into, from its start to its end: its row groups. There is no
 * piece if there are no rows, and only one if the row groups are not in the order of their
 * positions.
 *
 * @param {import('./store/input.mjs').Input} input
 * @returns {Promise<{ end: number, weight: number }[]>}
 */
export async function rowGroups(input) {
  const metadata = await metadataOf(input)
  return decoded(() => piecesOf(metadata, input.size))
}

function piecesOf({ row_groups }, size) {
  const groups = row_groups.filter(({ num_rows }) => num_rows > 0)
  const weight = ({ total_byte_size }) => Math.max(1, Number(total_byte_size))
  const starts = groups.map(groupStart)
  if (!starts.every((start, index) => start < size && (index === 0 || start > starts[index - 1])))
    return groups.length === 0 ? [] : [{ end: size, weight: groups.reduce((sum, one) => sum + weight(one), 0) }]
  return groups.map((group, index) => ({ end: starts[index + 1] ?? size, weight: weight(group) }))
}

/**
 * A row of a table.
 *
 * @typedef {object} TableRow
 * @property {string} path
 * @property {number} at its number in the file, counted from 0
 * @property {number} row its number counted from 1, for messages
 * @property {any} [value] the value of the field; text is bytes
 * @property {any} [failure] why the row has none
 * @property {any} [id] the value of the option idField
 * @property {any} [group] the value of the option groupBy
 * @property {any} [tools] the value of the option tools
 * @property {any} [completion] the value of the option completion
 */

/**
 * Yields the rows of a part, those of one page at a time.
 *
 * @param {import('./part.mjs').Part} part
 * @param {import('./store/input.mjs').Input} input
 * @param {import('./options.mjs').Content} content
 * @param {(hashed: Buffer, bytes: number) => void} onRead receives the numbers of bytes while they
 *   are read, and a hash of each column at the end of its row group
 * @param {Ratio} ratio the limit of what is decompressed
 * @returns {AsyncGenerator<TableRow[]>}
 */
export async function* tableRows(part, input, content, onRead, ratio) {
  try {
    const table = new Table(input, await metadataOf(input), ratio, onRead)
    await table.load()
    let first = 0
    for (const group of table.metadata.row_groups) {
      if (isIn(part, group)) yield* groupRows(table, group, first, part.path, content)
      first += Number(group.num_rows)
    }
  } catch (failure) {
    throw asDamage(failure)
  }
}

/**
 * Yields the row groups of a part that cannot be read, with their positions and rows.
 *
 * @returns {AsyncGenerator<import('./part.mjs').DamagedRange>}
 */
export async function* damagedRowGroups(part, input, content) {
  const metadata = await metadataOf(input)
  for (const group of metadata.row_groups) {
    if (!isIn(part, group)) continue
    const table = new Table(input, metadata, new Ratio(content.maxRatio), () => {})
    const start = groupStart(group)
    try {
      await table.load()
      for await (const _ of groupRows(table, group, 0, part.path, content));
    } catch (failure) {
      yield { start, end: start + 1, rows: Number(group.num_rows), failure: asDamage(failure) }
    }
  }
}

/** Calls `onRead` as `tableRows` does, without decoding anything. */
export async function hashTable(part, input, content, onRead) {
  const table = new Table(input, await metadataOf(input), new Ratio(content.maxRatio), onRead)
  for (const group of table.metadata.row_groups) {
    if (!isIn(part, group)) continue
    for (const column of table.columnsOf(group, content)) {
      const window = new Window(table, column)
      while (window.left > 0) {
        await window.fill(1)
        window.drop(window.bytes.length)
      }
      onRead(window.digest(), 0)
    }
  }
}

/** Whether a row group starts in a part. */
const isIn = ({ start, end }, group) => {
  if (!(group.num_rows > 0)) return false
  const at = groupStart(group)
  return at >= start && at < end
}

/** Yields the rows of a row group. */
async function* groupRows(table, group, first, path, content) {
  const texts = table.values(group, content.messages ?? content.field, ROW_BYTES)
  const others = [content.idField, content.groupBy, content.tools, content.completion].map((field) =>
    field === undefined ? undefined : new Values(table.values(group, field)),
  )
  let row = first
  try {
    for await (const values of texts) {
      const rows = []
      for (const value of values) {
        for (const other of others) if (other?.isRead === false) await other.read()
        const [id, group, tools, completion] = others.map((other) => other?.take())
        rows.push({ path, at: row, row: row + 1, value, id, group, tools, completion })
        row += 1
      }
      yield rows
    }
    for (const other of others) await other?.end()
    table.reportHashes(group, content)
  } finally {
    await texts.return(undefined)
    for (const other of others) await other?.close()
  }
}

/** Reads the values of a column one by one. */
class Values {
  #pages
  #page = []
  #used = 0

  /** @param {AsyncGenerator<any[]>} pages */
  constructor(pages) {
    this.#pages = pages
  }

  /** Whether the next value is in memory. */
  get isRead() {
    return this.#used < this.#page.length
  }

  /** Reads until the next value is in memory. */
  async read() {
    while (!this.isRead) {
      const next = await this.#pages.next()
      if (next.done) throw damaged('a column has fewer values than rows')
      this.#page = next.value
      this.#used = 0
    }
  }

  take() {
    return this.#page[this.#used++]
  }

  /** Throws if there are more values. */
  async end() {
    if (!(await this.#pages.next()).done) throw damaged('a column has more values than rows')
  }

  async close() {
    await this.#pages.return(undefined)
  }
}

/** A Parquet file whose metadata was read. */
class Table {
  #lib = /** @type {any} */ (undefined)
  #compressors
  /** The hashes of the column chunks that were read. */
  #hashes = new Map()

  constructor(input, metadata, ratio, onRead) {
    this.input = input
    this.metadata = metadata
    this.ratio = ratio
    this.onRead = onRead
  }

  /** Loads the packages that decode. */
  async load() {
    const [column, convert, schema, metadata] = await Promise.all([
      importOptional('hyparquet/src/column.js', () => import('hyparquet/src/column.js')),
      importOptional('hyparquet/src/convert.js', () => import('hyparquet/src/convert.js')),
      importOptional('hyparquet/src/schema.js', () => import('hyparquet/src/schema.js')),
      importOptional('hyparquet', () => import('hyparquet')),
    ])
    this.#lib = { ...column, ...convert, ...schema, ...metadata }
    this.#compressors = await parquetCompressors(this.ratio)
  }

  /** The name of the top-level column that is, or that contains, a field. */
  #top(field) {
    const names = this.metadata.row_groups[0].columns.map(({ meta_data }) => meta_data.path_in_schema[0])
    const found = names.find((name) => name === field) ?? names.find((name) => field.startsWith(`${name}.`))
    if (found !== undefined) return found
    const known = [...new Set(names)].join(', ')
    throw new Failure('FIELD', `there is no column for the field '${field}'; the columns are ${known}`)
  }

  /** The column chunks that a field is read from. */
  chunksOf(group, field) {
    const top = this.#top(field)
    return group.columns.map(({ meta_data }) => meta_data).filter(({ path_in_schema }) => path_in_schema[0] === top)
  }

  /** The column chunks that a job reads, each once. */
  columnsOf(group, { field, messages, idField, groupBy, tools, completion }) {
    const fields = [messages ?? field, idField, groupBy, tools, completion].filter((name) => name !== undefined)
    return new Set(fields.flatMap((name) => this.chunksOf(group, name)))
  }

  /** Reports the hashes of the columns of a row group, in the order of `hashTable`. */
  reportHashes(group, content) {
    for (const chunk of this.columnsOf(group, content)) this.onRead(this.#hashes.get(chunk), 0)
    this.#hashes.clear()
  }

  /**
   * Yields the values of a field in a row group, some at a time. Each row counts as `rowBytes` in
   * the limit of decompressed bytes.
   *
   * @returns {AsyncGenerator<any[]>}
   */
  async *values(group, field, rowBytes = 0) {
    const chunks = this.chunksOf(group, field)
    for (const chunk of chunks) this.#check(chunk, group)
    const tree = this.#lib.parquetSchema(this.metadata)
    const top = tree.children.find(({ element }) => element.name === chunks[0].path_in_schema[0])
    const isPlain = top.children.length === 0 && top.element.repetition_type !== 'REPEATED'
    let rows = 0
    for await (const values of isPlain ? this.#pages(chunks[0], [tree, top]) : this.#whole(group, field, chunks)) {
      rows += values.length
      this.ratio.make(values.length * rowBytes)
      yield values
    }
    if (rows !== Number(group.num_rows)) throw damaged('a column has another number of values than the row group')
  }

  #check(chunk, group) {
    checkCodec(chunk)
    if (!(Number(chunk.total_compressed_size) >= 0 && Number.isSafeInteger(Number(group.num_rows))))
      throw damaged('a size is not a number')
  }

  /** Yields the values of a column of plain values, page by page. */
  async *#pages(chunk, schemaPath) {
    const decoder = {
      ...chunk,
      pathInSchema: chunk.path_in_schema,
      element: schemaPath[1].element,
      schemaPath,
      compressors: this.#compressors,
      parsers: { ...this.#lib.DEFAULT_PARSERS, ...parsers },
      utf8: false,
    }
    const window = new Window(this, chunk)
    let dictionary
    for (let values = 0; values < Number(chunk.num_values); ) {
      const { header, reader } = await this.#page(window, chunk)
      const { data } = await decoded(() => this.#lib.readPage(reader, header, decoder, dictionary, undefined, 0))
      window.drop(reader.offset)
      if (header.type === 'DICTIONARY_PAGE') {
        dictionary = await decoded(() => this.#lib.convert(data, decoder))
        continue
      }
      values += data.length
      if (data.length === 0 || values > Number(chunk.num_values)) throw damaged('a page has another number of values')
      yield data
    }
    // The hash also covers the bytes after the last page.
    while (window.left > 0) {
      await window.fill(1)
      window.drop(window.bytes.length)
    }
    this.#hashes.set(chunk, window.digest())
  }

  /** Reads the next page and checks its header. */
  async #page(window, chunk) {
    const header = await this.#header(window)
    const page =
      header.value.data_page_header ?? header.value.data_page_header_v2 ?? header.value.dictionary_page_header
    const { compressed_page_size: packed, uncompressed_page_size: size } = header.value
    if (page === undefined || !(packed >= 0 && size >= 0 && page.num_values >= 0)) throw damaged('a page has no header')
    checkEncoding(page.encoding, chunk)
    if (size > MAX_BYTES || packed > MAX_BYTES || page.num_values > MAX_VALUES) {
      throw new Failure(
        'PARQUET',
        `a page has ${size} bytes and ${page.num_values} values, and the limits are ${MAX_BYTES} and ${MAX_VALUES}: write it with smaller pages`,
      )
    }
    this.ratio.make(page.num_values * VALUE_BYTES)
    if (chunk.codec === 'UNCOMPRESSED') this.ratio.read(packed)
    else if (chunk.codec === 'SNAPPY') {
      this.ratio.read(packed)
      this.ratio.make(size)
    }
    await window.fill(header.length + packed)
    const { bytes } = window
    if (bytes.length < header.length + packed) throw damaged('a page ends after its column')
    const { crc } = header.value
    if (crc !== undefined && crc32(bytes.subarray(header.length, header.length + packed)) !== crc >>> 0)
      throw damaged('the checksum of a page is wrong')
    // Decoded values are views of the page, so it is copied out of the window, which is reused.
    const copy = Uint8Array.prototype.slice.call(bytes, 0, header.length + packed)
    return { header: header.value, reader: { view: new DataView(copy.buffer), offset: header.length } }
  }

  /**
   * Parses the header of a page. Its length is unknown, so it is tried with more and more bytes.
   */
  async #header(window) {
    for (let wanted = 1 << 12; ; wanted *= 8) {
      await window.fill(wanted)
      const { bytes } = window
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), offset: 0 }
      try {
        checkThrift(bytes)
        const value = this.#lib.parquetHeader(reader)
        if (reader.offset <= bytes.length) return { value, length: reader.offset }
      } catch (failure) {
        if (bytes.length < wanted || wanted > MAX_HEADER_BYTES) throw damaged(failure.message)
        continue
      }
      throw damaged('a page has no header')
    }
  }

  /** The values of a field in a list or a struct. The row group is read as a whole. */
  async *#whole(group, field, chunks) {
    const sum = (name) => chunks.reduce((total, chunk) => total + Number(chunk[name]), 0)
    const [bytes, values] = [sum('total_uncompressed_size'), sum('num_values')]
    if (!(bytes >= 0 && bytes <= MAX_BYTES && values <= MAX_VALUES)) {
      throw new Failure(
        'PARQUET',
        `the columns of the field '${field}' have ${bytes} bytes and ${values} values in a row group, and the limits are ${MAX_BYTES} and ${MAX_VALUES}: write it with smaller row groups`,
      )
    }
    const parts = await this.#checkedParts(chunks)
    const file = {
      byteLength: this.input.size,
      slice: (start, end) => {
        if (!(end - start <= 2 * MAX_BYTES)) throw damaged('its columns are too far apart')
        // hyparquet joins the ranges of several columns, and does not use the bytes between them.
        const bytes = new Uint8Array(end - start)
        for (const [from, held] of parts) {
          const [first, last] = [Math.max(start, from), Math.min(end, from + held.length)]
          if (first < last) bytes.set(held.subarray(first - from, last - from), first - start)
        }
        return bytes.buffer
      },
    }
    const rows = await decoded(() =>
      this.#lib.parquetReadObjects({
        file,
        metadata: { ...this.metadata, row_groups: [group], num_rows: group.num_rows },
        columns: [chunks[0].path_in_schema[0]],
        compressors: this.#compressors,
        parsers,
        utf8: false,
        useOffsetIndex: false,
      }),
    )
    const top = chunks[0].path_in_schema[0]
    const node = this.#lib.parquetSchema(this.metadata).children.find(({ element }) => element.name === top)
    yield rows.map((row) => valueAt({ [top]: withNulls(row[top], node, this.#lib) }, field))
  }

  /**
   * Reads column chunks into memory, checks their pages and computes their hashes. Returns the
   * bytes by their position in the file.
   */
  async #checkedParts(chunks) {
    const parts = new Map()
    for (const chunk of chunks) {
      const window = new Window(this, chunk)
      const pieces = []
      for (let found = 0; found < Number(chunk.num_values) && window.left > 0; ) {
        const { header, reader } = await this.#page(window, chunk)
        found += header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0
        if (found > Number(chunk.num_values)) throw damaged('a column has more values than it says')
        pieces.push(Buffer.from(reader.view.buffer))
        window.drop(reader.view.byteLength)
      }
      while (window.left > 0) {
        await window.fill(1)
        pieces.push(Buffer.from(window.bytes))
        window.drop(window.bytes.length)
      }
      parts.set(startOf(chunk), Buffer.concat(pieces))
      this.#hashes.set(chunk, window.digest())
    }
    return parts
  }
}

/**
 * A value with the fields that are null, in the order of the schema: hyparquet leaves out those of
 * structs and lists, and templates tell a field that is null from one that is missing.
 */
function withNulls(value, node, lib) {
  if (value === null || value === undefined) return null
  if (lib.isMapLike(node)) return value
  const of = (child) => (one) => withNulls(one, child, lib)
  if (lib.isListLike(node)) {
    const [repeated] = node.children
    const element = repeated.children.length === 1 ? repeated.children[0] : repeated
    return value.map(of(element))
  }
  if (node.element.repetition_type === 'REPEATED' && Array.isArray(value))
    return value.map(of({ ...node, element: { ...node.element, repetition_type: 'REQUIRED' } }))
  if (node.children.length === 0) return value
  return Object.fromEntries(node.children.map((child) => [child.element.name, of(child)(value[child.element.name])]))
}

/** Reads the bytes of a column chunk, a few megabytes at a time, and hashes them. */
class Window {
  #table
  #next
  #end
  #hash = createHash('sha256')
  bytes = EMPTY

  constructor(table, chunk) {
    this.#table = table
    this.#next = startOf(chunk)
    this.#end = this.#next + Number(chunk.total_compressed_size)
    if (!(this.#next >= 0 && this.#end <= table.input.size)) throw damaged('a column lies beyond its end')
  }

  /** Number of bytes of the column that were not dropped yet. */
  get left() {
    return this.bytes.length + this.#end - this.#next
  }

  /** Reads until `bytes` has `length` bytes, or the column ends. */
  async fill(length) {
    if (this.bytes.length >= length || this.#next === this.#end) return
    const count = Math.min(this.#end - this.#next, Math.max(READ_BYTES, length - this.bytes.length))
    const more = await exactly(this.#table.input, this.#next, count)
    this.#next += count
    this.#hash.update(more)
    this.#table.onRead(EMPTY, count)
    this.bytes = this.bytes.length === 0 ? more : Buffer.concat([this.bytes, more])
  }

  /** Drops bytes that are no longer needed. */
  drop(length) {
    this.bytes = this.bytes.subarray(length)
  }

  digest() {
    return this.#hash.digest()
  }
}
