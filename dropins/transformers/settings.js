'use strict'

// Reads a tokenizer.json without its vocabulary and merges, which are nearly all of the file. The
// native loader has parsed the file before, so it is known to be valid JSON.

const [QUOTE, BACKSLASH, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = Buffer.from('"\\,{}[]')
const TABLES = ['vocab', 'merges']

const isSpace = (byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function skipSpace(bytes, start) {
  let at = start
  while (isSpace(bytes[at])) at += 1
  return at
}

/** The end of a string that starts at a quote. */
function endOfString(bytes, start) {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at + 1
}

/** The end of a value, without the spaces after it. */
function endOfValue(bytes, start) {
  let depth = 0
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
      if (depth === 0) return at
      continue
    }
    const closes = byte === CLOSE_OBJECT || byte === CLOSE_ARRAY
    if (depth === 0 && (closes || byte === COMMA || isSpace(byte))) return at
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1
    if (closes && --depth === 0) return at + 1
    at += 1
  }
  return at
}

/**
 * Calls `visit(key, start)` for each member of an object; it returns the end of the value. Returns
 * the end of the object.
 */
function eachMember(bytes, start, visit) {
  let at = skipSpace(bytes, start + 1)
  while (bytes[at] === QUOTE) {
    const end = endOfString(bytes, at)
    const key = JSON.parse(bytes.toString('utf8', at, end))
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1)
    at = skipSpace(bytes, visit(key, value))
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
  return at + 1
}

/** The tokenizer.json as an object in which `model.vocab` and `model.merges` are null. */
function settingsOf(file) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const kept = []
  let from = 0
  const cut = (start) => {
    const end = endOfValue(bytes, start)
    kept.push(bytes.toString('utf8', from, start), 'null')
    from = end
    return end
  }
  const ofModel = (key, start) => (TABLES.includes(key) ? cut(start) : endOfValue(bytes, start))
  const ofFile = (key, start) => {
    const isModel = key === 'model' && bytes[start] === OPEN_OBJECT
    return isModel ? eachMember(bytes, start, ofModel) : endOfValue(bytes, start)
  }
  const start = bytes.indexOf(OPEN_OBJECT)
  eachMember(bytes, start, ofFile)
  kept.push(bytes.toString('utf8', from))
  kept[0] = kept[0].slice(kept[0].indexOf('{'))
  return JSON.parse(kept.join(''))
}

module.exports = { settingsOf }
