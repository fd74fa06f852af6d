// The lines of text files that jobs write for themselves, such as plans.

import { damaged } from './errors.mjs'

const NEWLINE = 10
/** Maximum size of a line in bytes. A line of a plan has a path and a few numbers. */
const MAX_LINE_BYTES = 1 << 17

/**
 * Yields the lines of a file. Only one line is in memory.
 *
 * @param {AsyncIterable<Buffer>} chunks a chunk may be changed when the next one is requested
 * @param {string} name of the file, for messages
 * @returns {AsyncGenerator<string>}
 */
export async function* textLines(chunks, name) {
  let number = 1
  let rest = Buffer.alloc(0)
  const checked = (line) => {
    if (line.length <= MAX_LINE_BYTES) return line
    throw damaged(`${name}, line ${number}: it has more than ${MAX_LINE_BYTES} bytes`)
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      yield checked(Buffer.concat([rest, chunk.subarray(from, end)])).toString()
      rest = Buffer.alloc(0)
      from = end + 1
      number += 1
    }
    rest = checked(Buffer.concat([rest, chunk.subarray(from)]))
  }
  if (rest.length > 0) yield rest.toString()
}
