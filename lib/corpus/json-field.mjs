// Reads the text of one field from a line of JSON, faster than JSON.parse of the line.
//
// A line without \u is parsed with each of its bytes as one character. The grammar is the same,
// because the syntax of JSON is ASCII, and the characters of a value are the bytes of its UTF-8. So
// nothing is decoded or encoded.
//
// With \u, a value may contain characters that are not bytes. In a long line, the values of all
// fields take thirty times the size of the line. In both cases the text of a field at the top level
// is unescaped byte by byte into a buffer, and other values are skipped without creating them.
//
// Everything else is left to JSON.parse, including what is not JSON. A line that is read here gives
// the same values with JSON.parse.

import { valueAt } from '../files/rows.mjs'
import * as jsonBytes from './json-bytes.mjs'
import { skipValue } from './json-skip.mjs'

// V8 reads local constants faster than imported ones, which matters in the loops below.
const {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  ESCAPES,
  HEX,
  IS_PLAIN,
  IS_SPACE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  UNICODE,
} = jsonBytes

const UNICODE_ESCAPE = Buffer.from('\\u')
/**
 * Lines of more bytes are scanned for the field, because JSON.parse would create all their values.
 */
const MIN_SCANNED_BYTES = 1 << 20
/** Up to this many bytes are copied faster by a loop than by a call. */
const MAX_LOOPED_COPY = 64
/** @type {Buffer} */
const EMPTY = Buffer.alloc(0)

/** A string with one character for each byte of the UTF-8 of `text`. */
const bytesOf = (text) => Buffer.from(text).toString('latin1')

export class FieldReader {
  #field
  #idField
  /** The names of the fields, with one character for each byte. */
  #byteField
  #byteIdField
  #isSimple
  /** The line, and the current position in it. */
  #bytes = EMPTY
  #at = 0

  constructor(field, idField) {
    this.#field = field
    this.#idField = idField
    this.#byteField = bytesOf(field)
    this.#byteIdField = idField === undefined ? undefined : bytesOf(idField)
    // A name with a dot may also be a path.
    this.#isSimple = !field.includes('.') && idField?.includes('.') !== true && field !== idField
  }

  /** The number of bytes that the last call of `read` wrote. */
  length = 0
  /** The value of the id field of that line. */
  id = /** @type {unknown} */ (undefined)

  /**
   * Reads a line of valid UTF-8 and writes its text to `out`, which has room for the line. Returns
   * false if the line must be left to JSON.parse.
   *
   * @param {Buffer} bytes
   * @param {Buffer} out
   */
  read(bytes, out) {
    this.length = -1
    this.id = undefined
    const isLong = bytes.length > MIN_SCANNED_BYTES && this.#isSimple
    if (!isLong && !bytes.includes(UNICODE_ESCAPE)) return this.#parse(bytes, out)
    if (!this.#isSimple) return false
    this.#bytes = bytes
    this.#at = 0
    try {
      return this.#object(out) && this.length !== -1 && (this.#idField === undefined || this.id !== undefined)
    } catch (failure) {
      if (failure instanceof SyntaxError) return false
      throw failure
    } finally {
      this.#bytes = EMPTY
    }
  }

  /** Parses a line without \u. */
  #parse(bytes, out) {
    let value
    try {
      value = JSON.parse(bytes.latin1Slice(0, bytes.length))
    } catch {
      return false
    }
    const text = valueAt(value, this.#byteField)
    if (typeof text !== 'string') return false
    this.length = out.latin1Write(text, 0, text.length)
    if (this.#byteIdField === undefined) return true
    const id = valueAt(value, this.#byteIdField)
    this.id = typeof id === 'string' ? Buffer.from(id, 'latin1').toString() : id
    return typeof id === 'string' || typeof id === 'number'
  }

  /** Scans an object for the fields. Returns whether it is the whole line. */
  #object(out) {
    const bytes = this.#bytes
    if (this.#token() !== OPEN_BRACE) return false
    this.#at += 1
    for (;;) {
      if (this.#token() !== QUOTE) return false
      const key = this.#key()
      if (key === undefined || this.#token() !== COLON) return false
      this.#at += 1
      const first = this.#token()
      if (key === this.#field) {
        // If a name occurs twice, the last value counts. That is left to JSON.parse.
        if (first !== QUOTE || this.length !== -1) return false
        this.length = this.#text(out)
        if (this.length === -1) return false
      } else {
        const start = this.#at
        this.#at = skipValue(bytes, start)
        if (this.#at === -1) return false
        // An id is a string or a number. Other values are left to JSON.parse.
        if (key === this.#idField) {
          if (first === OPEN_BRACE || first === OPEN_BRACKET) return false
          this.id = JSON.parse(bytes.toString('utf8', start, this.#at))
        }
      }
      const next = this.#token()
      this.#at += 1
      if (next === CLOSE_BRACE) break
      if (next !== COMMA) return false
    }
    this.#token()
    return this.#at === bytes.length
  }

  /** The next byte that is not white space. */
  #token() {
    const bytes = this.#bytes
    let at = this.#at
    while (IS_SPACE[bytes[at]] === 1) at += 1
    this.#at = at
    return bytes[at]
  }

  /** A key without escapes. */
  #key() {
    const start = this.#at + 1
    const end = this.#bytes.indexOf(QUOTE, start)
    if (end === -1) return undefined
    this.#at = end + 1
    for (let at = start; at < end; at++) if (this.#bytes[at] < 32 || this.#bytes[at] === BACKSLASH) return undefined
    return this.#bytes.toString('utf8', start, end)
  }

  /** Unescapes a string into `out`. Returns the number of bytes, or -1 if it is not valid. */
  #text(out) {
    const bytes = this.#bytes
    const end = bytes.length
    let at = this.#at + 1
    let to = 0
    for (;;) {
      const start = at
      while (at < end && IS_PLAIN[bytes[at]] === 1) at += 1
      if (at - start > MAX_LOOPED_COPY) to += bytes.copy(out, to, start, at)
      else for (let from = start; from < at; from++) out[to++] = bytes[from]
      const byte = bytes[at++]
      if (byte === QUOTE) {
        this.#at = at
        return to
      }
      // The line ends, or a control character is in the string.
      if (byte !== BACKSLASH) return -1
      const letter = bytes[at++]
      if (letter !== UNICODE) {
        if (at > end || ESCAPES[letter] === 0) return -1
        out[to++] = ESCAPES[letter]
        continue
      }
      const point = escapedPoint(bytes, at)
      if (point === -1) return -1
      // A character beyond U+FFFF takes two escapes.
      at += point > 0xffff ? 10 : 4
      to = putUtf8(out, to, point)
    }
  }
}

/**
 * The code point of an escape `\uXXXX` whose digits are at `at`, together with the escape of a low
 * surrogate after it; -1 if it has other digits.
 */
function escapedPoint(bytes, at) {
  const unit = hexUnit(bytes, at)
  if (unit < 0xd800 || unit > 0xdfff) return unit
  const isPair = unit <= 0xdbff && bytes[at + 4] === BACKSLASH && bytes[at + 5] === UNICODE
  const low = isPair ? hexUnit(bytes, at + 6) : -1
  // Half a surrogate pair has no UTF-8. It becomes U+FFFD, as in all strings that are encoded.
  return low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : 0xfffd
}

/** The number of four hexadecimal digits, or -1. */
function hexUnit(bytes, at) {
  if (at + 4 > bytes.length) return -1
  const [a, b, c, d] = [HEX[bytes[at]], HEX[bytes[at + 1]], HEX[bytes[at + 2]], HEX[bytes[at + 3]]]
  return (a | b | c | d) < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}

/** Writes a code point as UTF-8. Returns the position after it. */
function putUtf8(out, to, point) {
  if (point < 0x80) {
    out[to++] = point
  } else if (point < 0x800) {
    out[to++] = 0xc0 | (point >> 6)
    out[to++] = 0x80 | (point & 63)
  } else if (point < 0x10000) {
    out[to++] = 0xe0 | (point >> 12)
    out[to++] = 0x80 | ((point >> 6) & 63)
    out[to++] = 0x80 | (point & 63)
  } else {
    out[to++] = 0xf0 | (point >> 18)
    out[to++] = 0x80 | ((point >> 12) & 63)
    out[to++] = 0x80 | ((point >> 6) & 63)
    out[to++] = 0x80 | (point & 63)
  }
  return to
}
