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

/** The length of a text in a unit; half a surrogate pair is a character of three bytes. */
function lengthIn(unit, text) {
  if (unit === 'utf16') return text.length
  let length = 0
  for (const character of text) {
    const code = /** @type {number} */ (character.codePointAt(0))
    length += unit === 'codepoint' || code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return length
}

/** Offsets of a text in a unit, from those in UTF-16 units. `base` is that of its start. */
class Offsets {
  #unit
  #text
  #base
  #at = 0

  constructor(unit, text, base) {
    this.#unit = unit
    this.#text = text
    this.#base = base
  }

  /** @param {number} place near the one before, from which the way is measured */
  at(place) {
    this.#base +=
      place < this.#at
        ? -lengthIn(this.#unit, this.#text.slice(place, this.#at))
        : lengthIn(this.#unit, this.#text.slice(this.#at, place))
    this.#at = place
    return this.#base
  }
}

/** What gives pieces of a text their offsets. */
function placer(unit, text, base = 0) {
  const [starts, ends] = [new Offsets(unit, text, base), new Offsets(unit, text, base)]
  return (piece) => ({ ...piece, start: starts.at(piece.start), end: ends.at(piece.end) })
}

/** The request for a complete text. */
const whole = (limits) => ({ ...limits, start: 0, covered: 0, isEnd: true })

/**
 * Converts the result of the addon for `text`, which starts at offset `before` of the whole text,
 * in the unit of offsets.
 * Returns the pieces, the start and the covered length for the next request, and the error that
 * ended the split.
 */
function piecesOf(text, found, limits, unit, before = 0) {
  const placed = placer(unit, text, before)
  const numbers = new Uint32Array(found)
  const end = numbers.length - 3
  const pieces = new Array(end / 3)
  for (let at = 0; at < end; at += 3) {
    const [start, stop, count] = [numbers[at], numbers[at + 1], numbers[at + 2]]
    pieces[at / 3] = placed({ text: text.slice(start, stop), start, end: stop, count })
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
  #unit
  #split
  /** Text that is not in a piece yet, or that the next piece may repeat. */
  #text = ''
  /** The offset of `#text` in the whole text, in the unit of offsets. */
  #before = 0
  /** The offset in `#text` at which the last piece ends. */
  #covered = 0
  /**
   * The length of `#text` at which it is split again. Each attempt takes time for the whole buffer.
   */
  #threshold

  /** `split(text, request)` calls the addon. */
  constructor(limits, unit, split) {
    this.#limits = limits
    this.#unit = unit
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
    const found = this.#split(text, request)
    const { pieces, start, covered, failure } = piecesOf(text, found, this.#limits, this.#unit, this.#before)
    this.#before += lengthIn(this.#unit, text.slice(0, start))
    this.#text = this.#text.slice(start)
    this.#covered = Math.max(0, covered - start)
    this.#threshold = Math.max(this.#minThreshold(), 2 * this.#text.length)
    yield* pieces
    if (failure !== undefined) throw failure
  }

  #minThreshold() {
    return MIN_BUFFERED + UNITS_PER_ID * this.#limits.maxTokens
  }
}

module.exports = { Splitter, lengthIn, piecesOf, placer, whole }
