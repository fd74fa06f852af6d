// The fast ways from a line of JSON to the bytes of the text in one of its fields.
//
// A line without \u is parsed with each of its bytes as one character. That is the same grammar,
// because all signs of JSON are ASCII, and the characters of a value are the bytes of its UTF-8:
// nothing is decoded, and nothing encoded.
//
// With \u a value may have characters that are no bytes, and the values of a long line take thirty
// times its size. Then the text of a field at the top of an object is unescaped byte by byte into a
// buffer, and other values are skipped without making them.
//
// Whatever else these meet, also anything that is no JSON, they leave to JSON.parse, which is the
// judge: what they take, it takes too, with the same values.

import { valueAt } from '../files/rows.mjs'
import { skipValue } from './json-skip.mjs'

const UNICODE_ESCAPE = Buffer.from('\\u')
/** Lines of more bytes are scanned for the field, because JSON.parse creates all their values. */
const MIN_SCANNED_BYTES = 1 << 20
const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET] = [123, 125, 91]
/** The meaning of the letter behind a backslash; 0 is none. */
const ESCAPES = new Uint8Array(256)
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPES[letter.charCodeAt(0)] = meaning.charCodeAt(0)
/** Bytes that stand for themselves in a string. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 32 && byte !== QUOTE && byte !== BACKSLASH),
)
/** A loop copies at most this many bytes faster than a call. */
const MAX_LOOPED_COPY = 64
const HEX = new Int8Array(256).fill(-1)
for (const digit of '0123456789abcdefABCDEF') HEX[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** @type {Buffer} */
const EMPTY = Buffer.alloc(0)

const bytesOf = (text) => Buffer.from(text).toString('latin1')

export class FieldReader {
  #field
  #idField
  /** The names with a character for each byte. */
  #byteField
  #byteIdField
  #isSimple
  /** The line, its end, and the position in it. */
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

  /** The bytes of the text of the last line that was read, in the buffer that was given. */
  length = 0
  /** The value of the id field of that line. */
  id = /** @type {unknown} */ (undefined)

  /**
   * Reads a line of valid UTF-8 and writes its text to `out`, which has room for the line. `false`:
   * it must be left to JSON.parse.
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
        // Of fields with one name the last one counts; JSON.parse knows.
        if (first !== QUOTE || this.length !== -1) return false
        this.length = this.#text(out)
        if (this.length === -1) return false
      } else {
        const start = this.#at
        this.#at = skipValue(bytes, start)
        if (this.#at === -1) return false
        // An id is a string or a number; whatever else it is, JSON.parse says.
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
    for (let byte = bytes[at]; byte === 32 || byte === 9 || byte === 13 || byte === 10; byte = bytes[at]) at += 1
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

  /** Unescapes a string; the number of bytes, or -1. */
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
      // The line ends, or a control character stands in the string.
      if (byte !== BACKSLASH) return -1
      {
        const letter = bytes[at++]
        if (letter !== 117) {
          if (at > end || ESCAPES[letter] === 0) return -1
          out[to++] = ESCAPES[letter]
          continue
        }
        let unit = hexUnit(bytes, at)
        if (unit === -1) return -1
        at += 4
        if (unit >= 0xd800 && unit <= 0xdfff) {
          const low = unit <= 0xdbff && bytes[at] === BACKSLASH && bytes[at + 1] === 117 ? hexUnit(bytes, at + 2) : -1
          if (low >= 0xdc00 && low <= 0xdfff) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            at += 6
          } else {
            // Half a character has no UTF-8; it becomes U+FFFD, as in strings that are encoded.
            unit = 0xfffd
          }
        }
        to = putUtf8(out, to, unit)
      }
    }
  }
}

/** The number that four hexadecimal digits stand for, or -1. */
function hexUnit(bytes, at) {
  if (at + 4 > bytes.length) return -1
  const [a, b, c, d] = [HEX[bytes[at]], HEX[bytes[at + 1]], HEX[bytes[at + 2]], HEX[bytes[at + 3]]]
  return (a | b | c | d) < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d
}

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
