// Chunks of a file as blocks of whole lines.

import { Failure } from '../files/failure.mjs'
import { Gatherer } from '../files/gather.mjs'

const NEWLINE = 10
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const EMPTY = Buffer.alloc(0)

/** The error of a row with more bytes than `most`. */
export const tooLong = (most) =>
  new Failure('TEXT_TOO_LONG', `this row has more than ${most} bytes, the limit that maxRow (--max-row) sets`)

/**
 * Whole lines.
 *
 * @typedef {object} LineBlock
 * @property {Buffer | undefined} lines each with its end, except for a line on its own; `undefined`
 *   for one line that is too long
 * @property {number} at the position of the first line
 */

/**
 * Cuts chunks into blocks of whole lines. A line that lies in several chunks is a block of its own.
 * A block is there until the next one is asked for.
 *
 * @param {AsyncIterable<Buffer>} chunks
 * @param {number} most bytes of a line in several chunks, without its end
 * @param {number} start the position of the first chunk
 * @returns {AsyncGenerator<LineBlock>}
 */
export async function* lineBlocks(chunks, most, start) {
  const begun = new Gatherer(most, tooLong, { isReused: true })
  let isTooLong = false
  /** The position of the chunk, and of the line that is begun. */
  let position = start
  let at = start
  const gather = (bytes) => {
    isTooLong ||= begun.length + bytes.length > most
    if (isTooLong) begun.take()
    else begun.push(bytes)
  }
  const end = (rest) => {
    gather(rest)
    const line = begun.take()
    if (isTooLong) {
      isTooLong = false
      return { lines: undefined, at }
    }
    return { lines: at === 0 && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line, at }
  }
  for await (const chunk of chunks) {
    let from = 0
    // The first line of a file may start with a byte order mark.
    if (at < position || position === 0) {
      const to = chunk.indexOf(NEWLINE)
      if (to === -1) {
        gather(chunk)
        position += chunk.length
        continue
      }
      yield end(chunk.subarray(0, to))
      from = to + 1
      at = position + from
    }
    const to = Math.max(from, chunk.lastIndexOf(NEWLINE) + 1)
    if (to > from) yield { lines: chunk.subarray(from, to), at }
    at = position + to
    if (to < chunk.length) gather(chunk.subarray(to))
    position += chunk.length
  }
  if (at < position) yield end(EMPTY)
}
