// Recognizes the format and the compression of an input by its first bytes and its name.

/** The compression of a file; `head` is its first four bytes. */
export function codecOf(head) {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  if (head.length < 4) return undefined
  const magic = head.readUInt32LE(0)
  return magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5 ? 'zstd' : undefined
}

/** The kind of rows in a file, by its name. */
export const unitOf = (path) => (/\.(?:jsonl|ndjson|json)(?:\.(?:gz|zst|zstd))?$/i.test(path) ? 'json' : 'lines')
