// Recognizes compression and Parquet by the bytes that a file starts or ends with.

/**
 * The compression of a file that starts with these bytes, at least four of them unless the file is
 * shorter. A skippable frame of Zstandard counts as Zstandard.
 *
 * @param {Buffer} head
 * @returns {'gzip' | 'zstd' | undefined}
 */
export function codecOf(head) {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (head.length < 4) return undefined
  const magic = head.readUInt32LE(0)
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5 ? 'zstd' : undefined
}

/** The bytes at the start and at the end of a Parquet file. */
const TABLE_MAGIC = Buffer.from('PAR1')

/**
 * Whether a file that starts or ends with these four bytes is a Parquet file.
 *
 * @param {Buffer} bytes
 */
export const isTable = (bytes) => bytes.subarray(0, 4).equals(TABLE_MAGIC)
