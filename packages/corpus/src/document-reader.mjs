// Adds the rows of parts to batches of documents.
//
// The addon reads the documents of blocks of lines (src/documents.rs). This module reads what the
// addon leaves: lines of JSON in which it is not sure of the fields, with JSON.parse, and rows that
// are not lines.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'

import {
  Failure,
  MAX_JSON_ROW_BYTES,
  MAX_FILE_ROW_BYTES,
  isBlank,
  utf8Failure,
  parseJson,
  valueAt,
  fieldFailure,
} from 'tokenlane/internal/files.mjs'
import { native } from 'tokenlane/internal/corpus.js'
import { DocumentBatch } from './document-batch.mjs'
import { LineGatherer, tooLong } from './lines.mjs'
import { countedFrom } from './part.mjs'

const NEWLINE = 10
const RETURN = 13
const EMPTY = Buffer.alloc(0)
/**
 * The memory for one large row at a time.
 *
 * @typedef {object} RowMemory
 * @property {(bytes: number) => Promise<void>} reserve waits until there is memory for a row of
 *   `bytes` bytes. A second call, for more bytes, replaces the first one
 * @property {() => void} release
 */

/**
 * @typedef {object} Hooks
 * @property {(chunk: Buffer, bytes?: number) => void} onRead receives the bytes as they are stored;
 *   or, with `bytes`, a hash of that many bytes
 * @property {(mtime: number) => void} [onOpen] receives the time of the last change of each input
 * @property {(place: import('./document-batch.mjs').Place, error: Error) => void} onSkip receives
 *   each row that cannot be read; throws unless such rows are skipped
 * @property {import('./hooks.mjs').Hooks} [custom] the hooks of the user
 * @property {(counter: 'filtered' | 'unsampled' | 'unpaired') => void} [onCount]
 *   called for each document that hooks or the sample leave out, and for each text with unpaired
 *   surrogates, which become U+FFFD
 * @property {() => number} [skippedRows] the number of rows that were skipped so far
 * @property {import('./damage.mjs').Damage} [damage] what is left out of damaged inputs, if rows
 *   are skipped. Damage that is found while rows are read is thrown: the caller looks for all of
 *   it, and starts again. By default each compressed or Parquet input is read twice
 * @property {() => void} onDamage bytes of an input are left out: `onRead` does not receive them
 * @property {import('./chats.mjs').Chats} [chats] encodes the chats of rows, if documents are chats
 * @property {RowMemory} [memory] the caller releases it after a batch with `isLarge`
 */

/** The value of `#next` when all rows are added. */
const DONE = Infinity

/**
 * The maximum size of a row in bytes.
 *
 * @param {import('./part.mjs').Part} part
 * @param {import('./options.mjs').Content} content
 * @returns {number}
 */
export const maxRowBytes = ({ rows }, { maxRow }) =>
  maxRow ?? (rows === 'files' ? MAX_FILE_ROW_BYTES : MAX_JSON_ROW_BYTES)

/** The group of documents whose field is missing, or is not a string, number or boolean. */
const NO_GROUP = '(none)'

/**
 * Whether a field's name is valid Unicode. Only JSON.parse finds a name with half a surrogate pair.
 */
const isWellFormed = (name) => name === undefined || Buffer.from(name).toString() === name

/**
 * Whether the addon reads the documents of rows, unless there are hooks. It can read one field
 * besides the text.
 *
 * @param {string} rows
 * @param {import('./options.mjs').Content} content
 */
export function addonReads(rows, { field, idField, groupBy, messages, sample }) {
  if (sample !== undefined) return false
  if (rows === 'lines') return groupBy === undefined
  if (rows !== 'json' || messages !== undefined) return false
  const isRead = idField === undefined || groupBy === undefined
  return isRead && isWellFormed(field) && isWellFormed(idField ?? groupBy)
}

export class DocumentReader {
  #content
  #onSkip
  #onCount
  #chats
  #custom
  #batch
  #part = /** @type {import('./part.mjs').Part | undefined} */ (undefined)
  /** The addon's reader of the lines of the part. */
  #lines = /** @type {any} */ (undefined)
  /** Whether JavaScript reads the documents of all lines. */
  #readsAllLines = false
  /** Readers of the addon by the unit of their rows. */
  #readers = /** @type {Record<string, object>} */ ({})
  #maxRow = 0
  /** The number of rows of the part before the next one. */
  #row = 0
  /**
   * The loaded rows, and the next one to add: its index, or its byte position in a block of lines.
   */
  #rows = /** @type {any} */ ([])
  #next = 0

  /**
   * @param {import('./options.mjs').Content} content
   * @param {Hooks} hooks
   */
  constructor(content, { onSkip, onCount, chats, custom }) {
    this.#content = content
    this.#onSkip = onSkip
    this.#onCount = onCount
    this.#chats = chats
    this.#custom = custom
    this.#batch = this.#newBatch()
  }

  #newBatch() {
    const { idField, groupBy } = this.#content
    return new DocumentBatch(idField !== undefined, groupBy !== undefined)
  }

  /** Sets the part that the rows loaded from now on are from. */
  startPart(part) {
    const { rows } = part
    this.#part = part
    this.#maxRow = maxRowBytes(part, this.#content)
    this.#row = 0
    this.#batch.startPart(part)
    this.#readsAllLines = this.#custom !== undefined || !addonReads(rows, this.#content)
    if (rows !== 'json' && rows !== 'lines') return
    this.#readers[rows] ??= this.#lineReader(rows)
    this.#lines = this.#readers[rows]
  }

  /** Gathers a line of the part. */
  get gatherer() {
    return new LineGatherer(this.#lines)
  }

  /** Creates a reader of the addon. If JavaScript reads the lines, it only keeps them. */
  #lineReader(rows) {
    const { field, idField, groupBy, keepsLineEnds } = this.#content
    if (rows === 'lines' || this.#readsAllLines)
      return native.lineReader(undefined, undefined, this.#maxRow, keepsLineEnds)
    return native.lineReader(field, idField ?? groupBy, this.#maxRow)
  }

  /** Loads rows, or a block of lines. They must not change until all of them are added. */
  load(rows) {
    this.#rows = rows
    this.#next = 0
    if (!this.#readsAllLines && rows.lines !== undefined) native.loadLines(this.#lines, rows.lines)
  }

  /** Adds rows until a batch is full, and returns it; `undefined` when all rows are added. */
  nextBatch() {
    const isMore = Array.isArray(this.#rows) ? () => this.#addRow() : () => this.#addLines()
    while (isMore()) {
      if (!this.#batch.isFull) continue
      const batch = this.#batch.seal()
      this.#batch = this.#newBatch()
      this.#batch.startPart(this.#part)
      return batch
    }
    return undefined
  }

  /** Returns the batch of the last documents; `undefined` if there are none. */
  lastBatch() {
    const batch = this.#batch.seal()
    return batch.length > 0 ? batch : undefined
  }

  /** Adds the next row of an array. Returns whether there was one. */
  #addRow() {
    if (this.#next === this.#rows.length) return false
    this.#add(this.#rows[this.#next++])
    return true
  }

  /**
   * Adds lines until the batch is full or the addon leaves a line, which is then added too. Returns
   * whether there were any.
   */
  #addLines() {
    const { lines, gathered, at } = this.#rows
    const start = this.#next
    if (start === DONE) return false
    const isMore = this.#addSome(lines, gathered, at)
    if (!isMore) {
      gathered?.clear()
      this.#next = DONE
    }
    return true
  }

  /** Adds lines as `#addLines` does. Returns whether there may be further ones. */
  #addSome(lines, gathered, at) {
    const length = (lines ?? gathered)?.length
    if (length === undefined || length === 0) {
      this.#addLine(length === undefined ? undefined : EMPTY, at)
      return false
    }
    const start = this.#next
    let end
    if (this.#readsAllLines) {
      end = lines === undefined ? -1 : lines.indexOf(NEWLINE, start)
      if (end === -1) end = length
    } else {
      const taken = this.#batch.take(this.#lines, start, at, this.#row)
      this.#row += taken.count
      this.#next = taken.next
      end = taken.end
    }
    if (end !== undefined) {
      const isTooLong = end - this.#next > this.#maxRow
      const bytes = isTooLong ? undefined : (lines ?? gathered.bytes()).subarray(this.#next, end)
      this.#addLine(bytes, at + this.#next)
      this.#next = end + 1
    }
    return this.#next < length
  }

  #addLine(bytes, at) {
    const { path, start } = this.#part
    this.#row += 1
    this.#add({ path, bytes, at, line: start === 0 ? this.#row : undefined, ...countedFrom(this.#part) })
  }

  #add(row) {
    try {
      const found = this.#read(row)
      if (found === undefined) return
      if (!isInSample(found.text, this.#content)) return this.#onCount?.('unsampled')
      const text = this.#custom === undefined ? found.text : this.#changed(found, row)
      if (text === undefined) return this.#onCount?.('filtered')
      this.#batch.push(text, row, found.id, found.group)
      if (found.tokens !== undefined) this.#batch.pushChat(found.tokens)
    } catch (failure) {
      this.#onSkip(row, failure)
    }
  }

  /** The text of a document after the hooks; `undefined` if they leave it out. */
  #changed(found, { path }) {
    const { text, id, value } = found
    if (!isUtf8(text)) throw utf8Failure()
    const changed = this.#custom?.textOf({ text: asBuffer(text).toString(), path, id, row: value })
    if (changed === undefined) return undefined
    const bytes = Buffer.from(changed)
    if (bytes.length > this.#maxRow) throw tooLong(this.#maxRow)
    return bytes
  }

  /**
   * The text, the id and the group of a row, and the tokens of a chat; `undefined` for a blank line
   * of JSON.
   *
   * @returns {{ text: Uint8Array, tokens?: Uint32Array, id?: string, group?:
   *   string, value?: any } | undefined} `value` is the row of JSON
   */
  #read(row) {
    const { rows } = this.#part
    if (row.failure !== undefined) throw row.failure
    if (rows === 'parquet' || rows === 'csv') return this.#tableDocument(row)
    if (row.bytes === undefined) throw tooLong(this.#maxRow)
    if (rows === 'json') return this.#jsonDocument(row.bytes)
    return { text: rows === 'lines' ? withoutReturn(row.bytes) : row.bytes, group: this.#groupOf(undefined) }
  }

  #jsonDocument(bytes) {
    const { field, idField, groupBy } = this.#content
    if (isBlank(bytes)) return undefined
    const value = parseJson(bytes)
    return {
      ...(this.#chats?.document(value, bytes) ?? { text: this.#textAt(value, field) }),
      id: idField === undefined ? undefined : idOf(valueAt(value, idField), idField),
      group: this.#groupOf(() => valueAt(value, groupBy)),
      value,
    }
  }

  /** The text of a field in a row of JSON. */
  #textAt(value, field) {
    const found = valueAt(value, field)
    if (typeof found !== 'string') throw fieldFailure(field, 'a string', found, value)
    if (!found.isWellFormed()) this.#onCount?.('unpaired')
    return Buffer.from(found)
  }

  /** The group of a document, if documents have groups. `read` returns the value of its field. */
  #groupOf(read) {
    if (this.#content.groupBy === undefined) return undefined
    const value = read?.()
    return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : NO_GROUP
  }

  /** The document of a row of Parquet or CSV. */
  #tableDocument({ value, tools, completion, id, group: given }) {
    const document = this.#chats?.tableDocument({ messages: value, completion, tools }) ?? {
      text: this.#tableText(value),
    }
    const { idField } = this.#content
    const group = this.#groupOf(() => (given instanceof Uint8Array ? asBuffer(given).toString() : given))
    if (idField === undefined) return { ...document, group }
    const plain = id instanceof Uint8Array ? asBuffer(id).toString() : typeof id === 'bigint' ? String(id) : id
    return { ...document, group, id: idOf(plain ?? null, idField) }
  }

  /** The text of a row of Parquet or CSV. */
  #tableText(value) {
    const { field } = this.#content
    if (typeof value !== 'string' && !(value instanceof Uint8Array))
      throw fieldFailure(field, 'a string', value ?? null)
    const text = typeof value === 'string' ? Buffer.from(value) : asBuffer(value)
    if (text.length > this.#maxRow) throw tooLong(this.#maxRow)
    if (!isUtf8(text)) throw utf8Failure()
    return text
  }
}

/** Whether the hash of a text, as a number from 0 to 1, is in the range of the sample. */
function isInSample(text, { sample }) {
  if (sample === undefined) return true
  const place = createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48
  return place >= sample[0] && place < sample[1]
}

/** The bytes of a line without a carriage return at their end. */
const withoutReturn = (bytes) => (bytes[bytes.length - 1] === RETURN ? bytes.subarray(0, -1) : bytes)

const asBuffer = (view) => Buffer.from(view.buffer, view.byteOffset, view.byteLength)

function idOf(id, idField) {
  if (typeof id === 'string') return id
  if (typeof id !== 'number') throw fieldFailure(idField, 'a string or a number', id)
  if (Number.isInteger(id) && !Number.isSafeInteger(id)) {
    throw new Failure(
      'FIELD',
      `the field '${idField}' is a number above 2^53, which readers of JSON round: write it as a string`,
    )
  }
  return String(id)
}
