// Limits the cost of decompressing Zstandard. The decompressor allocates the window that a frame
// header declares, and moves all of it for each block, so a few bytes could cost gigabytes of
// memory or hours of time. The guard reads the headers of frames and blocks before they are
// decompressed; their lengths lead from one header to the next.

import { Failure } from './failure.mjs'

/** Maximum window in bytes, as by default in the program zstd. */
const MAX_WINDOW = 128 << 20
/** Bytes of windows that may be moved in any case, and for each compressed byte. */
const FREE_MOVES = 2 ** 32
const MOVES_PER_BYTE = 2 ** 14

const FRAME = 0xfd2fb528
const SKIPPABLE = 0x184d2a5

export class ZstdGuard {
  /** Bytes of the header that is being read. */
  #header = []
  /** Bytes until the next header. */
  #skip = 0
  #isInFrame = false
  #hasChecksum = false
  #window = 0
  #moved = 0
  #read = 0
  /** Bytes that do not start with a frame are left to the decompressor, which rejects them. */
  #isBroken = false

  /** Checks compressed bytes before they are decompressed. */
  push(bytes) {
    this.#read += bytes.length
    for (let at = 0; at < bytes.length && !this.#isBroken; ) {
      const skipped = Math.min(this.#skip, bytes.length - at)
      this.#skip -= skipped
      at += skipped
      if (at === bytes.length) return
      this.#header.push(bytes[at++])
      if (this.#isInFrame) this.#block()
      else this.#frame()
    }
  }

  #frame() {
    const header = this.#header
    if (header.length < 5) return
    const magic = Buffer.from(header).readUInt32LE()
    if (magic >>> 4 === SKIPPABLE) {
      if (header.length < 8) return
      this.#skip = Buffer.from(header).readUInt32LE(4)
      this.#header = []
      return
    }
    if (magic !== FRAME) {
      this.#isBroken = true
      return
    }
    const flags = header[4]
    const isSingle = (flags & 32) !== 0
    const idBytes = [0, 1, 2, 4][flags & 3]
    const sizeBytes = flags >> 6 === 0 ? Number(isSingle) : 1 << (flags >> 6)
    const length = 5 + Number(!isSingle) + idBytes + sizeBytes
    if (header.length < length) return
    this.#window = isSingle ? contentSize(header.slice(length - sizeBytes)) : windowSize(header[5])
    if (this.#window > MAX_WINDOW) {
      throw new Failure(
        'DECOMPRESS_LIMIT',
        `its Zstandard data needs a window of ${this.#window} bytes, and the limit is ${MAX_WINDOW}: decompress it with "zstd -d --long=31" first`,
      )
    }
    this.#hasChecksum = (flags & 4) !== 0
    this.#isInFrame = true
    this.#header = []
  }

  #block() {
    if (this.#header.length < 3) return
    const [low, middle, high] = this.#header
    const header = low | (middle << 8) | (high << 16)
    this.#header = []
    // A block of type RLE contains one byte; others contain as many as their header says.
    this.#skip = ((header >> 1) & 3) === 1 ? 1 : header >> 3
    this.#moved += this.#window
    if (this.#moved > FREE_MOVES + MOVES_PER_BYTE * this.#read) {
      throw new Failure(
        'DECOMPRESS_LIMIT',
        'its Zstandard data has too many small blocks for its window: decompress it with "zstd -d" first',
      )
    }
    if ((header & 1) === 0) return
    if (this.#hasChecksum) this.#skip += 4
    this.#isInFrame = false
  }
}

/** The size of the content, which is also that of the window if the frame is a single segment. */
function contentSize(bytes) {
  const size = bytes.reduceRight((sum, byte) => sum * 256 + byte, 0)
  return bytes.length === 2 ? size + 256 : size
}

function windowSize(byte) {
  const base = 2 ** (10 + (byte >> 3))
  return base + (base / 8) * (byte & 7)
}
