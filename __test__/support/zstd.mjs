import zlib from 'node:zlib'

import { xxhash64 } from 'hyparquet/src/xxhash.js'

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

/** A frame with a checksum, as the program zstd writes it: its hash is that of another package. */
export function checkedFrame(bytes) {
  const frame = frameOf(bytes)
  frame[4] |= 4
  const checksum = Buffer.alloc(8)
  checksum.writeBigUInt64LE(xxhash64(bytes))
  return Buffer.concat([frame, checksum.subarray(0, 4)])
}

/** A member as bgzip writes it. */
export function bgzipMember(bytes) {
  const raw = zlib.deflateRawSync(bytes)
  const header = Buffer.from([31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67, 2, 0, 0, 0])
  header.writeUInt16LE(header.length + raw.length + 8 - 1, 16)
  return Buffer.concat([header, raw, zlib.gzipSync(bytes).subarray(-8)])
}
