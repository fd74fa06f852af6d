// Documents that are encoded together. The addon holds their texts (src/documents.rs). This module
// holds their places, lengths and ids, which are looked up on demand.

import { native } from 'tokenlane/internal/corpus.js'
import { countedFrom } from './part.mjs'

/** Bytes of text and number of documents at which a batch is full. */
const BATCH_BYTES = 2 << 20
const BATCH_DOCUMENTS = 1 << 14
/**
 * Numbers per document in the addon's table: the byte at which its row starts, the number of the
 * row, and the length of its text in bytes.
 */
const TABLE_COLUMNS = 3
/** The addon stopped at a line that it cannot read. See `Stop` in src/documents.rs. */
const STOPPED_UNREAD = 2

// Receives the addon's result: why it stopped, the start and the end of the next line, and the
// number of lines that it took.
const taken = new Uint32Array(4)

/**
 * Where a document is.
 *
 * @typedef {object} Place
 * @property {string} path of its input
 * @property {number} at the byte of the decompressed input at which its row starts; in Parquet the
 *   number of the row, counted from 0
 * @property {number} [from] the byte of the compressed input from which `at` counts decompressed
 *   bytes, if that is not its start
 * @property {number} [line] counted from 1; only where the input is read from its start
 * @property {number} [row] counted from 1; only in Parquet
 */

export class DocumentBatch {
  /** The addon's handle of the documents. */
  handle = native.documents(BATCH_BYTES, BATCH_DOCUMENTS)
  /** The parts that the documents are from, in order, each with the index of its first document. */
  #runs = /** @type {{ part: import('./part.mjs').Part, first: number }[]} */ ([])
  #hasIds
  #hasGroups
  #table = new Float64Array(0)
  /** For each document: its id, its group, or both as an array. */
  #ids = /** @type {any[]} */ ([])
  #characters = new Uint32Array(0)
  /** The tokens of each document that is a chat, with their loss masks. */
  #chats = /** @type {Uint32Array[]} */ ([])
  #bytes = 0
  /** Whether memory was reserved for a row of the batch. */
  isLarge = false

  /**
   * @param {boolean} hasIds whether the documents have ids
   * @param {boolean} [hasGroups] whether they have groups
   */
  constructor(hasIds, hasGroups = false) {
    this.#hasIds = hasIds
    this.#hasGroups = hasGroups
  }

  get hasGroups() {
    return this.#hasGroups
  }

  /** The number of documents. It is set by `seal`; before that only the addon knows it. */
  length = 0

  /** Bytes of text. */
  get bytes() {
    return this.#bytes
  }

  /** Sets the part that the documents added from now on are from. */
  startPart(part) {
    this.#runs.push({ part, first: native.documentsSize(this.handle)[0] })
  }

  /** Whether the documents must be encoded before others are added. */
  get isFull() {
    const [documents, bytes, idBytes] = native.documentsSize(this.handle)
    return documents >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES || idBytes >= BATCH_BYTES
  }

  /**
   * Lets the addon add the documents of loaded lines, until the batch is full or the addon meets a
   * line that it cannot read. Returns the start of the next line (`next`), the end of that line if
   * JavaScript has to read it (`end`), and the number of lines that were taken (`count`).
   *
   * @param {object} lines a reader of the addon
   * @param {number} start the byte of the loaded lines to start at
   * @param {number} position the position in the input of the first byte that was loaded
   * @param {number} row the number of rows before `start`
   */
  take(lines, start, position, row) {
    native.takeDocuments(lines, this.handle, start, position, row, taken)
    const [reason, next, end, count] = taken
    return { next, end: reason === STOPPED_UNREAD ? end : undefined, count }
  }

  /**
   * Adds a document.
   *
   * @param {Uint8Array} text as UTF-8
   * @param {{ at: number, line?: number, row?: number }} place
   * @param {string} [id]
   * @param {string} [group]
   */
  push(text, { at, line, row }, id, group) {
    const about = id !== undefined && group !== undefined ? [id, group] : (id ?? group)
    native.pushDocument(
      this.handle,
      text,
      at,
      row ?? line ?? 0,
      about === undefined ? undefined : JSON.stringify(about),
    )
  }

  /** Adds the tokens of a document that is a chat, which was encoded when it was read. */
  pushChat(tokens) {
    this.#chats.push(tokens)
  }

  /** The tokens of all chats, as the addon returns those of documents. */
  takeChats() {
    const rowOffsets = new Uint32Array(this.#chats.length + 1)
    this.#chats.forEach((tokens, index) => {
      rowOffsets[index + 1] = rowOffsets[index] + tokens.length
    })
    const ids = new Uint32Array(rowOffsets[this.#chats.length])
    this.#chats.forEach((tokens, index) => void ids.set(tokens, rowOffsets[index]))
    const { length } = this.#chats
    this.#chats = []
    return { ids, rowOffsets, length, dispose() {} }
  }

  /** Makes the documents available to the methods below. No more documents can be added. */
  seal() {
    this.#bytes = native.documentsSize(this.handle)[1]
    this.#table = new Float64Array(native.takeDocumentTable(this.handle))
    this.length = this.#table.length / TABLE_COLUMNS
    if (this.#hasIds || this.#hasGroups) {
      const json = Buffer.from(native.takeDocumentIds(this.handle)).toString()
      this.#ids = JSON.parse(`[${json.slice(1)}]`)
    }
    return this
  }

  /** Counts the characters of all texts, before the batch is released. */
  countCharacters() {
    this.#characters = new Uint32Array(native.documentCharacters(this.handle))
  }

  /** The length of a text in bytes. */
  textBytes(index) {
    return this.#table[index * TABLE_COLUMNS + 2]
  }

  /** The length of a text in characters, Unicode code points, after `countCharacters`. */
  characters(index) {
    return this.#characters[index]
  }

  /** The group of a document, if documents have groups. */
  group(index) {
    return String(this.#hasIds ? this.#ids[index][1] : this.#ids[index])
  }

  /** A copy of a text. */
  text(index) {
    return native.documentText(this.handle, index)
  }

  /** Calls `visit` with the path of each input and the range `first..end` of its documents. */
  eachPath(visit) {
    this.#runs.forEach(({ part, first }, index) => {
      const end = this.#runs[index + 1]?.first ?? this.length
      if (first < end) visit(part.path, first, end)
    })
  }

  /** The part that a document is from: the last one that starts at or before it. */
  #partOf(index) {
    let [from, to] = [0, this.#runs.length - 1]
    while (from < to) {
      const middle = (from + to + 1) >> 1
      if (this.#runs[middle].first <= index) from = middle
      else to = middle - 1
    }
    return this.#runs[from].part
  }

  /** @returns {Place} */
  place(index) {
    const part = this.#partOf(index)
    const at = this.#table[index * TABLE_COLUMNS]
    const row = this.#table[index * TABLE_COLUMNS + 1]
    if (part.rows === 'parquet') return { path: part.path, at, row }
    return part.start === 0 ? { path: part.path, at, line: row } : { path: part.path, at, ...countedFrom(part) }
  }

  /** The facts about a document that output files may contain. */
  about(index) {
    const { path, at } = this.place(index)
    const id = this.#hasIds ? String(this.#hasGroups ? this.#ids[index][0] : this.#ids[index]) : undefined
    return { id, path, at }
  }

  /** Releases the texts. */
  release() {
    native.clearDocuments(this.handle)
  }
}
