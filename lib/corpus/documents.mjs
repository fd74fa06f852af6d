// The documents of the parts of a shard. Rows that cannot be read are errors, or are skipped and
// counted.

import { isUtf8 } from 'node:buffer'

import { Failure } from '../files/failure.mjs'
import { decompressed } from '../files/decompress.mjs'
import { Gatherer } from '../files/gather.mjs'
import { MAX_JSON, MAX_LINE, MAX_WHOLE, valueAt } from '../files/rows.mjs'
import { ArenaPool } from './arena.mjs'
import { inputChanged } from './errors.mjs'
import { FieldReader } from './json-field.mjs'
import { openInput } from './store/store.mjs'
import { tableRows } from './table.mjs'

/** Bytes of text, and documents, that are encoded in one call. */
const BATCH_BYTES = 2 << 20
const BATCH_DOCUMENTS = 1 << 14
const NEWLINE = 10
const RETURN = 13
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Errors of an input as a whole that `onError: 'skip'` leaves out: the rest of the input cannot be
 * read.
 */
const OF_INPUTS = ['DECOMPRESS', 'DECOMPRESS_LIMIT', 'PARQUET'].map((code) => `ERR_TOKENLANE_${code}`)

/**
 * A document.
 *
 * @typedef {object} Document
 * @property {Buffer} text as UTF-8
 * @property {string} [id]
 * @property {string} path of its input
 * @property {number} at the byte of the decompressed input at which its row starts; in Parquet the
 *   number of the row, counted from 0
 * @property {number} [line] counted from 1; only where the input is read from its start
 * @property {number} [row] counted from 1; only in Parquet
 */

/** Where a document is, for messages. */
export const placeOf = ({ path, at, line, row }) =>
  `${path}, ${row !== undefined ? `row ${row}` : line === undefined ? `byte ${at}` : `line ${line}`}`

/**
 * Documents that are encoded together. Their texts are only there until `release` is called.
 *
 * @typedef {object} DocumentBatch
 * @property {Document[]} documents
 * @property {number} bytes of text
 * @property {() => void} release
 */

/**
 * The documents of parts, in batches.
 *
 * @param {import('./part.mjs').Part[]} parts
 * @param {string | undefined} base the folder that their paths are relative to
 * @param {import('./options.mjs').Content} content
 * @param {{ onRead: (chunk: Buffer, bytes?: number) => void, onSkip: (place: { path: string, at:
 *   number, line?: number, row?: number }, error: Error) => void }} hooks `onRead` gets the bytes
 *   as they lie on the disk, or a hash of them and their number; `onSkip` throws if rows are not to
 *   be skipped
 * @returns {AsyncGenerator<DocumentBatch>}
 */
export async function* documentsOf(parts, base, content, hooks) {
  const pool = new ArenaPool()
  const reader = new FieldReader(content.field, content.idField)
  let documents = []
  let bytes = 0
  let arena = pool.arena()
  const take = () => {
    const { release } = arena
    const batch = { documents, bytes, release: release.bind(arena) }
    documents = []
    bytes = 0
    arena = pool.arena()
    return batch
  }
  for (const part of parts) {
    for await (const rows of rowsOfPart(part, base, content, hooks)) {
      for (const row of rows) {
        let document
        try {
          document = documentOf(row, part, content, arena, reader)
        } catch (failure) {
          hooks.onSkip(row, failure)
        }
        if (document === undefined) continue
        documents.push(document)
        bytes += document.text.length
        if (bytes >= BATCH_BYTES || documents.length >= BATCH_DOCUMENTS) yield take()
      }
    }
  }
  if (documents.length > 0) yield take()
}

/** The document of a row, or nothing of a blank line of JSON. */
function documentOf(row, part, content, arena, reader) {
  if (part.rows === 'parquet') return tableDocument(row, part, content, arena)
  const { bytes, path, at, line } = row
  if (bytes === undefined) throw tooLong(mostOf(part, content))
  if (part.rows === 'json') return jsonDocument(row, content, arena, reader)
  return { text: arena.copy(part.rows === 'lines' ? withoutReturn(bytes) : bytes), path, at, line }
}

/** The most bytes of a row. */
const mostOf = ({ rows }, { maxRow }) =>
  maxRow ?? { json: MAX_JSON, lines: MAX_LINE, files: MAX_WHOLE, parquet: MAX_LINE }[rows]

/**
 * The rows of a part. Those of a chunk come together, and are valid until the next ones are
 * requested.
 */
async function* rowsOfPart(part, base, content, hooks) {
  const input = await openPart(part, base)
  try {
    if (part.rows === 'parquet') {
      yield* tableRows(part, input, content, hooks.onRead)
      await input.checkUnchanged()
      return
    }
    const raw = input.chunks(part.start, part.end, { onRead: hooks.onRead, isReused: part.codec === undefined })
    const chunks = part.codec === undefined ? raw : decompressed(raw, content.maxRatio)
    const most = mostOf(part, content)
    yield* part.rows === 'files' ? wholeFile(chunks, most, part) : linesOf(chunks, most, part)
    await input.checkUnchanged()
  } catch (failure) {
    if (!OF_INPUTS.includes(failure.code) && !(failure.code === 'ERR_TOKENLANE_FIELD' && part.rows === 'parquet'))
      throw failure
    hooks.onSkip(
      { path: part.path, at: 0, line: undefined },
      new Failure(failure.code.slice('ERR_TOKENLANE_'.length), failure.message),
    )
  } finally {
    await input.close()
  }
}

/** Opens an input and compares it with the plan. */
async function openPart(part, base) {
  const input = await openInput(part.path, base, part.start)
  try {
    if (input.size !== part.size) throw inputChanged(part.path, `it had ${part.size} bytes and has ${input.size}`)
    const sample = await input.sample(part.start, part.end)
    if (sample !== part.sample) {
      throw inputChanged(
        part.path,
        `the ends of bytes ${part.start} to ${part.end} had the SHA-256 ${part.sample} and have ${sample}`,
      )
    }
    return input
  } catch (failure) {
    await input.close()
    throw failure
  }
}

async function* wholeFile(chunks, most, { path }) {
  const row = new Gatherer(most, tooLong)
  let isTooLong = false
  for await (const chunk of chunks) {
    isTooLong ||= row.length + chunk.length > most
    if (isTooLong) row.take()
    else row.push(chunk)
  }
  yield [{ path, bytes: isTooLong ? undefined : row.take(), at: 0, line: 1 }]
}

const tooLong = (most) =>
  new Failure('TEXT_TOO_LONG', `this row has more than ${most} bytes, the limit that maxRow (--max-row) sets`)

const withoutReturn = (bytes) => (bytes[bytes.length - 1] === RETURN ? bytes.subarray(0, -1) : bytes)

/**
 * Lines without their ends; `bytes` is undefined for one that is too long. The lines of a chunk
 * come together.
 *
 * @returns {AsyncGenerator<{ path: string, bytes: Buffer | undefined, at: number, line?: number
 *   }[]>}
 */
async function* linesOf(chunks, most, { path, start: first }) {
  // In turns: the start of the next line is gathered while the last one is in use.
  let [begun, spare] = [0, 1].map(() => new Gatherer(most, tooLong, { isReused: true }))
  const isCounted = first === 0
  let isTooLong = false
  /** The position of the chunk, and of the line. */
  let position = first
  let at = first
  let line = 0
  const gather = (bytes) => {
    isTooLong ||= begun.length + bytes.length > most
    if (isTooLong) begun.take()
    else begun.push(bytes)
  }
  const end = (rest, next) => {
    let bytes = rest
    if (isTooLong || begun.length + rest.length > most) {
      begun.take()
      bytes = undefined
    } else if (begun.length > 0) {
      begun.push(rest)
      bytes = begun.take()
      ;[begun, spare] = [spare, begun]
    }
    if (at === 0 && bytes?.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3)
    line += 1
    const row = { path, bytes, at, line: isCounted ? line : undefined }
    isTooLong = false
    at = next
    return row
  }
  for await (const chunk of chunks) {
    const rows = []
    let from = 0
    for (let to = chunk.indexOf(NEWLINE); to !== -1; from = to + 1, to = chunk.indexOf(NEWLINE, from)) {
      rows.push(end(chunk.subarray(from, to), position + to + 1))
    }
    if (from < chunk.length) gather(chunk.subarray(from))
    position += chunk.length
    if (rows.length > 0) yield rows
  }
  if (at < position) yield [end(Buffer.alloc(0), position)]
}

/** The document of a line of JSON; nothing of a blank line. */
function jsonDocument({ bytes, path, at, line }, { field, idField }, arena, reader) {
  if (bytes.length === 0 || isBlank(bytes)) return undefined
  if (!isUtf8(bytes)) throw new Failure('INVALID_UTF8', 'it is not UTF-8')
  let text
  let id
  if (reader.read(bytes, arena.room(bytes.length))) {
    text = arena.keep(reader.length)
    id = reader.id
  } else {
    const value = parse(bytes)
    const found = valueAt(value, field)
    if (typeof found !== 'string') throw noString(field, found)
    text = arena.copy(Buffer.from(found))
    id = idField === undefined ? undefined : valueAt(value, idField)
  }
  return idField === undefined ? { text, path, at, line } : { text, id: idOf(id, idField), path, at, line }
}

/** The document of a row of a Parquet file. */
function tableDocument({ value, id, path, at, row }, part, content, arena) {
  const { field, idField } = content
  const place = { path, at, row }
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) throw noString(field, value ?? null)
  const bytes = typeof value === 'string' ? Buffer.from(value) : asBuffer(value)
  const most = mostOf(part, content)
  if (bytes.length > most) throw tooLong(most)
  if (!isUtf8(bytes)) throw new Failure('INVALID_UTF8', 'it is not UTF-8')
  const text = arena.copy(bytes)
  if (idField === undefined) return { text, ...place }
  const plain = id instanceof Uint8Array ? asBuffer(id).toString() : typeof id === 'bigint' ? String(id) : id
  return { text, id: idOf(plain ?? null, idField), ...place }
}

const asBuffer = (view) => Buffer.from(view.buffer, view.byteOffset, view.byteLength)

const noString = (field, found) => new Failure('FIELD', `the field '${field}' must be a string, and ${kindOf(found)}`)

function parse(bytes) {
  try {
    return JSON.parse(bytes.toString())
  } catch (cause) {
    throw new Failure('JSON', `it is no JSON: ${cause.message}`, { cause })
  }
}

function idOf(id, idField) {
  if (typeof id === 'string') return id
  if (typeof id !== 'number')
    throw new Failure('FIELD', `the field '${idField}' must be a string or a number, and ${kindOf(id)}`)
  if (Number.isInteger(id) && !Number.isSafeInteger(id)) {
    throw new Failure(
      'FIELD',
      `the field '${idField}' is a number above 2^53, which readers of JSON round: write it as a string`,
    )
  }
  return String(id)
}

const isBlank = (bytes) => bytes[0] <= 32 && bytes.every((byte) => byte === 32 || byte === 9 || byte === RETURN)

function kindOf(value) {
  if (value === undefined) return 'there is no such field'
  return `it is ${value === null ? 'null' : `of the type ${Array.isArray(value) ? 'array' : typeof value}`}`
}
