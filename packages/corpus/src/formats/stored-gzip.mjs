// Writes gzip without compression. The output of a compressor depends on its version; stored blocks
// are the same everywhere, and every reader of gzip accepts them.

/** Maximum size of a stored block in bytes. */
const MAX_BLOCK_BYTES = 65535
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/** The CRC-32 of each byte. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

/** Writes text to a gzip file, piece by piece. */
export class StoredGzip {
  #file
  #pending = Buffer.alloc(0)
  #crc = 0xffffffff
  #length = 0
  #hasHeader = false

  /** @param {{ write(bytes: Buffer): Promise<void> }} file */
  constructor(file) {
    this.#file = file
  }

  async write(text) {
    const bytes = Buffer.from(text)
    for (const byte of bytes) this.#crc = CRC_TABLE[(this.#crc ^ byte) & 255] ^ (this.#crc >>> 8)
    this.#length += bytes.length
    this.#pending = Buffer.concat([this.#pending, bytes])
    const out = this.#hasHeader ? [] : [HEADER]
    this.#hasHeader = true
    // The last block has a mark. The last bytes are held back, because they may be that block.
    while (this.#pending.length > MAX_BLOCK_BYTES) {
      out.push(blockHeader(MAX_BLOCK_BYTES, false), this.#pending.subarray(0, MAX_BLOCK_BYTES))
      this.#pending = this.#pending.subarray(MAX_BLOCK_BYTES)
    }
    if (out.length > 0) await this.#file.write(Buffer.concat(out))
  }

  async end() {
    await this.write('')
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE((this.#crc ^ 0xffffffff) >>> 0, 0)
    trailer.writeUInt32LE(this.#length % 2 ** 32, 4)
    await this.#file.write(Buffer.concat([blockHeader(this.#pending.length, true), this.#pending, trailer]))
  }
}

function blockHeader(length, isLast) {
  const header = Buffer.from([isLast ? 1 : 0, 0, 0, 0, 0])
  header.writeUInt16LE(length, 1)
  header.writeUInt16LE(length ^ 0xffff, 3)
  return header
}
