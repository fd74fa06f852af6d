// The results of a command: lines of text for a file or standard output, or rows of a Parquet
// table.

import { openOutput } from './file.mjs'
import { parquetWriter } from './parquet.mjs'

/**
 * @param {string} format
 * @param {object} options
 * @param {string} [options.output]
 * @param {import('./same-file.mjs').Input[]} options.inputs
 * @param {import('./parquet.mjs').Columns} options.columns of a table
 * @param {import('../skips.mjs').Skips} options.skips a row that does not fit a table is skipped
 */
export async function openResults(format, { output, inputs, columns, skips }) {
  if (format !== 'parquet') {
    const file = openOutput(output, inputs)
    return { isTable: false, write: (text) => file.write(text), commit: () => file.commit(), add: noTable }
  }
  const table = await parquetWriter({ output, inputs, columns })
  /**
   * @param {import('../input/rows.mjs').Row} row
   * @param {Record<string, any>} values
   */
  const add = (row, values) => skips.attempt(row, () => table.add(row, values))
  return { isTable: true, add, commit: () => table.commit(), write: noText }
}

/** @param {[row: any, values: any]} _ */
async function noTable(..._) {
  throw new TypeError('text has no table')
}

/** @param {string} _ */
async function noText(_) {
  throw new TypeError('a table has no text')
}
