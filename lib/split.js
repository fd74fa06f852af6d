'use strict'

// Creates the pieces of a text from the numbers that the addon returns: for a complete text, or for
// one that arrives in parts.

const { limitTooSmall, wrongType } = require('./errors.js')

// The reasons why the addon stopped early, as numbers of src/split.rs.
const STOPPED_AT_SPECIAL_TOKENS = 1
const STOPPED_AT_CHARACTER = 2

/**
 * A stream is split when this many UTF-16 units are buffered, and more for each id of a piece: the
 * sections of crates/core/src/split/section.rs, if each unit has three bytes.
 */
const MIN_BUFFERED = 1366
const UNITS_PER_ID = 11

/** The request for a complete text. */
const whole = (limits) => ({ ...limits, start: 0, covered: 0, isEnd: true })

/**
 * Converts the result of the addon for `text`, which starts at offset `before` of the whole text.
 * Returns the pieces, the start and the covered length for the next request, and the error that
 * ended the split.
 */
function piecesOf(text, found, limits, before = 0) {
  const numbers = new Uint32Array(found)
  const end = numbers.length - 3
  const pieces = new Array(end / 3)
  for (let at = 0; at < end; at += 3) {
    const [start, stop, count] = [numbers[at], numbers[at + 1], numbers[at + 2]]
    pieces[at / 3] = { text: text.slice(start, stop), start: before + start, end: before + stop, count }
  }
  const [start, covered, stopped] = [numbers[end], numbers[end + 1], numbers[end + 2]]
  return { pieces, start, covered, failure: failureOf(stopped, text, start, limits) }
}

function failureOf(stopped, text, start, { maxTokens }) {
  if (stopped === STOPPED_AT_SPECIAL_TOKENS)
    return limitTooSmall(`the special tokens around a text are more than ${maxTokens}`)
  if (stopped !== STOPPED_AT_CHARACTER) return undefined
  const character = String.fromCodePoint(text.codePointAt(start))
  return limitTooSmall(`the character ${JSON.stringify(character)} has more than ${maxTokens} tokens`)
}

/** Splits a text that arrives in parts. */
class Splitter {
  #limits
  #split
  /** Text that is not in a piece yet, or that the next piece may repeat. */
  #text = ''
  /** The offset of `#text` in the whole text. */
  #before = 0
  /** The offset in `#text` at which the last piece ends. */
  #covered = 0
  /**
   * The length of `#text` at which it is split again. Each attempt takes time for the whole buffer.
   */
  #threshold

  /** `split(text, request)` calls the addon. */
  constructor(limits, split) {
    this.#limits = limits
    this.#split = split
    this.#threshold = this.#minThreshold()
  }

  /** Adds a part of the text. Yields the pieces that do not depend on later parts. */
  *push(text) {
    if (typeof text !== 'string') throw wrongType('text', 'a string', text)
    this.#text += text
    if (this.#text.length >= this.#threshold) yield* this.#pieces(false)
  }

  /** Yields the remaining pieces. */
  *end() {
    yield* this.#pieces(true)
  }

  *#pieces(isEnd) {
    // The buffer may end inside of a surrogate pair. The other half arrives with the next part.
    const last = this.#text.charCodeAt(this.#text.length - 1)
    const text = !isEnd && (last & 0xfc00) === 0xd800 ? this.#text.slice(0, -1) : this.#text
    const request = { ...this.#limits, start: 0, covered: this.#covered, isEnd }
    const { pieces, start, covered, failure } = piecesOf(text, this.#split(text, request), this.#limits, this.#before)
    this.#text = this.#text.slice(start)
    this.#before += start
    this.#covered = Math.max(0, covered - start)
    this.#threshold = Math.max(this.#minThreshold(), 2 * this.#text.length)
    yield* pieces
    if (failure !== undefined) throw failure
  }

  #minThreshold() {
    return MIN_BUFFERED + UNITS_PER_ID * this.#limits.maxTokens
  }
}

module.exports = { Splitter, piecesOf, whole }
