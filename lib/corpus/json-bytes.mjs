// The bytes that have a meaning in JSON.

export const QUOTE = 34
export const PLUS = 43
export const COMMA = 44
export const MINUS = 45
export const POINT = 46
export const ZERO = 48
export const COLON = 58
export const [OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET] = [91, 92, 93]
export const [OPEN_BRACE, CLOSE_BRACE] = [123, 125]
/** The letter of an escape such as `\u00e9`. */
export const UNICODE = 117

/** By byte: 1 for white space. */
export const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => Number([9, 10, 13, 32].includes(byte)))

/** By byte: 1 if it stands for itself in a string. */
export const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 32 && byte !== QUOTE && byte !== BACKSLASH),
)

/** The value of each hexadecimal digit; -1 for other bytes. */
export const HEX = new Int8Array(256).fill(-1)
for (const digit of '0123456789abcdefABCDEF') HEX[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** The byte that an escape stands for, by the letter after the backslash; 0 if there is none. */
export const ESCAPES = new Uint8Array(256)
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'])
  ESCAPES[letter.charCodeAt(0)] = meaning.charCodeAt(0)
