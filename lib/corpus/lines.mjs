// Cuts the chunks of a file into blocks of whole lines.

import { Failure } from '../files/failure.mjs'
import { Gatherer } from '../files/gather.mjs'

const NEWLINE = 10
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const EMPTY = Buffer.alloc(0)

/** The error of a row with more bytes than `most`. */
export const tooLong = (most) =>
  new Failure('TEXT_TOO_LONG', `this row has more than ${most} bytes, the limit that maxRow (--max-row) sets`)

/**
 * A block of whole lines.
 *
 * @typedef {object} LineBlock
 * @property {Buffer | undefined} lines several lines, each with its line feed, or one line without
 *   it; `undefined` for one line that is too long
 * @property {number} at the position of the first line
 * @property {boolean} [isLarge] whether memory was reserved for it
 */

/**
 * Cuts chunks into blocks of whole lines. A line that lies in several chunks is a block of its own.
 * A block is valid until the next one is requested.
 *
 * @param {AsyncIterable<Buffer>} chunks
 * @param {number} most the maximum size in bytes of a line that lies in several chunks
 * @param {number} start the position of the first chunk
 * @param {{ from: number, reserve: () => Promise<void> | undefined }} [large] `reserve` is awaited
 *   before a line in several chunks grows to more than `from` bytes
 * @returns {AsyncGenerator<LineBlock>}
 */
export async function* lineBlocks(chunks, most, start, large) {
  const begun = new Gatherer(most, tooLong, { isReused: true })
  let isTooLong = false
  let isLarge = false
  /** The positions of the current chunk and of the current line. */
  let position = start
  let at = start
  const gather = async (bytes) => {
    isTooLong ||= begun.length + bytes.length > most
    if (isTooLong) {
      begun.take()
      return
    }
    if (large !== undefined && !isLarge && begun.length + bytes.length > large.from) {
      isLarge = true
      await large.reserve()
    }
    begun.push(bytes)
  }
  const end = async (rest) => {
    await gather(rest)
    const line = begun.take()
    const block = { at, isLarge }
    isLarge = false
    if (isTooLong) {
      isTooLong = false
      return { ...block, lines: undefined }
    }
    return { ...block, lines: at === 0 && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line }
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
      yield await end(chunk.subarray(0, to))
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
