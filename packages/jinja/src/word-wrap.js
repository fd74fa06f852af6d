'use strict'

// The filter wordwrap, which is Python's textwrap.wrap for each line.

const { allocate, walk } = require('./render-cost.js')
const { textOf, wholeOf } = require('./arguments.js')
const text = require('./text.js')
const { TemplateError, isTrue, textLength } = require('./values.js')

const SPACES = '[\\t-\\r ]+'
const OTHERS = '[^\\t-\\r ]'
const LETTER = '[\\p{L}\\p{Nl}\\p{No}_]'
const PUNCTUATION = '[\\p{L}\\p{N}_!"\'&.,?]'
/** White space, dashes between words, and words, which end at hyphens between letters. */
const CHUNKS = new RegExp(
  [
    SPACES,
    `(?<=${PUNCTUATION})-{2,}(?=[\\p{L}\\p{N}_])`,
    `${OTHERS}+?(?:` +
      `-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${PUNCTUATION}-))(?=${LETTER}-?${LETTER})` +
      `|(?=[\\t-\\r ]|$)|(?<=${PUNCTUATION})(?=-{2,}[\\p{L}\\p{N}_]))`,
  ].join('|'),
  'gu',
)
const WORDS = new RegExp(`${SPACES}|${OTHERS}+`, 'gu')

function wordWrap(value, width, breakLongWords, by, breakOnHyphens) {
  const size = wholeOf(width)
  const between = by === null ? '\n' : textOf(by)
  const lines = text.splitLines(textOf(value)).map((line) => {
    const wrapped = new Wrapper(size, isTrue(breakLongWords), isTrue(breakOnHyphens)).wrap(line)
    return text.join(wrapped, between)
  })
  return text.join(lines, between)
}

class Wrapper {
  #width
  #breaksWords
  #breaksAtHyphens

  constructor(width, breaksWords, breaksAtHyphens) {
    if (width <= 0) throw new TemplateError('wordwrap needs a positive width')
    this.#width = width
    this.#breaksWords = breaksWords
    this.#breaksAtHyphens = breaksAtHyphens
  }

  wrap(line) {
    walk(8 * line.length)
    const chunks = (line.match(this.#breaksAtHyphens ? CHUNKS : WORDS) ?? []).reverse()
    allocate(64 * chunks.length)
    const lines = []
    while (chunks.length > 0) {
      if (lines.length > 0 && isBlank(chunks.at(-1))) chunks.pop()
      const written = this.#line(chunks)
      if (written.length > 0 && isBlank(written.at(-1))) written.pop()
      if (written.length > 0) lines.push(text.join(written, ''))
    }
    return lines
  }

  /** Takes the chunks of the next line. A word that is longer than a line is divided. */
  #line(chunks) {
    const written = []
    let room = this.#width
    while (chunks.length > 0 && textLength(chunks.at(-1)) <= room) {
      room -= textLength(chunks.at(-1))
      written.push(chunks.pop())
    }
    const next = chunks.at(-1)
    if (next === undefined || textLength(next) <= this.#width) return written
    if (!this.#breaksWords) return written.length > 0 ? written : [chunks.pop()]
    const end = this.#end(text.slice(next, 0, room, 1), room)
    written.push(text.slice(next, 0, end, 1))
    chunks[chunks.length - 1] = text.slice(next, end, null, 1)
    return written
  }

  /** Where a long word is divided: behind its last hyphen in the line, or at the line's end. */
  #end(start, room) {
    const hyphen = this.#breaksAtHyphens ? text.findLast(start, '-') : -1
    return hyphen > 0 && /[^-]/.test(start.slice(0, hyphen)) ? textLength(start.slice(0, hyphen)) + 1 : room
  }
}

/** Whether Python's str.strip leaves nothing of a chunk. */
const isBlank = (chunk) => text.strip(chunk, null, true, true) === ''

module.exports = { wordWrap }
