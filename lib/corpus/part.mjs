// The unit of a plan. A shard has one or more parts.

/**
 * A range of an input.
 *
 * @typedef {object} Part
 * @property {number} shard counted from 0
 * @property {string} path
 * @property {'json' | 'lines' | 'files' | 'parquet'} rows
 * @property {'gzip' | 'zstd'} [codec]
 * @property {number} start in bytes
 * @property {number} end
 * @property {number} size of the whole file
 * @property {string} sample SHA-256 of the first and the last 64 KiB of the range
 */

/**
 * The limits of the rows of a part.
 *
 * @typedef {object} RowLimits
 * @property {number} most the maximum size in bytes of a row
 * @property {number} unreserved the size up to which no memory is reserved for a row
 * @property {(length: number) => Promise<number>} reserve waits until there is memory for a row
 *   that has `length` bytes or more. Returns the size that memory was reserved for
 */

export {}
