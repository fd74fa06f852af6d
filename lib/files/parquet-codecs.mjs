// Decompressors for the pages of Parquet files. A page header says how many bytes a page becomes,
// so that the limit holds before anything is decompressed.

import zlib from 'node:zlib'

import { ZstdGuard } from './zstd-guard.mjs'

/**
 * The decompressors that hyparquet is given; it has its own for snappy.
 *
 * @param {import('./decompress.mjs').Ratio} ratio
 */
export async function parquetCompressors(ratio) {
  const { decompress: unzstd } = await import('fzstd')
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

/** The codecs of columns that are read. */
export const PARQUET_CODECS = ['UNCOMPRESSED', 'SNAPPY', 'ZSTD', 'GZIP', 'BROTLI']

/**
 * Decoding copies the start of each value from the value before, so that its output is not bounded
 * by its input.
 */
export const REFUSED_ENCODING = 'DELTA_BYTE_ARRAY'
