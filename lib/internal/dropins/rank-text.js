'use strict'

// The text of packed rank files, whose form crates/core/src/load/ranks.rs describes.

const { base64Of } = require('./bytes.js')

/** The left part of a token that no merge makes. */
const NOT_MERGED = 0xff_ffff
/** The number of ranks, and the columns of the bytes of both parts of each, begin here. */
const COUNT_AT = 8
const COLUMNS_AT = 12

/**
 * Returns one line of base64 and rank for each token.
 *
 * @param {Uint8Array} bytes
 */
function rankText(bytes) {
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(COUNT_AT, true)
  const byte = (column, rank) => bytes[COLUMNS_AT + column * count + rank]
  const number = (first, rank) => byte(first, rank) | (byte(first + 1, rank) << 8) | (byte(first + 2, rank) << 16)
  const tokens = []
  const lines = []
  let at = COLUMNS_AT + 6 * count
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

module.exports = { rankText }
