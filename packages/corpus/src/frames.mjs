// Finds where a compressed file can be cut, without decompressing it: between the frames of
// Zstandard, and between the members of gzip files that bgzip wrote. Other members do not say how
// long they are.

import { setImmediate as nextTurn } from 'node:timers/promises'

import { MAX_FRAME_HEADER, BLOCK_HEADER, blockHeader, frameHeader } from 'tokenlane/internal/files.mjs'

/** Number of bytes that are read for a header. Several small frames lie in them. */
const WINDOW_BYTES = 512
/** Number of reads after which other work gets its turn. */
const READS_PER_TURN = 4096

/** The table at the end of the seekable format: a skippable frame. */
const TABLE_MAGIC = 0x184d2a5e
const FOOTER_MAGIC = 0x8f92eab1
const FOOTER_BYTES = 9
/** A larger table is not used. */
const MAX_TABLE_BYTES = 16 << 20

/**
 * A frame or a member.
 *
 * @typedef {object} Frame
 * @property {number} end the byte after it
 * @property {number} [content] bytes of decompressed data, if the frame or the table says so
 */

/**
 * Yields the complete frames at the start of a file, in order. The rest of a file is left out from
 * the first bytes on that are no frame, or are a member of gzip of unknown length.
 *
 * @param {'gzip' | 'zstd'} codec
 * @param {number} size of the file
 * @param {(position: number, buffer: Buffer) => number} readNow reads at a position, and returns
 *   the number of bytes
 * @returns {AsyncGenerator<Frame>}
 */
export async function* framesOf(codec, size, readNow) {
  const view = new View(readNow)
  const next = codec === 'zstd' ? zstdFrame : bgzipMember
  for (let position = 0; position < size; ) {
    const { end, content } = await next(view, position, size)
    if (!(end <= size)) return
    yield { end, content }
    position = end
  }
}

/** No frame: it ends nowhere. */
const NONE = { end: Infinity, content: undefined }

/** The bytes at positions of a file. */
class View {
  #readNow
  #buffer = Buffer.allocUnsafe(WINDOW_BYTES)
  #from = 0
  #length = 0
  #reads = 0

  constructor(readNow) {
    this.#readNow = readNow
  }

  /** `length` bytes from a position on; fewer at the end of the file. */
  at(position, length) {
    if (position < this.#from || position + length > this.#from + this.#length) {
      this.#reads += 1
      this.#length = this.#readNow(position, this.#buffer)
      this.#from = position
    }
    return this.#buffer.subarray(position - this.#from, Math.min(position - this.#from + length, this.#length))
  }

  /** Whether other work has waited for long. */
  get isLong() {
    if (this.#reads < READS_PER_TURN) return false
    this.#reads = 0
    return true
  }
}

/** The frame of Zstandard at a position. A file can be one frame with millions of blocks. */
async function zstdFrame(view, position, size) {
  const header = frameHeader(view.at(position, MAX_FRAME_HEADER))
  if (typeof header === 'string') return NONE
  const { length, skipped, content, hasChecksum } = header
  let end = position + length
  if (skipped !== undefined) return { end: end + skipped, content: 0 }
  for (let isLast = false; !isLast; ) {
    const bytes = view.at(end, BLOCK_HEADER)
    if (bytes.length < BLOCK_HEADER) return NONE
    const block = blockHeader(bytes)
    if (block.isReserved) return NONE
    end += BLOCK_HEADER + block.stored
    if (end > size) return NONE
    isLast = block.isLast
    if (view.isLong) await nextTurn()
  }
  return { end: end + (hasChecksum ? 4 : 0), content }
}

/** Length of the fixed fields of a gzip header, with the length of the extra field. */
const GZIP_HEADER = 12
const GZIP_TRAILER = 8

/** The member of bgzip at a position: its extra field BC has its length. */
async function bgzipMember(view, position, size) {
  if (view.isLong) await nextTurn()
  const bytes = view.at(position, WINDOW_BYTES / 2)
  if (bytes.length < GZIP_HEADER || bytes.readUIntBE(0, 3) !== 0x1f8b08 || (bytes[3] & 4) === 0) return NONE
  const extraEnd = GZIP_HEADER + bytes.readUInt16LE(10)
  if (extraEnd > bytes.length) return NONE
  for (let at = GZIP_HEADER; at + 4 <= extraEnd; at += 4 + bytes.readUInt16LE(at + 2)) {
    if (bytes.toString('latin1', at, at + 2) !== 'BC' || bytes.readUInt16LE(at + 2) !== 2 || at + 6 > extraEnd) continue
    const end = position + bytes.readUInt16LE(at + 4) + 1
    if (end > size || end < position + extraEnd + GZIP_TRAILER) return NONE
    const length = view.at(end - 4, 4)
    return length.length < 4 ? NONE : { end, content: length.readUInt32LE(0) }
  }
  return NONE
}

/**
 * The frames of a file in the seekable format of Zstandard, by the table at its end; `undefined` if
 * it has none. The table must describe the whole file.
 *
 * @param {number} size
 * @param {(position: number, length: number) => Promise<Buffer>} read
 * @returns {Promise<Frame[] | undefined>}
 */
export async function seekTable(size, read) {
  if (size < FOOTER_BYTES + 8) return undefined
  const footer = await read(size - FOOTER_BYTES, FOOTER_BYTES)
  if (footer.length < FOOTER_BYTES || footer.readUInt32LE(5) !== FOOTER_MAGIC) return undefined
  const entryBytes = (footer[4] & 128) === 0 ? 8 : 12
  const length = footer.readUInt32LE(0) * entryBytes + FOOTER_BYTES
  const start = size - length - 8
  if (length > MAX_TABLE_BYTES || start < 0) return undefined
  const table = await read(start, length + 8)
  if (table.length < length + 8 || table.readUInt32LE(0) !== TABLE_MAGIC || table.readUInt32LE(4) !== length)
    return undefined
  /** @type {Frame[]} */
  const frames = []
  let end = 0
  for (let at = 8; at + entryBytes <= table.length - FOOTER_BYTES; at += entryBytes) {
    const length = table.readUInt32LE(at)
    if (length === 0) return undefined
    end += length
    frames.push({ end, content: table.readUInt32LE(at + 4) })
  }
  if (end !== start) return undefined
  frames.push({ end: size, content: 0 })
  return frames
}
