// Skips a value of JSON in bytes of valid UTF-8 without making it. It accepts what JSON.parse
// accepts, so that a line is never taken that JSON.parse would refuse. Memory is a bit for each
// level of nesting.

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93]
const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word))
/** The classes of bytes in a string: 0 ends a run of plain ones. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 32 && byte !== QUOTE && byte !== BACKSLASH),
)
const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => Number([9, 10, 13, 32].includes(byte)))
const IS_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => Number(byte >= 48 && byte <= 57))
const IS_HEX = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(/[0-9a-f]/i.test(String.fromCharCode(byte)) && byte < 128),
)
const IS_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) => Number(Buffer.from('"\\/bfnrt').includes(byte)))

/** The position behind white space. */
export function skipSpace(bytes, start) {
  let at = start
  while (at < bytes.length && IS_SPACE[bytes[at]] === 1) at += 1
  return at
}

/** The position behind a string that starts here, or -1. */
export function skipString(bytes, start) {
  let at = start + 1
  for (;;) {
    while (at < bytes.length && IS_PLAIN[bytes[at]] === 1) at += 1
    if (bytes[at] === QUOTE) return at + 1
    if (bytes[at] !== BACKSLASH) return -1
    const letter = bytes[at + 1]
    if (IS_ESCAPE[letter] === 1) at += 2
    else if (letter === 117 && [2, 3, 4, 5].every((digit) => IS_HEX[bytes[at + digit]] === 1)) at += 6
    else return -1
  }
}

function skipDigits(bytes, start) {
  let at = start
  while (IS_DIGIT[bytes[at]] === 1) at += 1
  return at
}

/** The position behind a number, `true`, `false` or `null`, or -1. */
function skipScalar(bytes, start) {
  const word = WORDS.find((one) => one[0] === bytes[start])
  if (word !== undefined)
    return bytes.compare(word, 0, word.length, start, Math.min(bytes.length, start + word.length)) === 0
      ? start + word.length
      : -1
  let at = bytes[start] === 45 ? start + 1 : start
  const whole = skipDigits(bytes, at)
  // No leading zeros.
  if (whole === at || (bytes[at] === 48 && whole > at + 1)) return -1
  at = whole
  if (bytes[at] === 46) {
    const end = skipDigits(bytes, at + 1)
    if (end === at + 1) return -1
    at = end
  }
  if (bytes[at] === 101 || bytes[at] === 69) {
    const first = bytes[at + 1] === 43 || bytes[at + 1] === 45 ? at + 2 : at + 1
    const end = skipDigits(bytes, first)
    if (end === first) return -1
    at = end
  }
  return at
}

/** Which of the open values are objects. */
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

  get isObject() {
    const last = this.depth - 1
    return (this.#bits[last >> 3] & (1 << (last & 7))) !== 0
  }
}

/** The position behind a key and its colon, where a value starts, or -1. */
function skipKey(bytes, start) {
  if (bytes[start] !== QUOTE) return -1
  const end = skipString(bytes, start)
  if (end === -1) return -1
  const colon = skipSpace(bytes, end)
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1
}

/** The position behind the value that starts here, or -1 if there is none. */
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
    // A value has ended; what follows depends on where it stands.
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
