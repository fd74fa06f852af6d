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
