// Replaces lib/internal/dropins/rank-files.js: rank files are packed, and are contained in the
// program.

import { base64Of } from './bytes.mjs'
import { Tokenizer, encodingDefinition, fileBytes } from '../dist/core.mjs'

export { Tokenizer, encodingDefinition }

/** The left part of a token that no merge makes. */
const NOT_MERGED = 0xff_ffff

export const openFile = (file, options) => Tokenizer.fromBufferSync(fileBytes(file), options)

/** One line of base64 and rank for each token, from the form of crates/core/src/load/ranks.rs. */
export function readFile(file) {
  const bytes = fileBytes(file)
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true)
  const byte = (column, rank) => bytes[12 + column * count + rank]
  const number = (first, rank) => byte(first, rank) | (byte(first + 1, rank) << 8) | (byte(first + 2, rank) << 16)
  const tokens = []
  const lines = []
  let at = 12 + 6 * count
  for (let rank = 0; rank < count; rank++) {
    const [left, right] = [number(0, rank), number(3, rank)]
    const token = left === NOT_MERGED ? bytes.subarray(at, at + right) : joined(tokens[left], tokens[right])
    if (left === NOT_MERGED) at += right
    tokens.push(token)
    if (token.length > 0) lines.push(`${base64Of(token)} ${rank}\n`)
  }
  return lines.join('')
}

function joined(left, right) {
  const token = new Uint8Array(left.length + right.length)
  token.set(left)
  token.set(right, left.length)
  return token
}
