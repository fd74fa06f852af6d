// The headers of frames and blocks of Zstandard (RFC 8878). They say how long frames and blocks
// are, so that these can be found without decompressing them.

const FRAME = 0xfd2fb528
const SKIPPABLE = 0x184d2a5

/** Maximum length of the header of a frame in bytes. */
export const MAX_FRAME_HEADER = 18
/** Length of the header of a block. */
export const BLOCK_HEADER = 3

/**
 * The header of a frame.
 *
 * @typedef {object} FrameHeader
 * @property {number} length in bytes
 * @property {number} [skipped] of a skippable frame: the bytes that follow the header
 * @property {number} window in bytes
 * @property {number} [content] bytes of decompressed data, if the header says so
 * @property {boolean} hasChecksum whether four bytes follow the last block
 */

/**
 * Reads the header of a frame.
 *
 * @param {ArrayLike<number>} bytes
 * @returns {FrameHeader | 'more' | 'none'} `more` if the header has more bytes, `none` if there is
 *   no frame
 */
export function frameHeader(bytes) {
  if (bytes.length < 5) return 'more'
  const magic = littleEndian(bytes, 0, 4)
  if (magic >>> 4 === SKIPPABLE) {
    if (bytes.length < 8) return 'more'
    return { length: 8, skipped: littleEndian(bytes, 4, 4), window: 0, hasChecksum: false }
  }
  if (magic !== FRAME) return 'none'
  const flags = bytes[4]
  const isSingle = (flags & 32) !== 0
  const idBytes = [0, 1, 2, 4][flags & 3]
  const sizeBytes = flags >> 6 === 0 ? Number(isSingle) : 1 << (flags >> 6)
  const length = 5 + Number(!isSingle) + idBytes + sizeBytes
  if (bytes.length < length) return 'more'
  const size = littleEndian(bytes, length - sizeBytes, sizeBytes)
  const content = sizeBytes === 0 ? undefined : sizeBytes === 2 ? size + 256 : size
  // The window of a single segment is its content.
  const window = isSingle ? /** @type {number} */ (content) : windowSize(bytes[5])
  return { length, window, content, hasChecksum: (flags & 4) !== 0 }
}

/**
 * Reads the header of a block.
 *
 * @param {ArrayLike<number>} bytes
 * @returns {{ isLast: boolean, isReserved: boolean, stored: number }} `stored` is the number of
 *   bytes that follow the header
 */
export function blockHeader(bytes) {
  const header = littleEndian(bytes, 0, BLOCK_HEADER)
  const type = (header >> 1) & 3
  // A block of type RLE contains one byte; others contain as many as their header says.
  return { isLast: (header & 1) === 1, isReserved: type === 3, stored: type === 1 ? 1 : header >> 3 }
}

function littleEndian(bytes, at, length) {
  let value = 0
  for (let index = at + length - 1; index >= at; index--) value = value * 256 + bytes[index]
  return value
}

function windowSize(byte) {
  const base = 2 ** (10 + (byte >> 3))
  return base + (base / 8) * (byte & 7)
}
