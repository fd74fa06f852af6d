'use strict'

// encode_with_unstable: finds the tokens at the end of a text that appended text could change, and
// the tokens that could replace them. The definition is tiktoken's: the last word is unstable. If
// its first token is white space, the white-space tokens before it are unstable too.

const SPACES = /^[ \n\t]*$/

/** Returns the number of tokens that appended text cannot change. */
function stableLength(ids, wordIds, ranks) {
  const isSpace = (at) => SPACES.test(ranks.token(ids[at]) ?? 'special')
  let stable = wordIds.indexOf(wordIds.at(-1))
  if (isSpace(stable)) {
    while (stable > 0 && isSpace(stable - 1)) stable -= 1
  }
  return stable
}

/** Returns every token sequence with which a text that starts with the unstable bytes can begin. */
function completions(ids, ranks, encode) {
  const bytes = Array.from(ids, (id) => ranks.token(id)).join('')
  if (bytes === '') return []
  const found = new Map()
  const add = (sequence) => found.set(sequence.join(), sequence)
  for (const token of ranks.startingWith(bytes)) add([ranks.id(token)])
  for (let at = 1; at < bytes.length; at++) {
    const [before, after] = [bytes.slice(0, at), bytes.slice(at)]
    for (const token of ranks.startingWith(after)) {
      add(prefixOfBytes(bytes.length, tokensOf(before + token, ranks, encode), ranks))
    }
  }
  const last = lastCharacter(bytes)
  if (last !== undefined && last.length < bytes.length && /\p{White_Space}/u.test(textOf(last))) {
    // A space at the end can become part of the next word.
    add([...ranks.merge(bytes.slice(0, -last.length)), ...ranks.merge(last)])
  }
  return [...found.values()]
}

/** Returns the shortest prefix of `ids` that covers at least `length` bytes. */
function prefixOfBytes(length, ids, ranks) {
  let bytes = 0
  const end = ids.findIndex((id) => (bytes += ranks.token(id).length) >= length)
  return ids.slice(0, end === -1 ? ids.length : end + 1)
}

function tokensOf(bytes, ranks, encode) {
  const text = textOf(bytes)
  return text === undefined ? ranks.merge(bytes) : Array.from(encode(text))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes) {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return undefined
  }
}

/**
 * Returns the bytes of the last character, or undefined if the bytes do not end with a complete
 * one.
 */
function lastCharacter(bytes) {
  for (let length = 1; length <= Math.min(4, bytes.length); length++) {
    const text = textOf(bytes.slice(-length))
    if (text !== undefined) return bytes.slice(-length)
  }
  return undefined
}

module.exports = { completions, stableLength }
