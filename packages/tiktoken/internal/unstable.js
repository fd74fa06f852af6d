'use strict'

// encode_with_unstable: finds the tokens at the end of a text that appended text could change, and
// the tokens that could replace them. The definition is tiktoken's: the last word is unstable. If
// its first token is white space, the white-space tokens before it are unstable too.

const SPACES = /^[ \n\t]*$/

const { ofBinary } = require('tokenlane/internal/dropins/bytes.js')
const { error } = require('tokenlane/internal/dropins/errors.js')

/**
 * Work for all completions, in bytes that are encoded. Each completion encodes the last word again,
 * so a word of a million letters would take minutes.
 */
const MAX_WORK = 2 ** 26
/** `merge` looks at all bytes for each pair that it merges. */
const BYTES_PER_MERGE = 64
/** Ids of all completions together. An id takes eight bytes of V8's heap. */
const MAX_IDS = 2 ** 25

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
  const found = new Found(ids, bytes.length, ranks)
  for (const token of ranks.startingWith(bytes)) found.add([ranks.id(token)])
  // No token starts with more bytes than the longest one has.
  for (let at = Math.max(1, bytes.length - ranks.maxLength); at < bytes.length; at++) {
    const [before, after] = [bytes.slice(0, at), bytes.slice(at)]
    for (const token of ranks.startingWith(after)) {
      const text = textOf(before + token)
      found.spend(text === undefined ? mergeCost(at + token.length) : at + token.length)
      found.add(text === undefined ? ranks.merge(before + token) : encode(text))
    }
  }
  const last = lastCharacter(bytes)
  if (last !== undefined && last.length < bytes.length && /\p{White_Space}/u.test(textOf(last))) {
    // A space at the end can become part of the next word.
    found.spend(mergeCost(bytes.length))
    found.add([...ranks.merge(bytes.slice(0, -last.length)), ...ranks.merge(last)])
  }
  return found.sequences
}

const mergeCost = (length) => length + length ** 2 / BYTES_PER_MERGE

/** Different token sequences, each as far as it covers the unstable bytes. */
class Found {
  #ids
  #length
  #ranks
  /** Where each of the unstable ids starts, in bytes. */
  #starts = [0]
  #found = new Map()
  #work = 0
  #count = 0

  constructor(ids, length, ranks) {
    this.#ids = ids
    this.#length = length
    this.#ranks = ranks
    for (const id of ids) this.#starts.push(this.#starts.at(-1) + ranks.token(id).length)
  }

  get sequences() {
    return [...this.#found.values()]
  }

  spend(work) {
    this.#work += work
    if (this.#work > MAX_WORK) this.#refuse()
  }

  #refuse() {
    throw error(
      'TEXT_TOO_LONG',
      `the last word of the text has ${this.#length} bytes, which is too long for encode_with_unstable`,
    )
  }

  add(sequence) {
    // Most sequences differ from the unstable ids in their last ids only.
    const ids = this.#ids
    let same = 0
    while (same < ids.length && sequence[same] === ids[same]) same++
    let end = same
    for (let bytes = this.#starts[same]; bytes < this.#length && end < sequence.length; end++)
      bytes += this.#ranks.token(sequence[end]).length
    const key = `${same} ${sequence.slice(same, end).join()}`
    if (this.#found.has(key)) return
    this.#count += end
    if (this.#count > MAX_IDS) this.#refuse()
    this.#found.set(key, Array.from(sequence.slice(0, end)))
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes) {
  try {
    return utf8.decode(ofBinary(bytes))
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
