// The unit of a plan. A shard has one or more parts.

/**
 * A range of an input.
 *
 * @typedef {object} Part
 * @property {number} shard counted from 0
 * @property {string} path
 * @property {'json' | 'lines' | 'files' | 'csv' | 'parquet'} rows a part with 'files' or 'csv' is a
 *   whole file
 * @property {'gzip' | 'zstd'} [codec]
 * @property {number} start in bytes of the stored file
 * @property {number} end
 * @property {number} [offset] the byte of the decompressed file at which the range starts. Only of
 *   compressed inputs from their second part on, and only if it is known
 * @property {number} size of the whole file
 * @property {string} sample SHA-256 of the first and the last 64 KiB of the range
 */

/**
 * A range of a part that is left out.
 *
 * @typedef {object} DamagedRange
 * @property {number} start in bytes of the stored file
 * @property {number} end
 * @property {number} [rows] the number of rows, estimated for compressed files if it can be
 * @property {any} failure
 */

/**
 * The byte of an input from which the positions of a part's rows are counted, if that is not the
 * start of the decompressed input.
 *
 * @param {Part} part
 * @returns {{ from?: number }}
 */
export const countedFrom = ({ codec, start, offset }) =>
  codec !== undefined && start > 0 && offset === undefined ? { from: start } : {}

/**
 * The limits of the rows of a part.
 *
 * @typedef {object} RowLimits
 * @property {number} most the maximum size in bytes of a row
 * @property {number} unreserved the size up to which no memory is reserved for a row
 * @property {(length: number) => Promise<number>} reserve waits until there is memory for a row
 *   that has `length` bytes or more. Returns the size that memory was reserved for
 */
