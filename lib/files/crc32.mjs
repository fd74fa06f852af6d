// CRC-32 of gzip and of the pages of Parquet files.

import zlib from 'node:zlib'

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  return value
})

/** Node.js has a CRC-32 from 20.15 on. */
function byTable(bytes, before = 0) {
  let value = ~before
  for (let at = 0; at < bytes.length; at++) value = (value >>> 8) ^ TABLE[(value ^ bytes[at]) & 255]
  return ~value >>> 0
}

/**
 * The CRC-32 of bytes, without a sign.
 *
 * @type {(bytes: Uint8Array, before?: number) => number} `before` is the CRC-32 of the bytes before
 */
export const crc32 = /** @type {any} */ (zlib).crc32 ?? byTable
