'use strict'

// Cuts a text into pieces of so many tokens, as the text comes. What is decided of a piece is decided from a window of the
// text that starts with it and whose length does not depend on how the text came: a stream and a whole text give the same.

const { limitTooSmall, wrongType } = require('./errors.js')
const { charactersUpTo } = require('./prefix.js')

/** How much of the text is looked at for a piece, in UTF-16 units a token; twice as much where that is not enough. */
const UNITS_PER_TOKEN = 12
const LEAST_WINDOW = 256
/** How many boundaries are tried, from the last one within the limit. */
const MOST_TRIED = 16

class Splitter {
  #limits
  #tokenizer
  /** What is left of the text; the next piece starts at `#start`. */
  #text = ''
  #start = 0
  /** Where in the whole text `#text` starts. */
  #before = 0
  /** Where the piece before ends. */
  #covered = 0
  #hasEnded = false

  constructor(limits, tokenizer) {
    this.#limits = limits
    this.#tokenizer = tokenizer
  }

  /** Takes more of the text; gives the pieces that are certain. */
  *push(text) {
    if (typeof text !== 'string') throw wrongType('text', 'a string', text)
    if (this.#start > 0) {
      this.#text = this.#text.slice(this.#start)
      this.#before += this.#start
      this.#covered -= this.#start
      this.#start = 0
    }
    this.#text += text
    yield* this.#pieces()
  }

  /** Gives the rest of the pieces. */
  *end() {
    this.#hasEnded = true
    yield* this.#pieces()
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

  *#pieces() {
    while (this.#start < this.#text.length) {
      const piece = this.#piece(this.#start)
      if (piece === undefined) return
      if (piece.length + this.#start <= this.#covered && this.#start < this.#covered) {
        // The overlap left no room for anything new.
        this.#start = this.#covered
        continue
      }
      const start = this.#start
      const end = start + piece.length
      const text = this.#text.slice(start, end)
      const { maxTokens, overlap } = this.#limits
      yield { text, start: this.#before + start, end: this.#before + end, count: piece.count }
      this.#covered = end
      const isLast = this.#hasEnded && end === this.#text.length
      this.#start = overlap > 0 && maxTokens > 1 && !isLast ? start + this.#overlapStart(text) : end
    }
  }

  /** Length and number of tokens of the piece at `start`; nothing if that depends on text that has not come yet. */
  #piece(start) {
    const { maxTokens, boundary } = this.#limits
    for (let units = Math.max(LEAST_WINDOW, maxTokens * UNITS_PER_TOKEN); ; units *= 2) {
      const left = this.#text.length - start
      if (left <= units && !this.#hasEnded) return undefined
      const window = this.#text.slice(start, start + (left <= units ? left : charactersUpTo(this.#text, units, start)))
      const [length, count] = this.#tokenizer.longestPrefix(window)
      const isWhole = length === window.length
      if (isWhole && left > units) continue
      if (length === 0) {
        const character = String.fromCodePoint(window.codePointAt(0))
        throw limitTooSmall(`the character ${JSON.stringify(character)} has more than ${maxTokens} tokens`)
      }
      if (isWhole || boundary === 'token') return { length, count }
      return this.#bestBoundary(window, length) ?? { length, count }
    }
  }

  /** The last boundary up to `most`; what ends there can have more tokens than a longer piece. */
  #bestBoundary(window, most) {
    const ends = boundaries(window, this.#limits.boundary, most)
    for (const length of ends.slice(-MOST_TRIED).reverse()) {
      const count = this.#tokenizer.count(window.slice(0, length))
      if (count <= this.#limits.maxTokens) return { length, count }
    }
    return undefined
  }

  /** Where in a piece the next one starts: the most that is within `overlap` tokens, of whole sentences or lines. */
  #overlapStart(piece) {
    const { overlap, boundary } = this.#limits
    const offsets = this.#tokenizer.bareOffsets(piece)
    const tokens = offsets.length / 2
    const starts = new Set()
    for (let token = Math.max(0, tokens - overlap); token < tokens; token++) starts.add(offsets[2 * token])
    const first = starts.size > 0 ? Math.min(...starts) : piece.length
    const allowed = boundary === 'token' ? starts : boundaries(piece, boundary, piece.length)
    const within = [...allowed].filter((start) => start > 0 && start >= first).sort((a, b) => a - b)
    return within.find((start) => this.#tokenizer.bareCount(piece.slice(start)) <= overlap) ?? piece.length
  }
}

/** Where sentences or lines end, up to `most`; not the end of the text itself. */
function boundaries(text, kind, most) {
  const ends = []
  for (const end of kind === 'line' ? lineEnds(text) : sentenceEnds(text)) {
    if (end > most || end === text.length) break
    ends.push(end)
  }
  return ends
}

function* lineEnds(text) {
  for (const { 0: found, index } of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) yield index + found.length
}

// Made when it is needed: it takes three mebibytes.
let sentences

function* sentenceEnds(text) {
  if (globalThis.Intl?.Segmenter === undefined) {
    yield* plainSentenceEnds(text)
    return
  }
  // The rules of one language, so that the machine's own does not decide where a text is cut.
  sentences ??= new Intl.Segmenter('en', { granularity: 'sentence' })
  for (const { segment, index } of sentences.segment(text)) yield index + segment.length
}

/** For a Node without Unicode's rules: behind a full stop and white space, and behind a line. */
function* plainSentenceEnds(text) {
  for (const { 0: found, index } of text.matchAll(/[.!?…]+["'”’)\]]*\s+|[。！？]+[」』”’]*\s*|\n+/g)) yield index + found.length
}

module.exports = { Splitter, plainSentenceEnds }
