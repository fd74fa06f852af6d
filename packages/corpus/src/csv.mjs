// Reads tables of text: CSV and TSV with the names of their columns in the first line, as RFC 4180
// and pandas write them. Values stay bytes until their row is known, as those of Parquet do.

import { Readable, pipeline } from 'node:stream'

import { Failure, valueAt } from 'tokenlane/internal/files.mjs'
import { importOptional } from 'tokenlane/internal/corpus.js'

/** Number of rows that are passed on at once, and their maximum size in bytes. */
const BATCH_ROWS = 512
const BATCH_BYTES = 1 << 20
/** A table with a row of more bytes than this times those of the longest document is not read. */
const LONGEST_ROWS = 4
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** The delimiter of a table of text by its name; `undefined` for other files. */
export const delimiterOf = (path) =>
  ({ csv: ',', tsv: '\t' })[/\.(csv|tsv)(?:\.(?:gz|zst|zstd))?$/i.exec(path)?.[1].toLowerCase() ?? '']

/** Loads the package that parses. */
export async function csvPackage() {
  try {
    return await importOptional('csv-parse', () => import('csv-parse'))
  } catch (cause) {
    const message = 'CSV and TSV need the package csv-parse: run "npm install csv-parse"'
    throw new Failure('PACKAGE_MISSING', message, { cause })
  }
}

/**
 * Yields the rows of a file, some at a time.
 *
 * @param {AsyncIterable<Buffer>} chunks
 * @param {import('./part.mjs').Part} part
 * @param {import('./options.mjs').Content} content
 * @param {number} most the maximum size of a row in bytes
 * @returns {AsyncGenerator<import('./table.mjs').TableRow[]>}
 */
export async function* csvRows(chunks, { path }, content, most) {
  const { CsvError, parse } = await csvPackage()
  const options = { delimiter: delimiterOf(path), encoding: /** @type {const} */ ('latin1') }
  const parser = parse({
    ...options,
    max_record_size: LONGEST_ROWS * most,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  })
  pipeline(Readable.from(withoutMark(chunks), { objectMode: false }), parser, () => {})
  const { messages, field = 'text', idField, groupBy, tools: toolsField, completion: answer } = content
  const fields = [messages ?? field, idField, groupBy, toolsField, answer]
  let names
  let [row, bytes, rows] = [0, 0, /** @type {any[]} */ ([])]
  try {
    for await (const record of parser) {
      if (names === undefined) {
        names = record.map((name) => toBytes(name).toString())
        for (const one of fields) checkColumn(one, names)
        continue
      }
      const place = { path, at: row, row: row + 1 }
      row += 1
      if (record.length === names.length) {
        const cells = Object.fromEntries(names.map((name, index) => [name, record[index]]))
        const [value, id, group, tools, completion] = fields.map((one) => one && toBytes(valueAt(cells, one)))
        rows.push({ ...place, value, id, group, completion, tools: tools?.length === 0 ? undefined : tools })
        bytes += value?.length ?? 0
      } else {
        const message = `it has ${record.length} values, and the table has ${names.length} columns`
        rows.push({ ...place, failure: new Failure('FIELD', message) })
      }
      if (rows.length < BATCH_ROWS && bytes < BATCH_BYTES) continue
      yield rows
      ;[rows, bytes] = [[], 0]
    }
  } catch (failure) {
    if (!(failure instanceof CsvError)) throw failure
    const damaged = new Failure('UNSUPPORTED', `it is not a table of text: ${failure.message}`, { cause: failure })
    throw Object.assign(damaged, { isForeign: true })
  }
  if (rows.length > 0) yield rows
}

/** The bytes of a cell, of which each character stands for one. */
const toBytes = (/** @type {any} */ text) => (typeof text === 'string' ? Buffer.from(text, 'latin1') : undefined)

function checkColumn(field, names) {
  if (field === undefined || names.some((name) => field === name || field.startsWith(`${name}.`))) return
  throw new Failure('FIELD', `there is no column for the field '${field}'; the columns are ${names.join(', ')}`)
}

async function* withoutMark(chunks) {
  let isFirst = true
  for await (const chunk of chunks) {
    const hasMark = isFirst && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK)
    isFirst = false
    yield hasMark ? chunk.subarray(3) : chunk
  }
}
