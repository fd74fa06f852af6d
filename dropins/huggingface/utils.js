'use strict'

const { error } = require('../errors.js')

/**
 * Code points `beginIndex` to `endIndex` (exclusive) of a text; negative indices count from its
 * end.
 */
function slice(s, beginIndex, endIndex) {
  const characters = Array.from(s)
  const place = (index) => (index < 0 ? characters.length + index : index)
  const [begin, end] = [place(beginIndex ?? 0), place(endIndex ?? characters.length)]
  if (begin < 0 || begin >= Math.max(1, characters.length) || end > characters.length || begin >= end) {
    throw error('ARGUMENT_VALUE', 'Error in offsets')
  }
  return characters.slice(begin, end).join('')
}

/** The characters to which ByteLevel maps the bytes 0 to 255. */
function byteLevelAlphabet() {
  const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  let others = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : others++))
}

module.exports = { slice, byteLevelAlphabet }
