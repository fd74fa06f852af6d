'use strict'

// What console.log shows of a Tokenizer, an Encoding and a Batch, in Node, Deno and Bun, and what
// JSON.stringify writes.

const { withCode } = require('./errors.js')

/** The number of ids, tokens or rows that are shown of each list. */
const SHOWN_ITEMS = 20
const SHOWN_ROWS = 3
/** Tokens need the text to be encoded again, so they are shown for short texts only. */
const MAX_IDS = 100
const MAX_TEXT = 10_000
/**
 * The maximum number of ids in JSON. Arrays with hundreds of millions of elements exhaust the heap
 * of V8, which ends the process, and a string cannot hold their JSON.
 */
const MAX_JSON_IDS = 2 ** 26

/**
 * `Name { field: value, … }`, as inspect writes objects. Runtimes that pass no `inspect` print the
 * object themselves.
 *
 * @param {string} name
 * @param {object} fields
 * @param {number} depth
 * @param {any} [options]
 * @param {Function} [inspect]
 */
function print(name, fields, depth, options, inspect) {
  if (typeof depth === 'number' && depth < 0) return `[${name}]`
  if (typeof inspect !== 'function') return fields
  const inner = { ...options, maxArrayLength: Math.min(options?.maxArrayLength ?? SHOWN_ITEMS, SHOWN_ITEMS), depth: 2 }
  return `${name} ${inspect(fields, inner)}`
}

/**
 * @typedef {[depth: number, options?: any, inspect?: Function]} InspectArguments what
 *   `util.inspect.custom` is called with
 */

/**
 * @param {any} tokenizer
 * @param {{ from?: string, class?: string, note?: string }} source
 * @param {InspectArguments} rest
 */
function printTokenizer(tokenizer, source, ...rest) {
  const all = tokenizer.vocabSize()
  const { tableBytes, cacheBytes } = tokenizer.stats()
  const fields = {
    ...source,
    vocabSize: all,
    addedTokens: all - tokenizer.vocabSize({ addedTokens: false }),
    tableBytes,
    cacheBytes,
  }
  return print('Tokenizer', fields, ...rest)
}

/**
 * @param {any} encoding
 * @param {number} textLength
 * @param {InspectArguments} rest
 */
function printEncoding(encoding, textLength, ...rest) {
  const { ids, length } = encoding
  const fields = { ids, ...(length <= MAX_IDS && textLength <= MAX_TEXT && { tokens: encoding.tokens }) }
  return print(`Encoding(${length})`, fields, ...rest)
}

/**
 * @param {any} batch
 * @param {string[]} columns
 * @param {boolean} isDisposed
 * @param {InspectArguments} rest
 */
function printBatch(batch, columns, isDisposed, ...rest) {
  if (isDisposed) return 'Batch (disposed)'
  const { length, ids } = batch
  const rows = Array.from({ length: Math.min(length, SHOWN_ROWS) }, (_, index) => batch.row(index))
  /** @type {{ ids: number, columns?: string[], rows: any[], more?: string }} */
  const fields = { ids: ids.length, ...(columns.length > 0 && { columns }), rows }
  if (length > SHOWN_ROWS) fields.more = `${length - SHOWN_ROWS} more rows`
  return print(`Batch(${length})`, fields, ...rest)
}

/** The ids as JSON has them. */
function encodingJson(encoding) {
  checkJson(encoding.length)
  return { ids: Array.from(encoding) }
}

/** A list for each row: its ids, and its values in the columns that the call requested. */
function batchJson(batch, columns) {
  checkJson(batch.ids.length)
  const names = ['ids', ...columns]
  return Object.fromEntries(names.map((name) => [name, rowsOf(batch, name)]))
}

function rowsOf(batch, name) {
  const values = batch[name]
  const { rowOffsets } = batch
  const width = name === 'offsets' ? 2 : 1
  return Array.from({ length: batch.length }, (_, row) => {
    const [from, to] = [rowOffsets[row] * width, rowOffsets[row + 1] * width]
    const list = Array.from(values.slice(from, to))
    return width === 1
      ? list
      : Array.from({ length: list.length / 2 }, (_, token) => [list[2 * token], list[2 * token + 1]])
  })
}

function checkJson(length) {
  if (length <= MAX_JSON_IDS) return
  const message = `JSON of ${length} ids is too long, the maximum is ${MAX_JSON_IDS}: write the ids as bytes`
  throw withCode(new RangeError(message), 'ERR_TOKENLANE_BATCH_TOO_LARGE')
}

module.exports = { printTokenizer, printEncoding, printBatch, encodingJson, batchJson }
