// The output of commands that write rows with columns.

import { openOutput } from './file.mjs'
import { parquetWriter } from './parquet.mjs'

/**
 * Opens the output: a table if the format is parquet, else a file.
 *
 * @param {string} format
 * @param {Parameters<typeof parquetWriter>[0]} options
 */
export async function openRows(format, options) {
  const table = format === 'parquet' ? await parquetWriter(options) : undefined
  const file = table === undefined ? openOutput(options.output, options.inputs) : undefined
  return { table, file, commit: () => (table ?? file).commit() }
}
