'use strict'

// encode_with_unstable: the tokens at the end of a text that more text could change, and what they could become. The
// definition is tiktoken's: what counts as unstable is the last word, with the white space before it if it starts with some.

const SPACES = /^[ \n\t]*$/

/** How many tokens are certain. */
function stableLength(ids, wordIds, ranks) {
  const isSpace = (at) => SPACES.test(ranks.token(ids[at]) ?? 'special')
  let stable = wordIds.indexOf(wordIds.at(-1))
  if (isSpace(stable)) {
    while (stable > 0 && isSpace(stable - 1)) stable -= 1
  }
  return stable
}

/** Every sequence of tokens that text starting with the unstable tokens could begin with. */
function completions(ids, ranks, encode) {
  const bytes = Array.from(ids, (id) => ranks.token(id)).join('')
  if (bytes === '') return []
  const found = new Map()
  const add = (sequence) => found.set(sequence.join(), sequence)
  for (const token of ranks.startingWith(bytes)) add([ranks.id(token)])
  for (let cut = 1; cut < bytes.length; cut++) {
    const [before, after] = [bytes.slice(0, cut), bytes.slice(cut)]
    for (const token of ranks.startingWith(after)) add(upTo(bytes.length, tokensOf(before + token, ranks, encode), ranks))
  }
  const last = lastCharacter(bytes)
  if (last !== undefined && last.length < bytes.length && /\p{White_Space}/u.test(textOf(last))) {
    // A space at the end can be the start of what comes next.
    add([...ranks.merge(bytes.slice(0, -last.length)), ...ranks.merge(last)])
  }
  return [...found.values()]
}

/** The first tokens that together have so many bytes. */
function upTo(length, ids, ranks) {
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

/** The bytes of the character at the end, if there is a whole one. */
function lastCharacter(bytes) {
  for (let length = 1; length <= Math.min(4, bytes.length); length++) {
    const text = textOf(bytes.slice(-length))
    if (text !== undefined) return bytes.slice(-length)
  }
  return undefined
}

module.exports = { completions, stableLength }
