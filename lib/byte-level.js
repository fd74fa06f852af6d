'use strict'

/** The characters to which ByteLevel maps the bytes 0 to 255. */
function byteLevelAlphabet() {
  const printable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  let others = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : others++))
}

module.exports = { byteLevelAlphabet }
