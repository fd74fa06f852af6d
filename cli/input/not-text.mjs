// Files of folders that are not text, such as images. They are skipped; a file that is named on the
// command line is not.

import { Failure } from '../failure.mjs'

/** Number of bytes at the start of a file that are checked. */
const HEAD_BYTES = 1 << 16

/** A file that was found in a folder, and is not text. */
export class NotText extends Failure {
  constructor() {
    super('NOT_TEXT', 'it is not UTF-8 text')
  }
}

/**
 * Passes chunks on. Throws a NotText before the first one if that is not the start of a text.
 *
 * @param {AsyncIterable<Buffer>} chunks
 */
export async function* onlyText(chunks) {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && !isText(chunk.subarray(0, HEAD_BYTES))) throw new NotText()
    isFirst = false
    yield chunk
  }
}

/**
 * Whether bytes are the start of a text. NUL occurs in nearly every binary format, and in UTF-16. A
 * text of another 8-bit encoding counts as text, so that it is reported as an error and not left
 * out quietly.
 */
function isText(bytes) {
  if (bytes.includes(0)) return false
  return isUtf8(bytes) || !bytes.some((byte) => byte < 8 || (byte > 13 && byte < 27))
}

function isUtf8(bytes) {
  try {
    // The last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
