// Calls whose answers follow from `count` and `encode`. Each is compared with its definition, which
// takes quadratic time, so texts are short.

import { Buffer } from 'node:buffer'

const MAX_UNITS = 60
const LIMITS = [0, 1, 2, 3, 5, 8, 13, 21]

/**
 * The calls whose answer differs from its definition, as messages.
 *
 * @param {any} tokenizer
 * @param {string} whole
 * @param {any} options those of `count`
 * @param {boolean} isExact whether `truncate` must return the longest prefix: index.d.ts lists the
 *   tokenizers for which it may be shorter
 */
export function inconsistencies(tokenizer, whole, options, isExact) {
  const plain = tokenizer.with({ truncation: null, padding: null })
  const text = whole.slice(0, MAX_UNITS).toWellFormed()
  const counted = tried(() => countsOfPrefixes(plain, text, options))
  if (counted.code !== undefined) return [] // such as an unknown token that is missing
  const subject = { tokenizer, text, options, ids: plain.encode(text, options).ids, counts: counted.value }
  const limits = [...new Set([...LIMITS, subject.ids.length - 1, subject.ids.length])].filter((limit) => limit >= 0)
  const found = tokenizer.count(text, options) === subject.ids.length ? [] : ['count']
  for (const limit of limits) {
    found.push(...truncated(subject, limit, isExact), ...written(subject, limit))
    if (tokenizer.isWithin(text, limit, options) !== subject.ids.length <= limit) found.push(`isWithin ${limit}`)
    if (limit > 0) found.push(...split(subject, limit, isExact))
  }
  return found
}

function tried(call) {
  try {
    return { value: call() }
  } catch (error) {
    return { code: error.code ?? String(error) }
  }
}

/** The count of each prefix that ends between two characters, by its length. */
function countsOfPrefixes(tokenizer, text, options) {
  const counts = new Map([[0, tokenizer.count('', options)]])
  let length = 0
  for (const character of text) {
    length += character.length
    counts.set(length, tokenizer.count(text.slice(0, length), options))
  }
  return counts
}

function truncated({ tokenizer, text, options, counts }, limit, isExact) {
  const lengths = [...counts.keys()].filter((length) => counts.get(length) <= limit)
  const { value, code } = tried(() => tokenizer.truncate(text, limit, options))
  const name = `truncate ${limit}`
  if (code !== undefined)
    return code === 'ERR_TOKENLANE_LIMIT_TOO_SMALL' && counts.get(0) > limit ? [] : [`${name}: ${code}`]
  if (!lengths.includes(value.length) || !text.startsWith(value)) return [`${name}: ${JSON.stringify(value)}`]
  const bytes = Buffer.from(tokenizer.truncate(Buffer.from(text), limit, options)).toString()
  if (bytes !== value) return [`${name} of bytes: ${JSON.stringify(bytes)}`]
  return isExact && value.length < Math.max(...lengths) ? [`${name} is shorter than ${Math.max(...lengths)}`] : []
}

/** Checks `encodeInto` of the text and of its bytes. */
function written({ tokenizer, text, options, ids: all }, room) {
  const bytes = Buffer.from(text)
  const isBetweenUnits = (place) => text.slice(0, place).isWellFormed()
  const isBetweenBytes = (place) => place === bytes.length || (bytes[place] & 0xc0) !== 0x80
  const inputs = [
    { name: 'text', input: text, isBetween: isBetweenUnits },
    { name: 'bytes', input: bytes, isBetween: isBetweenBytes },
  ]
  return inputs.flatMap(({ name, input, isBetween }) => {
    const ids = new Uint32Array(room)
    const { read, written } = tokenizer.encodeInto(input, ids, options)
    const isStart = ids.subarray(0, written).every((id, at) => id === all[at])
    const isWhole = input.length === 0 || (read === input.length) === (written === all.length)
    return isStart && isWhole && isBetween(read) ? [] : [`encodeInto ${room} of ${name}: ${read}, ${written}`]
  })
}

/** Checks `split` with several boundaries. */
function split({ tokenizer, text, options }, maxTokens, isExact) {
  const cases = [{ maxTokens }, { maxTokens, boundary: 'sentence' }, { maxTokens, overlap: Math.min(2, maxTokens - 1) }]
  return cases.flatMap((limits) => {
    const { value: pieces, code } = tried(() => tokenizer.split(text, { ...options, ...limits }))
    const name = `split ${JSON.stringify(limits)}`
    if (code !== undefined) {
      const isRefused = code === 'ERR_TOKENLANE_LIMIT_TOO_SMALL'
      const isTooSmall = isRefused && !eachStartFits(tokenizer, text, options, maxTokens, isExact)
      const isUnknown = code === 'ERR_TOKENLANE_UNKNOWN_TOKEN_MISSING' && needsUnknown(tokenizer, text, options)
      return isTooSmall || isUnknown ? [] : [`${name}: ${code}`]
    }
    const isRight = (piece) =>
      piece.text === text.slice(piece.start, piece.end) &&
      piece.count === tokenizer.count(piece.text, options) &&
      piece.count <= maxTokens
    const isJoined = limits.overlap > 0 || pieces.map((piece) => piece.text).join('') === text
    return isJoined && pieces.every(isRight) ? [] : [`${name}: ${JSON.stringify(pieces)}`]
  })
}

/** Whether a piece of a text needs the unknown token, which the vocabulary lacks. */
function needsUnknown(tokenizer, text, options) {
  const ends = [...text].map((_, at, characters) => characters.slice(at).join(''))
  return ends.some((end) => tried(() => tokenizer.count(end, options)).code === 'ERR_TOKENLANE_UNKNOWN_TOKEN_MISSING')
}

/**
 * Whether a piece can start at each character of a text: the piece of that character alone has at
 * most `maxTokens` ids or, if `isExact`, some longer one does. Then `split` must not fail.
 */
function eachStartFits(tokenizer, text, options, maxTokens, isExact) {
  const fits = (piece) => tried(() => tokenizer.count(piece, options)).value <= maxTokens
  const characters = [...text]
  return characters.every((first, at) => {
    if (fits(first)) return true
    const longer = isExact ? characters.slice(at + 1) : []
    let piece = first
    return longer.some((character) => fits((piece += character)))
  })
}
