// Skips a JSON value in valid UTF-8 without creating it. It accepts exactly what JSON.parse
// accepts. Memory: one bit for each level of nesting.

import * as jsonBytes from './json-bytes.mjs'

// V8 reads local constants faster than imported ones, which matters in the loops below.
const {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  ESCAPES,
  HEX,
  IS_PLAIN,
  IS_SPACE,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  PLUS,
  POINT,
  QUOTE,
  UNICODE,
  ZERO,
} = jsonBytes

const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word))
const IS_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => Number(byte >= 48 && byte <= 57))
/** `e` and `E`, which start an exponent. */
const EXPONENT = [101, 69]

/** The position after white space. */
export function skipSpace(bytes, start) {
  let at = start
  while (at < bytes.length && IS_SPACE[bytes[at]] === 1) at += 1
  return at
}

/** The position after a string that starts here, or -1. */
export function skipString(bytes, start) {
  let at = start + 1
  for (;;) {
    while (at < bytes.length && IS_PLAIN[bytes[at]] === 1) at += 1
    if (bytes[at] === QUOTE) return at + 1
    if (bytes[at] !== BACKSLASH) return -1
    const letter = bytes[at + 1]
    if (ESCAPES[letter] > 0) at += 2
    else if (letter === UNICODE && [2, 3, 4, 5].every((digit) => HEX[bytes[at + digit]] >= 0)) at += 6
    else return -1
  }
}

function skipDigits(bytes, start) {
  let at = start
  while (IS_DIGIT[bytes[at]] === 1) at += 1
  return at
}

/** The position after a number, `true`, `false` or `null`, or -1. */
function skipScalar(bytes, start) {
  const word = WORDS.find((one) => one[0] === bytes[start])
  if (word !== undefined)
    return bytes.compare(word, 0, word.length, start, Math.min(bytes.length, start + word.length)) === 0
      ? start + word.length
      : -1
  let at = bytes[start] === MINUS ? start + 1 : start
  const whole = skipDigits(bytes, at)
  // A number has no leading zeros.
  if (whole === at || (bytes[at] === ZERO && whole > at + 1)) return -1
  at = whole
  if (bytes[at] === POINT) {
    const end = skipDigits(bytes, at + 1)
    if (end === at + 1) return -1
    at = end
  }
  if (EXPONENT.includes(bytes[at])) {
    const first = bytes[at + 1] === PLUS || bytes[at + 1] === MINUS ? at + 2 : at + 1
    const end = skipDigits(bytes, first)
    if (end === first) return -1
    at = end
  }
  return at
}

/** The open values: which of them are objects, and which are arrays. */
class Nesting {
  #bits = new Uint8Array(64)
  depth = 0

  open(isObject) {
    const at = this.depth >> 3
    if (at === this.#bits.length) {
      const larger = new Uint8Array(at * 2)
      larger.set(this.#bits)
      this.#bits = larger
    }
    const bit = 1 << (this.depth & 7)
    this.#bits[at] = isObject ? this.#bits[at] | bit : this.#bits[at] & ~bit
    this.depth += 1
  }

  /** Whether the innermost open value is an object. */
  get isObject() {
    const last = this.depth - 1
    return (this.#bits[last >> 3] & (1 << (last & 7))) !== 0
  }
}

/** The position after a key and its colon, where a value starts, or -1. */
function skipKey(bytes, start) {
  if (bytes[start] !== QUOTE) return -1
  const end = skipString(bytes, start)
  if (end === -1) return -1
  const colon = skipSpace(bytes, end)
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1
}

/** The position after the value that starts here, or -1 if there is none. */
export function skipValue(bytes, start) {
  const nesting = new Nesting()
  let at = start
  for (;;) {
    // A value starts here.
    const byte = bytes[at]
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const isObject = byte === OPEN_BRACE
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        nesting.open(isObject)
        if (isObject) at = skipKey(bytes, at)
        if (at === -1) return -1
        continue
      }
      at += 1
    } else {
      at = byte === QUOTE ? skipString(bytes, at) : skipScalar(bytes, at)
      if (at === -1) return -1
    }
    // A value has ended. What may follow depends on whether an object or an array contains it.
    for (;;) {
      if (nesting.depth === 0) return at
      at = skipSpace(bytes, at)
      const { isObject } = nesting
      if (bytes[at] === COMMA) {
        at = skipSpace(bytes, at + 1)
        if (isObject) at = skipKey(bytes, at)
        if (at === -1) return -1
        break
      }
      if (bytes[at] !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return -1
      nesting.depth -= 1
      at += 1
    }
  }
}
