// Reads a Parquet file in a separate process with limited memory. A few bytes of a file can
// stand for more values than the memory holds, or than an array of V8 can have, which ends the
// process (also from a worker thread).

import fs from 'node:fs'
import { createRequire } from 'node:module'

import { crc32 } from './crc32.mjs'
import { Failure } from './failure.mjs'
import { ROW_BYTES, checkCodec, checkEncoding, checkSizes, parquetCompressors, startOf } from './parquet-codecs.mjs'
import { Ratio } from './ratio.mjs'
import { valueAt } from './json-rows.mjs'

const { importOptional, setProjectPlaces } = createRequire(import.meta.url)('../optional.js')

const BATCH_UNITS = 4 << 20
const BATCH_ROWS = 1 << 14
const { file: name, field, keep, maxRatio, isRaw, places } = JSON.parse(process.argv[2])
const ratio = new Ratio(maxRatio)

setProjectPlaces(places)
const { parquetMetadataAsync, parquetRead } = await importOptional('hyparquet', () => import('hyparquet'))
const { parquetHeader } = await importOptional('hyparquet/src/column.js', () => import('hyparquet/src/column.js'))

const descriptor = fs.openSync(name, 'r')
const size = fs.fstatSync(descriptor).size

/** The bytes of the file, as hyparquet reads them. */
const file = {
  byteLength: size,
  slice(start, end = size) {
    if (!(start >= 0 && start <= end && end <= size)) throw new Failure('PARQUET', 'a part of it lies beyond its end')
    const bytes = new Uint8Array(end - start)
    for (let at = 0; at < bytes.length; ) {
      const read = fs.readSync(descriptor, bytes, at, bytes.length - at, start + at)
      if (read === 0) throw new Failure('PARQUET', 'it was truncated while it was read')
      at += read
    }
    return bytes.buffer
  },
}

const compressors = await parquetCompressors(ratio)

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text that is not valid UTF-8 stays bytes, so that the error names its row. */
function textOf(bytes) {
  try {
    return utf8.decode(bytes)
  } catch {
    return Uint8Array.from(bytes)
  }
}

/** Timestamps and dates stay numbers if rows are written to Parquet again: Dates lose digits. */
const UNCONVERTED = {
  timestampFromMilliseconds: (value) => value,
  timestampFromMicroseconds: (value) => value,
  timestampFromNanoseconds: (value) => value,
  dateFromDays: (value) => value,
}
const parsers = { stringFromBytes: (bytes) => bytes && textOf(bytes), ...(isRaw ? UNCONVERTED : {}) }

// The parent process has ended.
process.on('disconnect', () => process.exit())

try {
  await main()
} catch (error) {
  const [code, message] =
    error instanceof Failure
      ? [error.code.replace('ERR_TOKENLANE_', ''), error.message]
      : ['PARQUET', `it is damaged: ${error.message}`]
  // Since Node 22, V8 refuses to let an array grow before the heap is full, where Node 20 ends.
  if (error instanceof RangeError && error.message === 'Invalid array length') process.exitCode = 1
  else process.send({ failure: { code, message } })
}
process.disconnect()

async function main() {
  const metadata = await parquetMetadataAsync(file)
  checkSizes(metadata, size)
  const { text, kept, columns } = columnsOf(metadata.schema)
  process.send({ schema: Object.fromEntries(kept.map((column) => [column, subtree(metadata.schema, column)])) })
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    for (const { meta_data: column } of group.columns) {
      if (!columns.includes(column?.path_in_schema[0])) continue
      if (column.num_values < group.num_rows)
        throw new Failure('PARQUET', 'it is damaged: a row group has fewer values than rows')
      checkChunk(column)
    }
    let rows
    const onComplete = (all) => (rows = all)
    await parquetRead({
      file,
      metadata,
      columns,
      rowStart,
      rowEnd,
      rowFormat: 'object',
      onComplete,
      compressors,
      parsers,
      utf8: false,
    })
    await send(rows, text, kept, group)
    rowStart = rowEnd
  }
}

/** The columns that are read: that of the text, and those whose values are kept. */
function columnsOf(schema) {
  const names = topLevel(schema).map(({ name: column }) => column)
  const text = names.find((column) => field === column) ?? names.find((column) => field.startsWith(`${column}.`))
  if (text === undefined)
    throw new Failure('FIELD', `there is no column for the field '${field}'; the columns are ${names.join(', ')}`)
  const missing = Array.isArray(keep) ? keep.find((column) => !names.includes(column)) : undefined
  if (missing !== undefined)
    throw new Failure('FIELD', `there is no column '${missing}'; the columns are ${names.join(', ')}`)
  const kept = keep === 'all' ? names.filter((column) => column !== field) : (keep ?? [])
  return { text, kept, columns: [...new Set([text, ...kept])] }
}

/** The elements of the columns: a schema is a list in which children follow their parent. */
function topLevel(schema) {
  const found = []
  for (let at = 1; at < schema.length; at = endOf(schema, at)) found.push(schema[at])
  return found
}

function endOf(schema, at) {
  let open = 1
  for (; open > 0 && at < schema.length; at++) open += (schema[at].num_children ?? 0) - 1
  return at
}

function subtree(schema, name) {
  let at = 1
  while (schema[at].name !== name) at = endOf(schema, at)
  return schema.slice(at, endOf(schema, at))
}

/**
 * Checks what the pages of a column say before they are read.
 *
 * @param {import('hyparquet').ColumnMetaData} column
 */
function checkChunk(column) {
  const { codec, path_in_schema, num_values, total_compressed_size } = column
  checkCodec(column)
  const start = startOf(column)
  const bytes = file.slice(start, start + Number(total_compressed_size))
  if (codec === 'UNCOMPRESSED') ratio.read(bytes.byteLength)
  const reader = { view: new DataView(bytes), offset: 0 }
  let values = 0
  while (reader.offset < bytes.byteLength && values < Number(num_values)) {
    const header = parquetHeader(reader)
    const { num_values: count = 0, encoding } = header.data_page_header ?? header.data_page_header_v2 ?? {}
    checkEncoding(encoding, column)
    const own = header.dictionary_page_header?.num_values ?? count
    if (!(own >= 0 && header.compressed_page_size >= 0))
      throw new Failure('PARQUET', 'it is damaged: a page has a negative number of values')
    values += count
    const end = reader.offset + header.compressed_page_size
    if (header.crc !== undefined && crc32(new Uint8Array(bytes).subarray(reader.offset, end)) !== header.crc >>> 0)
      throw new Failure('PARQUET', 'it is damaged: the checksum of a page is wrong')
    reader.offset = end
  }
  if (values > Number(num_values))
    throw new Failure(
      'PARQUET',
      `it is damaged: the column '${path_in_schema.join('.')}' has more values than its header says`,
    )
}

/** Sends rows in batches; each waits until the one before was requested. */
async function send(rows, text, kept, group) {
  const bytesRead = Number(group.total_compressed_size ?? group.total_byte_size)
  let [from, units] = [0, 0]
  for (let row = 0; row < rows.length; row++) {
    const value = valueAt({ [text]: rows[row][text] }, field)
    const length = typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
    ratio.make(Math.max(length, ROW_BYTES))
    units += length
    if (units < BATCH_UNITS && row + 1 - from < BATCH_ROWS && row + 1 < rows.length) continue
    const batch = rows.slice(from, row + 1)
    const texts = batch.map((one) => valueAt({ [text]: one[text] }, field))
    const fields =
      kept.length > 0
        ? batch.map((one) => Object.fromEntries(kept.map((column) => [column, one[column] ?? null])))
        : undefined
    process.send({ texts, fields, bytes: Math.round((bytesRead * batch.length) / rows.length) })
    await new Promise((resolve) => process.once('message', resolve))
    ;[from, units] = [row + 1, 0]
  }
}
