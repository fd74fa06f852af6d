'use strict'

// Pieces of a text, from the numbers that the addon gives: of a whole text, or of one that comes bit by bit.

const { limitTooSmall, wrongType } = require('./errors.js')

// Why the addon gave no more pieces, as src/split.rs says it.
const SPECIAL_TOKENS = 1
const CHARACTER = 2

/** How many UTF-16 units of a stream are waited for at least, and how many for each id of a piece. */
const LEAST_WAIT = 256
const UNITS_PER_TOKEN = 4

/** What the addon is asked for a text that is there as a whole. */
const whole = (limits) => ({ ...limits, start: 0, covered: 0, isEnd: true })

/** The pieces that the addon found in `text`, which starts at `before` in the whole text; how far it came, and the error there. */
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
  if (stopped === SPECIAL_TOKENS) return limitTooSmall(`the special tokens around a text are more than ${maxTokens}`)
  if (stopped !== CHARACTER) return undefined
  const character = String.fromCodePoint(text.codePointAt(start))
  return limitTooSmall(`the character ${JSON.stringify(character)} has more than ${maxTokens} tokens`)
}

/** Splits a text that comes bit by bit. */
class Splitter {
  #limits
  #split
  /** What is not in pieces yet, or is needed for the next one. */
  #text = ''
  /** Where in the whole text `#text` starts. */
  #before = 0
  /** Where in `#text` the piece before ends. */
  #covered = 0
  /** How many units of text make it worth to look again: each look takes time for all of them. */
  #wanted

  /** `split` is the addon's, with a text and what is wanted of it. */
  constructor(limits, split) {
    this.#limits = limits
    this.#split = split
    this.#wanted = this.#least()
  }

  /** Takes more of the text; gives the pieces that do not depend on what comes next. */
  *push(text) {
    if (typeof text !== 'string') throw wrongType('text', 'a string', text)
    this.#text += text
    if (this.#text.length >= this.#wanted) yield* this.#pieces(false)
  }

  /** Gives the rest of the pieces. */
  *end() {
    yield* this.#pieces(true)
  }

  toTransformStream() {
    const hand = (pieces, controller) => {
      for (const piece of pieces) controller.enqueue(piece)
    }
    return new TransformStream({
      transform: (text, controller) => hand(this.push(text), controller),
      flush: (controller) => hand(this.end(), controller),
    })
  }

  *#pieces(isEnd) {
    // Half of a character may be there: its other half comes next.
    const last = this.#text.charCodeAt(this.#text.length - 1)
    const text = !isEnd && (last & 0xfc00) === 0xd800 ? this.#text.slice(0, -1) : this.#text
    const request = { ...this.#limits, start: 0, covered: this.#covered, isEnd }
    const { pieces, start, covered, failure } = piecesOf(text, this.#split(text, request), this.#limits, this.#before)
    this.#text = this.#text.slice(start)
    this.#before += start
    this.#covered = Math.max(0, covered - start)
    this.#wanted = Math.max(this.#least(), 2 * this.#text.length)
    yield* pieces
    if (failure !== undefined) throw failure
  }

  #least() {
    return Math.max(LEAST_WAIT, UNITS_PER_TOKEN * this.#limits.maxTokens)
  }
}

module.exports = { Splitter, piecesOf, whole }
