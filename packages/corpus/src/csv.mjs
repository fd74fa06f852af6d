// Reads tables of text: CSV and TSV with the names of their columns in the first line, as RFC 4180
// and pandas write them. Values stay bytes until their row is known, as those of Parquet do.

import { Readable, pipeline } from 'node:stream'

import { Failure, valueAt } from 'tokenlane/internal/files.mjs'
import { importOptional } from 'tokenlane/internal/corpus.js'

/** Number of rows that are passed on at once, and their maximum size in bytes. */
const BATCH_ROWS = 512
const BATCH_BYTES = 1 << 20
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
  const { parse } = await csvPackage()
  // One character for each byte.
  const toBytes = (/** @type {any} */ text) => (typeof text === 'string' ? Buffer.from(text, 'latin1') : undefined)
  const columns = (names) => names.map((name) => String(toBytes(name)))
  const options = { columns, delimiter: delimiterOf(path), encoding: /** @type {const} */ ('latin1') }
  const parser = parse({ ...options, max_record_size: most, skip_empty_lines: true })
  pipeline(Readable.from(withoutMark(chunks), { objectMode: false }), parser, () => {})
  const fields = [
    content.messages ?? content.field,
    content.idField,
    content.groupBy,
    content.tools,
    content.completion,
  ]
  let [row, bytes, rows] = [0, 0, /** @type {any[]} */ ([])]
  try {
    for await (const record of parser) {
      const [value, id, group, tools, completion] = fields.map((field) => field && toBytes(valueAt(record, field)))
      const columns = { value, id, group, completion, tools: tools?.length === 0 ? undefined : tools }
      rows.push({ path, at: row, row: row + 1, ...columns })
      row += 1
      bytes += value?.length ?? 0
      if (rows.length < BATCH_ROWS && bytes < BATCH_BYTES) continue
      yield rows
      ;[rows, bytes] = [[], 0]
    }
  } catch (failure) {
    if (!failure.code?.startsWith('CSV_')) throw failure
    const damaged = new Failure('UNSUPPORTED', `it is not a table of text: ${failure.message}`, { cause: failure })
    throw Object.assign(damaged, { isForeign: true })
  }
  if (rows.length > 0) yield rows
}

async function* withoutMark(chunks) {
  let isFirst = true
  for await (const chunk of chunks) {
    const hasMark = isFirst && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK)
    isFirst = false
    yield hasMark ? chunk.subarray(3) : chunk
  }
}
