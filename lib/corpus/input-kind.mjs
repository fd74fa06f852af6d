// Recognizes the format and the compression of an input by its first bytes and its name.

/** The compression of a file; `head` is its first four bytes. */
export function codecOf(head) {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (head.length < 4) return undefined
  const magic = head.readUInt32LE(0)
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5 ? 'zstd' : undefined
}

/** The bytes at the start and at the end of a Parquet file. */
const TABLE_MAGIC = Buffer.from('PAR1')

/** Whether a file that starts or ends with these four bytes is a Parquet file. */
export const isTable = (bytes) => bytes.subarray(0, 4).equals(TABLE_MAGIC)

/** The kind of rows in a file, by its name. */
export const unitOf = (path) => (/\.(?:jsonl|ndjson|json)(?:\.(?:gz|zst|zstd))?$/i.test(path) ? 'json' : 'lines')
