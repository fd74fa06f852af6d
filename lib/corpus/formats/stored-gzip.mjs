// gzip without compression. A compressor gives other bytes on other machines and in other versions;
// stored blocks are the same everywhere, and every reader of gzip takes them.

/** The most bytes of a stored block. */
const BLOCK = 65535
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

/** Text as the bytes of a gzip file, piece by piece. */
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
    for (const byte of bytes) this.#crc = TABLE[(this.#crc ^ byte) & 255] ^ (this.#crc >>> 8)
    this.#length += bytes.length
    this.#pending = Buffer.concat([this.#pending, bytes])
    const out = this.#hasHeader ? [] : [HEADER]
    this.#hasHeader = true
    // The last block is marked as such, so one is held back.
    while (this.#pending.length > BLOCK) {
      out.push(blockHeader(BLOCK, false), this.#pending.subarray(0, BLOCK))
      this.#pending = this.#pending.subarray(BLOCK)
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
