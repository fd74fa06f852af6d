// Replaces dropins/rank-files.js: rank files are packed, and are contained in the program.

import { base64Of } from './bytes.mjs'
import { Tokenizer, encodingDefinition, fileBytes } from './dist/core.mjs'

export { Tokenizer, encodingDefinition }

export const openFile = (file, options) => Tokenizer.fromBufferSync(fileBytes(file), options)

/** One line of base64 and rank for each token, from the form of crates/core/src/load/ranks.rs. */
export function readFile(file) {
  const bytes = fileBytes(file)
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true)
  const lengths = bytes.subarray(12, 12 + count)
  let at = bytes.length - lengths.reduce((total, length) => total + length, 0)
  const lines = []
  lengths.forEach((length, rank) => {
    if (length > 0) lines.push(`${base64Of(bytes.subarray(at, at + length))} ${rank}\n`)
    at += length
  })
  return lines.join('')
}
