// Decompressors for the pages of Parquet files. A page header declares the decompressed size,
// so the limit is checked before anything is decompressed.

import { createRequire } from 'node:module'
import zlib from 'node:zlib'

import { Failure } from './failure.mjs'
import { ZstdGuard } from './zstd-guard.mjs'

const { importOptional } = createRequire(import.meta.url)('../optional.js')

/**
 * The decompressors that are passed to hyparquet, which has its own for snappy.
 *
 * @param {import('./ratio.mjs').Ratio} ratio
 */
export async function parquetCompressors(ratio) {
  const { decompress: unzstd } = await importOptional('fzstd', () => import('fzstd'))
  const bounded = (inflate) => (bytes, length) => {
    ratio.read(bytes.length)
    ratio.make(length)
    return inflate(bytes, length)
  }
  return {
    ZSTD: bounded((bytes, length) => {
      new ZstdGuard().push(bytes)
      return unzstd(bytes, new Uint8Array(length))
    }),
    GZIP: bounded((bytes, length) => zlib.gunzipSync(bytes, { maxOutputLength: Math.max(1, length) })),
    BROTLI: bounded((bytes, length) => zlib.brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, length) })),
  }
}

const CODECS = ['UNCOMPRESSED', 'SNAPPY', 'ZSTD', 'GZIP', 'BROTLI']

/**
 * Decoding copies the start of each value from the value before, so that its output is not bounded
 * by its input.
 */
const REFUSED_ENCODING = 'DELTA_BYTE_ARRAY'

/** Throws if a column has a codec that is not supported. */
export function checkCodec({ codec, path_in_schema }) {
  if (CODECS.includes(codec)) return
  const message = `the column '${path_in_schema.join('.')}' is compressed with ${codec}; supported are ${CODECS.slice(1).join(', ')}`
  throw new Failure('PARQUET', message)
}

/** Throws if a page of a column has an encoding that is not supported. */
export function checkEncoding(encoding, { path_in_schema }) {
  if (encoding !== REFUSED_ENCODING) return
  const message = `the column '${path_in_schema.join('.')}' has the encoding ${encoding}, which is not supported: write it with another one`
  throw new Failure('PARQUET', message)
}

/**
 * The position of the first page of a column.
 *
 * @param {Partial<import('hyparquet').ColumnMetaData>} column
 */
export const startOf = ({ dictionary_page_offset, data_page_offset }) =>
  Number(
    dictionary_page_offset && dictionary_page_offset < data_page_offset ? dictionary_page_offset : data_page_offset,
  )

/**
 * Throws if the columns have more bytes than the file. Row groups that share pages could otherwise
 * make a small file as expensive as a large one.
 *
 * @param {import('hyparquet').FileMetaData} metadata
 * @param {number} size of the file
 */
export function checkSizes({ row_groups }, size) {
  let sum = 0
  for (const { columns } of row_groups)
    for (const { meta_data } of columns) sum += Math.max(0, Number(meta_data?.total_compressed_size ?? 0))
  if (sum > size) throw new Failure('PARQUET', 'it is damaged: its columns have more bytes than the file')
}

/**
 * What a row counts in the limit of decompressed bytes, besides its text, and what a value of
 * another column counts: a few bytes of a page can stand for millions of them.
 */
export const ROW_BYTES = 32
export const VALUE_BYTES = 8
