// Cuts the chunks of a file into blocks of whole lines.

import { Failure } from 'tokenlane/internal/files.mjs'
import { native } from 'tokenlane/internal/corpus.js'

const NEWLINE = 10
const BYTE_ORDER_MARK_LENGTH = 3
const EMPTY = Buffer.alloc(0)

/** The error of a row with more bytes than `most`. */
export const tooLong = (most) =>
  new Failure('TEXT_TOO_LONG', `this row has more than ${most} bytes, the limit that maxRow (--max-row) sets`)

/**
 * Joins the parts of a line in a reader of the addon. That memory is freed when the line has been
 * read, and not when V8 collects garbage.
 */
export class LineGatherer {
  #lines

  /** @param {object} lines a reader of the addon */
  constructor(lines) {
    this.#lines = lines
  }

  /** The number of bytes. */
  length = 0

  /** Adds a part. `room` is the number of bytes to reserve for the line. */
  push(part, room) {
    if (this.length === 0) native.clearLines(this.#lines)
    native.appendToLine(this.#lines, part, room)
    this.length += part.length
  }

  dropByteOrderMark() {
    if (this.length > 0 && native.dropByteOrderMark(this.#lines)) this.length -= BYTE_ORDER_MARK_LENGTH
  }

  /** A copy of the line. */
  bytes() {
    const { buffer, byteOffset, length } = native.lineBytes(this.#lines)
    return Buffer.from(buffer, byteOffset, length)
  }

  clear() {
    if (this.length > 0) native.clearLines(this.#lines)
    this.length = 0
  }
}

/**
 * A block of whole lines.
 *
 * @typedef {object} LineBlock
 * @property {Buffer} [lines] several lines, each with its line feed
 * @property {LineGatherer} [gathered] one line; the caller clears it. Without `lines`
 *   and `gathered` the block is one line that is too long
 * @property {number} at the position of the first line
 * @property {boolean} [isLarge] whether memory was reserved for it
 */

/**
 * Cuts chunks into blocks of whole lines. A line that lies in several chunks is a block of its own.
 * A block is valid until the next one is requested.
 *
 * @param {AsyncIterable<Buffer>} chunks
 * @param {number} start the position of the first chunk
 * @param {LineGatherer} gatherer gathers the line that lies in several chunks
 * @param {import('./part.mjs').RowLimits} limits
 * @param {boolean} [keepsLineEnds] whether gathered lines have their line feeds
 * @returns {AsyncGenerator<LineBlock>}
 */
export async function* lineBlocks(chunks, start, gatherer, { most, unreserved, reserve }, keepsLineEnds = false) {
  let isTooLong = false
  /** The size up to which the line may grow before memory has to be reserved. */
  let allowed = unreserved
  /** The positions of the current chunk and of the current line. */
  let position = start
  let at = start
  const gather = async (bytes) => {
    const length = gatherer.length + bytes.length
    isTooLong ||= length > most
    if (isTooLong) {
      gatherer.clear()
      return
    }
    if (length > allowed) allowed = await reserve(length)
    gatherer.push(bytes, allowed > unreserved ? allowed : length)
  }
  const end = async (rest) => {
    await gather(rest)
    const block = { at, isLarge: allowed > unreserved }
    allowed = unreserved
    if (isTooLong) {
      isTooLong = false
      return block
    }
    if (at === 0) gatherer.dropByteOrderMark()
    return { ...block, gathered: gatherer }
  }
  for await (const chunk of chunks) {
    let from = 0
    // The first line of a file may start with a byte order mark.
    if (at < position || position === 0) {
      const to = chunk.indexOf(NEWLINE)
      if (to === -1) {
        await gather(chunk)
        position += chunk.length
        continue
      }
      yield await end(chunk.subarray(0, keepsLineEnds ? to + 1 : to))
      from = to + 1
      at = position + from
    }
    const to = Math.max(from, chunk.lastIndexOf(NEWLINE) + 1)
    if (to > from) yield { lines: chunk.subarray(from, to), at }
    at = position + to
    if (to < chunk.length) await gather(chunk.subarray(to))
    position += chunk.length
  }
  if (at < position) yield await end(EMPTY)
}
