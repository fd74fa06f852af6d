// Reads rows of ids from text, JSON Lines, NumPy arrays, Parquet, and files of little-endian
// integers, as `tokenlane encode` and other programs write them.

import fs from 'node:fs'

import { readHeader } from '../../lib/files/npy.mjs'
import { isParquet, parquetRows } from '../../lib/files/parquet.mjs'
import { MAX_JSON_ROW_BYTES, MAX_ROW_BYTES, isBlank, parseJson, valueAt } from '../../lib/files/json-rows.mjs'
import { Failure } from '../failure.mjs'
import { ByteReader } from './byte-reader.mjs'
import { readInput } from './open.mjs'
import { placeOf, withPlace } from './place.mjs'
import { batchesOf, tooLong } from './rows.mjs'
import { rowsFileOf } from './rows-file.mjs'

const BATCH_IDS = 1 << 20
const BATCH_ROWS = 1 << 14
const MAX_ID = 2 ** 32 - 1

/**
 * @typedef {object} IdRow
 * @property {Uint32Array | number[]} ids
 * @property {import('./files.mjs').Source} source
 * @property {number} [line]
 */

/**
 * @typedef {object} IdOptions
 * @property {string} [from] the format; by default that of the source's name
 * @property {string} field path of the ids in JSON and in Parquet files
 * @property {'u16' | 'u32'} type the type of the ids in files without a header
 * @property {number} [maxRow] in bytes
 * @property {(bytes: number) => void} [onRead]
 */

/**
 * Batches of rows of ids.
 *
 * @param {import('./files.mjs').Source[]} sources
 * @param {IdOptions} options
 * @returns {AsyncGenerator<IdRow[]>}
 */
export async function* idBatches(sources, options) {
  for (const source of sources) {
    const format = options.from ?? formatOf(source)
    if (format === 'parquet' || isParquet(source)) yield* tableRows(source, options)
    else if (format === 'npy' || format === 'bin') yield* binaryRows(source, format, options)
    else yield* lineRows(source, format, options)
  }
}

/** @param {import('./files.mjs').Source} source */
function formatOf({ file = '', name }) {
  const extension = /\.(jsonl|ndjson|npy|bin|parquet)(\.gz|\.zst)?$/i.exec(file || name)?.[1].toLowerCase()
  return extension === 'ndjson' ? 'jsonl' : (extension ?? 'text')
}

/**
 * @param {import('./files.mjs').Source} source
 * @param {string} format
 * @param {IdOptions} options
 */
async function* lineRows(source, format, { field, maxRow, onRead }) {
  const ids = format === 'jsonl' ? (row) => jsonIds(row, field) : textIds
  const most = maxRow ?? (format === 'jsonl' ? MAX_JSON_ROW_BYTES : undefined)
  for await (const rows of batchesOf([source], { unit: 'lines', maxRow: most, onRead })) {
    const full = format === 'jsonl' ? rows.filter(({ text }) => !isBlank(text)) : rows
    yield full.map((row) => ({ ids: ids(row), source, line: row.line }))
  }
}

/**
 * Parses numbers that are separated by spaces or commas. Brackets around the whole list are
 * allowed, because other programs print them.
 */
function textIds(row) {
  const text = row.text.toString('latin1').trim()
  const numbers = /^\[[^[\]]*\]$/.test(text) ? text.slice(1, -1) : text
  return Uint32Array.from(
    numbers.split(/[\s,]+/).filter((word) => word !== ''),
    (word) => {
      if (/^\d+$/.test(word) && Number(word) <= MAX_ID) return Number(word)
      throw new Failure('ID', `'${word.slice(0, 40)}' is not a token id`, { place: placeOf(row) })
    },
  )
}

/**
 * The rows of a column of lists.
 *
 * @param {import('./files.mjs').Source} source
 * @param {IdOptions} options
 */
async function* tableRows(source, { field, maxRow = MAX_ROW_BYTES, onRead }) {
  if (!isParquet(source))
    throw new Failure('PARQUET', 'this is not a Parquet file, or not a regular file', { place: source.name })
  source.isTable = true
  for await (const rows of parquetRows(source, { field, maxRatio: source.maxRatio, onRead })) {
    yield rows.map(({ text, line }) => {
      const row = { source, line }
      if (text?.length * 4 > maxRow) throw tooLong(() => placeOf(row))(maxRow)
      return {
        ids: listOfIds(row, field, ArrayBuffer.isView(text) ? Array.from(/** @type {any} */ (text)) : text),
        ...row,
      }
    })
  }
}

/** Returns the ids of a line of JSON: a list of ids, or an object with such a field. */
function jsonIds(row, field) {
  const value = withPlace(row, () => parseJson(row.text))
  return listOfIds(row, field, Array.isArray(value) ? value : valueAt(value, field))
}

function listOfIds(row, field, list) {
  const ids = Array.isArray(list) ? list.map((id) => (typeof id === 'bigint' ? Number(id) : id)) : list
  if (!Array.isArray(ids))
    throw new Failure('FIELD', `the field '${field}' must be a list of ids`, { place: placeOf(row) })
  const wrong = ids.find((id) => !Number.isInteger(id) || id < 0 || id > MAX_ID)
  if (wrong !== undefined)
    throw new Failure('ID', `${JSON.stringify(wrong)} is not a token id`, { place: placeOf(row) })
  return ids
}

const WIDTHS = { '<u2': 2, '<i2': 2, '<u4': 4, '<i4': 4, '<u8': 8, '<i8': 8, '|u1': 1 }
/** The number of row starts that are read at once. */
const STARTS = 1 << 15
/** The maximum number of rows of a table without columns. */
const MAX_EMPTY_ROWS = 1_000_000

/**
 * Rows of a binary file. Their starts are in a second file, or follow from the shape of a
 * two-dimensional array; otherwise the file is one row.
 *
 * @param {import('./files.mjs').Source} source
 * @param {string} format
 * @param {IdOptions} options
 */
async function* binaryRows(source, format, { type, maxRow = MAX_ROW_BYTES, onRead }) {
  const reader = new ByteReader(source.chunks(onRead))
  try {
    const { descr, shape } =
      format === 'npy' ? await readHeader(reader, source.name) : { descr: type === 'u16' ? '<u2' : '<u4', shape: [] }
    if (WIDTHS[descr] === undefined || shape.length > 2) {
      throw new Failure(
        'NPY',
        `ids must be little-endian integers in one or two dimensions, but the array has '${descr}' in ${shape.length} dimensions`,
        { place: source.name },
      )
    }
    // Rows without ids take no space in the file, so only the header limits their number.
    if (shape[1] === 0 && shape[0] > MAX_EMPTY_ROWS)
      throw new Failure('NPY', `it has more than ${MAX_EMPTY_ROWS} rows without ids`, { place: source.name })
    let line = 1
    for await (const lengths of rowLengths(source, format, shape)) {
      for (const some of inBatches(lengths)) {
        yield await readRows(reader, descr, some, { source, line, maxRow })
        line += some.length
      }
    }
    if ((await reader.read(1)).length > 0)
      throw new Failure('ID', 'there are more ids than in its rows', { place: source.name })
  } finally {
    await reader.close()
  }
}

/** Groups row lengths into batches. A long row has its own batch. */
function* inBatches(lengths) {
  let from = 0
  let ids = 0
  for (let row = 0; row < lengths.length; row++) {
    if (row > from && (ids + lengths[row] > BATCH_IDS || row - from === BATCH_ROWS)) {
      yield lengths.slice(from, row)
      from = row
      ids = 0
    }
    ids += lengths[row]
  }
  if (from < lengths.length) yield lengths.slice(from)
}

/** Reads rows of these lengths. `Infinity` means the rest of the file. */
async function readRows(reader, descr, lengths, { source, line, maxRow }) {
  const wanted = lengths.reduce((sum, length) => sum + length, 0)
  // Only a row with its own batch can be longer than a batch.
  const place = () => (lengths[0] === Infinity ? source.name : placeOf({ source, line }))
  const most = Math.max(maxRow, lengths.length > 1 ? BATCH_IDS * 8 : 0)
  const bytes = await reader.read(wanted * WIDTHS[descr], most, tooLong(place))
  if (bytes.length % WIDTHS[descr] !== 0) throw new Failure('ID', 'its last id is cut off', { place: source.name })
  const ids = idsOf(bytes, descr)
  if (ids === undefined) throw new Failure('ID', 'it has a number that is not a token id', { place: source.name })
  let at = 0
  return lengths.map((length, index) => {
    if (length === Infinity) return { ids, source }
    if (at + length > ids.length)
      throw new Failure('ID', `it ends in row ${line + index}, which has ${length} ids`, { place: source.name })
    at += length
    return { ids: ids.subarray(at - length, at), source, line: line + index }
  })
}

/** Yields the lengths of the rows, in parts. Without row starts or a table, all ids are one row. */
async function* rowLengths(source, format, shape) {
  if (shape.length === 2) {
    for (let left = shape[0]; left > 0; left -= STARTS) yield new Array(Math.min(left, STARTS)).fill(shape[1])
    return
  }
  const file = source.file && rowsFileOf(source.file)
  if (file === undefined || !fs.existsSync(file)) {
    yield [shape[0] ?? Infinity]
    return
  }
  const reader = new ByteReader(readInput(file))
  if (format === 'npy') await readHeader(reader, file)
  let before
  for (let bytes = await reader.read(STARTS * 8); bytes.length > 0; bytes = await reader.read(STARTS * 8)) {
    if (bytes.length % 8 !== 0) throw new Failure('ID', 'it is not a list of 64-bit numbers', { place: file })
    const starts = Array.from(new BigUint64Array(copyOf(bytes)), Number)
    if (before !== undefined) starts.unshift(before)
    before = starts.at(-1)
    const lengths = starts.slice(1).map((start, index) => start - starts[index])
    if (lengths.some((length) => length < 0)) throw new Failure('ID', 'rows end before they start', { place: file })
    yield lengths
  }
}

/** Copies bytes to an aligned buffer, for views of wider numbers. */
const copyOf = (bytes) => Uint8Array.from(bytes).buffer

const VIEWS = {
  '<u2': Uint16Array,
  '<i2': Int16Array,
  '<u4': Uint32Array,
  '<i4': Int32Array,
  '<u8': BigUint64Array,
  '<i8': BigInt64Array,
  '|u1': Uint8Array,
}

/** Returns numbers as ids, or undefined if one of them is not an id. */
function idsOf(bytes, descr) {
  const numbers = new VIEWS[descr](copyOf(bytes))
  const isWrong = WIDTHS[descr] === 8 ? (id) => id < 0n || id > BigInt(MAX_ID) : (id) => id < 0
  if ((WIDTHS[descr] === 8 || descr[1] === 'i') && numbers.some(isWrong)) return undefined
  return WIDTHS[descr] === 8 ? Uint32Array.from(numbers, Number) : new Uint32Array(numbers)
}
