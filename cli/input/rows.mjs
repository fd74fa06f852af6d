// Rows of text: the lines of files, whole files, or a field of each line of JSON. Batches have a
// few megabytes, so that lines of a file of any size never fill the memory.

import { Gatherer } from '../../lib/files/gather.mjs'
import { isParquet, parquetRows } from '../../lib/files/parquet.mjs'
import {
  MAX_JSON_ROW_BYTES,
  MAX_ROW_BYTES,
  MAX_FILE_ROW_BYTES,
  isBlank,
  parseJson,
  valueAt,
  fieldFailure,
} from '../../lib/files/json-rows.mjs'
import { Failure, UsageError, at } from '../failure.mjs'
import { NotText } from './not-text.mjs'
import { placeOf } from './place.mjs'

/** Without a record of skipped rows, the first error is thrown. */
const NO_SKIPS = {
  row: (_, error) => {
    throw error
  },
  source: (_, error) => {
    throw error
  },
}

const BATCH_BYTES = 4 << 20
const BATCH_ROWS = 1 << 14
/** Maximum of `--max-row`. The longest text that the core takes is 64 bytes shorter. */
const MAX_TEXT_BYTES = 2 ** 32 - 1
const NEWLINE = 10
const RETURN = 13
const EMPTY = Buffer.alloc(0)

/** The option of all commands that read rows. */
export const MAX_ROW_OPTION = {
  'max-row': {
    value: 'SIZE',
    size: [1, MAX_TEXT_BYTES],
    help: 'maximum size of a row in bytes, such as 1G (default: 256M for a whole file, 64M for a line, 16M for a line of JSON)',
  },
}

export const ROW_OPTIONS = {
  text: { short: 'x', value: 'TEXT', help: 'read this text instead of files' },
  rows: { choices: ['lines', 'files'], help: 'unit of a row' },
  field: {
    value: 'PATH',
    help: 'read JSON Lines or Parquet, and take the text of a row from this field, such as text or messages.0.content',
  },
}

/**
 * A text and its place.
 *
 * @typedef {object} Row
 * @property {Buffer | string} text
 * @property {import('./files.mjs').Source} source
 * @property {number} [line] counted from 1; undefined if the row is a file
 * @property {Record<string, any>} [fields] other fields of the row, if requested
 * @property {{ messages: any[], tools?: any[] }} [chat] in the line, if it is requested
 * @property {Record<string, any>} [schema] of a row of a Parquet file: the elements of its schema,
 *   by the names of `fields`
 */

/**
 * @typedef {object} BatchOptions
 * @property {string} unit `'lines'`, `'files'` or `'fields'`
 * @property {string} [field]
 * @property {string} [messages] path of a chat, which rows have instead of a field; their text is
 *   the line
 * @property {string} [tools] path of its tools
 * @property {number} [maxRow] in bytes
 * @property {(bytes: number) => void} [onRead]
 * @property {Pick<import('../skips.mjs').Skips, 'row' | 'source'>} [skips] handles rows and
 *   sources that cannot be read
 * @property {'all' | string[]} [keep] fields that rows keep besides their text
 * @property {boolean} [isRaw] whether dates and times of Parquet files stay numbers
 * @property {number} [maxRatio] the source's by default
 */

/** Returns the unit of rows that the options select: `'lines'`, `'files'` or `'fields'`. */
export function unitOf({ rows, field, messages, text }, byDefault) {
  if ((field ?? messages) === undefined) return rows ?? (text === undefined ? byDefault : 'files')
  if (rows === 'files')
    throw new UsageError(
      `'--${field === undefined ? 'messages' : 'field'}' reads lines, which contradicts '--rows files'`,
    )
  return 'fields'
}

/**
 * The rows of all sources, in order, in batches.
 *
 * @param {import('./files.mjs').Source[]} sources
 * @param {BatchOptions} options
 * @returns {AsyncGenerator<Row[]>}
 */
export async function* batchesOf(sources, options) {
  let batch = []
  let bytes = 0
  for await (const rows of rowsOf(sources, { skips: NO_SKIPS, ...options })) {
    for (const row of rows) {
      batch.push(row)
      bytes += row.text.length
      if (bytes < BATCH_BYTES && batch.length < BATCH_ROWS) continue
      yield batch
      batch = []
      bytes = 0
    }
  }
  if (batch.length > 0) yield batch
}

/** Yields the rows of all sources, grouped as they are read. */
async function* rowsOf(sources, options) {
  const { unit, maxRow, onRead, skips } = options
  const most = maxRow ?? (unit === 'fields' ? MAX_JSON_ROW_BYTES : MAX_ROW_BYTES)
  for (const source of sources) {
    try {
      if (isParquet(source)) {
        if (unit !== 'fields') refuseParquet(source)
        if (options.messages !== undefined)
          throw new Failure('PARQUET', 'chats are read from JSON Lines, not from Parquet', { place: source.name })
        yield* tableRows(source, options)
        continue
      }
      const parts = unit === 'files' ? wholeFile(source, maxRow, onRead) : lines(source, most, onRead, skips)
      for await (const rows of parts) yield unit === 'fields' ? fields(rows, options) : rows
    } catch (error) {
      skips.source(source, error)
    }
  }
}

/** Throws for a Parquet file if no column was named. */
export function refuseParquet(source) {
  if (source.isFound) throw new NotText()
  throw new Failure('PARQUET', `this is a Parquet file: name the column of its texts with '--field'`, {
    place: source.name,
  })
}

/**
 * The rows of a Parquet file. Bytes that are not valid UTF-8 are left to the tokenizer, which
 * refuses them.
 *
 * @param {import('./files.mjs').Source} source
 * @param {BatchOptions} options
 */
async function* tableRows(source, { skips, maxRow = MAX_ROW_BYTES, maxRatio = source.maxRatio, field, ...options }) {
  source.isTable = true
  for await (const rows of parquetRows(source, { ...options, field, maxRatio })) {
    yield rows.flatMap((row) => {
      try {
        return [{ ...row, text: checkTableText(row, field, maxRow) }]
      } catch (error) {
        skips.row(row, error)
        return []
      }
    })
  }
}

function checkTableText(row, field, maxRow) {
  const { text } = row
  if (text instanceof Uint8Array || typeof text === 'string') {
    if (Buffer.byteLength(text) > maxRow) throw tooLong(() => placeOf(row))(maxRow)
    return typeof text === 'string' ? text : Buffer.from(text)
  }
  throw at(placeOf(row), fieldFailure(field, 'a string', text))
}

async function* wholeFile(source, maxRow, onRead) {
  yield [{ text: await wholeText(source, maxRow, onRead), source }]
}

/** Returns the function that creates a Gatherer's error for a row that is too long. */
export const tooLong =
  (place, hint = '') =>
  (most) =>
    new Failure('TEXT_TOO_LONG', `this row has more than ${most} bytes; '--max-row SIZE' allows more${hint}`, {
      place: place(),
    })

/** Returns all bytes of a source. */
export async function wholeText(source, maxRow = MAX_FILE_ROW_BYTES, onRead) {
  const text = new Gatherer(
    maxRow,
    tooLong(() => source.name, ", and '--rows lines' makes each line a row"),
  )
  text.reserve(source.size ?? 0)
  for await (const chunk of source.chunks(onRead)) text.push(chunk)
  return text.take()
}

/**
 * Yields the lines of a source, those of each chunk together, without the line ends \n and \r\n.
 * The end of the last line does not start another one.
 */
async function* lines(source, maxRow, onRead, skips) {
  let line = 0
  let isTooLong = false
  const here = () => placeOf({ source, line: line + 1 })
  const start = new Gatherer(maxRow, tooLong(here))
  const add = (part) => {
    if (isTooLong) return
    try {
      start.push(part)
    } catch (error) {
      skips.row({ source, line: line + 1 }, error)
      start.take()
      isTooLong = true
    }
  }
  /** Returns the row that ends with `rest` in a list, which is empty if the row was skipped. */
  const row = (rest) => {
    if (isTooLong || start.length > 0 || rest.length > maxRow) add(rest)
    const text = start.length > 0 ? start.take() : rest
    line += 1
    if (isTooLong) {
      isTooLong = false
      return []
    }
    return [{ text: text[text.length - 1] === RETURN ? text.subarray(0, -1) : text, source, line }]
  }
  try {
    for await (const chunk of source.chunks(onRead)) {
      const rows = []
      let from = 0
      for (let to = chunk.indexOf(NEWLINE); to !== -1; from = to + 1, to = chunk.indexOf(NEWLINE, from))
        rows.push(...row(chunk.subarray(from, to)))
      if (from < chunk.length) add(chunk.subarray(from))
      if (rows.length > 0) yield rows
    }
  } catch (error) {
    // The decompressor does not know the line.
    const failure =
      error.code === 'ERR_TOKENLANE_DECOMPRESS_LIMIT'
        ? new Failure('DECOMPRESS_LIMIT', error.reason, { place: here(), cause: error })
        : error
    // The unreadable part starts here.
    throw failure instanceof Failure ? Object.assign(failure, { line: line + 1 }) : failure
  }
  if (start.length > 0) yield row(EMPTY)
}

/** Returns a row for the field of each line. Blank lines are skipped. */
function fields(rows, { field, messages, tools, keep, skips }) {
  return rows.flatMap((row) => {
    if (isBlank(row.text)) return []
    try {
      const value = parseJson(row.text)
      if (messages !== undefined)
        return [{ ...row, chat: { messages: listAt(value, messages), tools: tools && listAt(value, tools, true) } }]
      const text = valueAt(value, field)
      if (typeof text !== 'string') throw fieldFailure(field, 'a string', text)
      return [{ ...row, text, ...(keep && { fields: keptOf(value, field, keep) }) }]
    } catch (error) {
      skips.row(row, at(placeOf(row), error))
      return []
    }
  })
}

/** The list in a field. One that `isOptional` may be absent or null. */
function listAt(value, field, isOptional = false) {
  const list = valueAt(value, field)
  if (isOptional) return list ?? undefined
  if (!Array.isArray(list)) throw fieldFailure(field, 'a list of messages', list)
  return list
}

/** Returns the kept fields of an object. A missing field is null. */
function keptOf(value, field, keep) {
  const names = keep === 'all' ? Object.keys(value).filter((name) => name !== field) : keep
  return Object.fromEntries(names.map((name) => [name, valueAt(value, name) ?? null]))
}
