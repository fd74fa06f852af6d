// Tokens for display: the position of each token in the text, its text and its bytes.

// The page of a static site uses it too, without Buffer.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const bytesOf = (text) => new TextEncoder().encode(text)

/**
 * The options that encode a text for display: special tokens are parsed, without truncation and
 * padding.
 */
export const LOOK = { specialTokens: 'parse', offsets: 'utf16', truncation: false, padding: false }

/**
 * @typedef {object} Token
 * @property {number} index in the list of tokens
 * @property {number} id
 * @property {string} token as the vocabulary writes it
 * @property {'text' | 'special' | 'added' | 'half'} kind `special` is a special token in the text,
 *   `added` was added by the tokenizer, and `half` has only a part of a character's bytes
 * @property {number} start offset in the text, in UTF-16 units
 * @property {number} end of a half: that of the whole character
 * @property {string} text the text from start to end; of an added token its own
 * @property {number[]} bytes of that text in UTF-8; of a half its own
 */

/**
 * Some of the tokens of a text.
 *
 * @param {import('../../index.js').Tokenizer} tokenizer
 * @param {string} text
 * @param {{ ids: Uint32Array, offsets: Uint32Array, specialTokensMask: Uint8Array }} encoding of
 *   the text, with LOOK
 * @param {number} from
 * @param {number} to
 * @returns {Token[]}
 */
export function describe(tokenizer, text, { ids, offsets, specialTokensMask }, from = 0, to = ids.length) {
  return Array.from(ids.subarray(from, to), (id, place) => {
    const index = from + place
    const start = offsets[2 * index]
    const own = tokenizer.decodeBytes([id])
    const kind =
      specialTokensMask[index] === 1 ? 'added' : isText(own) ? (isSpecial(tokenizer, id) ? 'special' : 'text') : 'half'
    // In SentencePiece files only the last byte of a character has its text.
    let last = index
    while (kind === 'half' && offsets[2 * last + 1] === start && last + 1 < ids.length) last += 1
    const end = offsets[2 * last + 1]
    const token = tokenizer.idToToken(id) ?? new TextDecoder().decode(own)
    const shown = kind === 'added' ? token : text.slice(start, end)
    return { index, id, token, kind, start, end, text: shown, bytes: [...(kind === 'half' ? own : bytesOf(shown))] }
  })
}

function isText(bytes) {
  try {
    utf8.decode(bytes)
    return true
  } catch {
    return false
  }
}

const isSpecial = (tokenizer, id) =>
  tokenizer.decode([id], { skipSpecialTokens: true }) === '' && tokenizer.decode([id]) !== ''

/** Counts code points without collecting them in an array. */
export function charactersOf(text) {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Counts the tokens that start in each line of a text. Added tokens belong to no line. */
export function tokensPerLine(text, { ids, offsets, specialTokensMask }) {
  const counts = []
  let token = 0
  for (let start = 0; ; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? Infinity : newline + 1
    let count = 0
    for (; token < ids.length && (specialTokensMask[token] === 1 || offsets[2 * token] < end); token++)
      count += 1 - specialTokensMask[token]
    counts.push(count)
    if (newline === -1) return counts
    start = end
  }
}

/**
 * Returns the range of tokens that start in a part of a text, from `start` to `end`. Added tokens
 * belong to the first and the last part.
 *
 * @returns {[from: number, to: number]}
 */
export function tokensWithin({ ids, offsets, specialTokensMask }, start, end) {
  const firstAt = (place, from) => {
    let token = from
    while (token < ids.length && (specialTokensMask[token] === 1 || offsets[2 * token] < place)) token += 1
    return token
  }
  const from = start === 0 ? 0 : firstAt(start, 0)
  return [from, end === Infinity ? ids.length : firstAt(end, from)]
}

export const hex = (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
