// Limits the cost of decompressing Zstandard. The decompressor allocates the window that a frame
// header declares, and moves all of it for each block, so a few bytes could cost gigabytes of
// memory or hours of time. The guard reads the headers of frames and blocks before they are
// decompressed; their lengths lead from one header to the next, and to the checksum at the end of a
// frame.

import { Failure } from './failure.mjs'
import { BLOCK_HEADER, blockHeader, frameHeader } from './zstd-headers.mjs'

/** Maximum window in bytes, as by default in the program zstd. */
const MAX_WINDOW = 128 << 20
/** Bytes of windows that may be moved in any case, and for each compressed byte. */
const FREE_MOVES = 2 ** 32
const MOVES_PER_BYTE = 2 ** 14

export class ZstdGuard {
  /** Bytes of the header that is being read. */
  #header = []
  /** Bytes until the next header. */
  #skip = 0
  #isInFrame = false
  #isLast = false
  /** The header of the current frame. */
  #frameHeader = /** @type {import('./zstd-headers.mjs').FrameHeader | undefined} */ (undefined)
  /** Bytes of the checksum that is being read. */
  #checksum = []
  #window = 0
  #moved = 0
  #read = 0
  /** Bytes that do not start with a frame are left to the decompressor, which rejects them. */
  #isBroken = false

  /**
   * Checks compressed bytes before they are decompressed.
   *
   * @param {Uint8Array} bytes
   * @param {number} [from]
   * @returns {{ to: number, ended?: { content?: number, checksum?: number } }} the position up to
   *   which they were checked: the end of a frame, which `ended` describes, or of the bytes. A
   *   skippable frame is part of the frame after it
   */
  push(bytes, from = 0) {
    this.#read += bytes.length - from
    for (let at = from; !this.#isBroken; ) {
      const skipped = Math.min(this.#skip, bytes.length - at)
      this.#skip -= skipped
      at += skipped
      if (this.#skip === 0 && this.#isLast) {
        const { hasChecksum = false, content } = this.#frameHeader ?? {}
        while (hasChecksum && this.#checksum.length < 4 && at < bytes.length) this.#checksum.push(bytes[at++])
        if (hasChecksum && this.#checksum.length < 4) break
        this.#isLast = this.#isInFrame = false
        const checksum = hasChecksum ? Buffer.from(this.#checksum).readUInt32LE(0) : undefined
        this.#checksum = []
        this.#read -= bytes.length - at
        return { to: at, ended: { content, checksum } }
      }
      if (at === bytes.length) break
      this.#header.push(bytes[at++])
      if (this.#isInFrame) this.#block()
      else this.#frame()
    }
    return { to: bytes.length }
  }

  #frame() {
    const header = frameHeader(this.#header)
    if (header === 'more') return
    if (header === 'none') {
      this.#isBroken = true
      return
    }
    this.#header = []
    if (header.skipped !== undefined) {
      this.#skip = header.skipped
      return
    }
    this.#window = header.window
    if (this.#window > MAX_WINDOW) {
      throw new Failure(
        'DECOMPRESS_LIMIT',
        `its Zstandard data needs a window of ${this.#window} bytes, and the limit is ${MAX_WINDOW}: decompress it with "zstd -d --long=31" first`,
      )
    }
    this.#frameHeader = header
    this.#isInFrame = true
  }

  #block() {
    if (this.#header.length < BLOCK_HEADER) return
    const { isLast, stored } = blockHeader(this.#header)
    this.#header = []
    this.#skip = stored
    this.#moved += this.#window
    if (this.#moved > FREE_MOVES + MOVES_PER_BYTE * this.#read) {
      throw new Failure(
        'DECOMPRESS_LIMIT',
        'its Zstandard data has too many small blocks for its window: decompress it with "zstd -d" first',
      )
    }
    this.#isLast = isLast
  }
}
