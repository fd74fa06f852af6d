'use strict'

// Configs are written by Python, whose JSON has numbers that JSON does not.

/** A string, also one without an end, so that a search from each quote in it is not needed. */
const STRING_OR_NUMBER = /"(?:[^"\\]+|\\.)*"?|-?Infinity|NaN/gs

/** The text of a file. As in Python, other bytes than UTF-8 are refused, and a BOM is text. */
function utf8Of(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new Error('it is not UTF-8', { cause })
  }
}

/** JSON.parse, for which NaN and the infinities are null, such as a length without a limit. */
function parseConfig(text) {
  try {
    return JSON.parse(text)
  } catch (failure) {
    if (!/Infinity|NaN/.test(text)) throw failure
    return JSON.parse(text.replace(STRING_OR_NUMBER, (found) => (found.startsWith('"') ? found : 'null')))
  }
}

module.exports = { parseConfig, utf8Of }
