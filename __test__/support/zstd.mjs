/** A Zstandard frame with uncompressed blocks. */
export function stored(bytes) {
  const parts = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x38])]
  for (let from = 0; from < bytes.length; from += 100_000) {
    const block = bytes.subarray(from, from + 100_000)
    const header = Buffer.alloc(3)
    header.writeUIntLE((block.length << 3) | Number(from + block.length === bytes.length), 0, 3)
    parts.push(header, block)
  }
  return Buffer.concat(parts)
}

/** A frame that says how many bytes it has. Its blocks are not compressed. */
export function frameOf(bytes) {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0])
  header.writeUInt32LE(bytes.length, 5)
  const parts = [header]
  for (let from = 0; from === 0 || from < bytes.length; from += 100_000) {
    const block = bytes.subarray(from, from + 100_000)
    const head = Buffer.alloc(3)
    head.writeUIntLE((block.length << 3) | Number(from + block.length === bytes.length), 0, 3)
    parts.push(head, block)
  }
  return Buffer.concat(parts)
}

/** A frame that decompressors skip. */
export function skippable(bytes, magic = 0x184d2a53) {
  const header = Buffer.alloc(8)
  header.writeUInt32LE(magic, 0)
  header.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}

/** The frames, and the table of the seekable format. */
export function seekable(frames, contents) {
  const entries = frames.map((frame, index) => {
    const entry = Buffer.alloc(8)
    entry.writeUInt32LE(frame.length, 0)
    entry.writeUInt32LE(contents[index].length, 4)
    return entry
  })
  const footer = Buffer.alloc(9)
  footer.writeUInt32LE(frames.length, 0)
  footer.writeUInt32LE(0x8f92eab1, 5)
  return Buffer.concat([...frames, skippable(Buffer.concat([...entries, footer]), 0x184d2a5e)])
}
