'use strict'

// The blocks of source code, from its blank lines, indentation and braces, for any language that is
// written in lines.

/**
 * A line of a text, as lib/markdown.js finds it.
 *
 * @typedef {{ start: number, end: number, text: string, isLong: boolean }} Line
 */

/**
 * A block of a text, of Markdown or of code.
 *
 * @typedef {object} Block
 * @property {number} start
 * @property {number} end
 * @property {'heading' | 'text' | 'lines' | 'list'} kind `lines` are code and tables
 * @property {number} [level] of a heading
 * @property {string} [title] of a heading
 * @property {number[]} [items] where the items of a list start
 * @property {boolean} [isTable]
 * @property {() => Block[]} [parts] those of a block of code, if it does not fit
 * @property {string} [head] text that a piece which starts with this block has before it
 * @property {Block[]} [path] the headings that the end of the block is below, outermost first
 * @property {boolean} [startsSection] whether a piece starts with this block
 * @property {number} [from] where the headings before the block start that its `head` has
 */

/** A line that ends a block which an earlier line began, or goes on with it. */
const CLOSER = /^\s*(?:[)\]}]|(?:end|else|elif|elsif|except|catch|finally|fi|done|esac)\b)/
/** Comments and decorators belong to the line behind them. */
const LEAD = /^\s*(?:\/\/|\/\*|\*|#|--|;|@)/
const TAB_WIDTH = 4
/** Maximum number of times that a block is divided, each time by deeper lines. */
const MAX_DEPTH = 32

function indentOf({ text }) {
  let width = 0
  for (const character of text) {
    if (character === ' ') width += 1
    else if (character === '\t') width += TAB_WIDTH
    else break
  }
  return width
}

/**
 * Finds the blocks of lines. A block starts behind a blank line and with a line that has deeper
 * ones behind it, together with the comments right before it; both only at lines that are not
 * indented deeper than the margin.
 */
class CodeBlocks {
  #lines
  #indents
  #isBlank

  /**
   * @param {Line[]} lines
   * @param {(line: Line) => boolean} isBlank
   */
  constructor(lines, isBlank) {
    this.#lines = lines
    this.#isBlank = lines.map(isBlank)
    this.#indents = lines.map(indentOf)
  }

  /** The blocks of the whole text: those that start at its margin. */
  all() {
    return this.#between(0, this.#lines.length, 0, MAX_DEPTH)
  }

  /**
   * The blocks of a range of lines; blank lines belong to the block before.
   *
   * @returns {Block[]}
   */
  #between(from, to, margin, depth) {
    const blocks = []
    let first = from
    for (let at = from + 1; at <= to; at++) {
      if (at < to && !this.#starts(at, to, margin)) continue
      if (at === to || first < at) blocks.push(this.#block(first, at, depth))
      first = at
    }
    return blocks
  }

  /** @returns {Block} */
  #block(first, next, depth) {
    const parts = depth > 0 && next - first > 1 ? () => this.#parts(first, next, depth - 1) : undefined
    return { kind: 'lines', start: this.#lines[first].start, end: this.#lines[next - 1].end, parts }
  }

  /** The parts of a block that does not fit: those behind its blank lines, or its deeper blocks. */
  #parts(first, next, depth) {
    const margin = this.#marginOf(first, next)
    const blocks = this.#between(first, next, margin, depth)
    if (blocks.length > 1) return blocks
    const parts = []
    for (let at = first; at < next; ) {
      let end = at + 1
      if (this.#indents[at] > margin && !this.#isBlank[at]) {
        while (end < next && (this.#isBlank[end] || this.#indents[end] > margin)) end += 1
        parts.push(...this.#between(at, end, this.#marginOf(at, end), depth))
      } else if (parts.length > 0 && (this.#isBlank[at] || CLOSER.test(this.#lines[at].text))) {
        // The end of the part before.
        parts.push({ ...parts.pop(), end: this.#lines[at].end, parts: undefined })
      } else parts.push(this.#block(at, end, 0))
      at = end
    }
    return parts
  }

  #marginOf(first, next) {
    let margin = Infinity
    for (let at = first; at < next; at++) if (!this.#isBlank[at]) margin = Math.min(margin, this.#indents[at])
    return margin
  }

  #starts(at, to, margin) {
    const { text } = this.#lines[at]
    if (this.#isBlank[at] || this.#indents[at] > margin || CLOSER.test(text)) return false
    if (this.#isBlank[at - 1] || this.#indents[at - 1] > margin) return true
    const isLead = (line) => LEAD.test(this.#lines[line].text)
    if (isLead(at - 1)) return false
    let head = at
    while (head < to && !this.#isBlank[head] && this.#indents[head] <= margin && isLead(head)) head += 1
    return this.#isHead(head, to, margin)
  }

  /** Whether deeper lines follow a line. */
  #isHead(at, to, margin) {
    let next = at + 1
    while (next < to && this.#isBlank[next]) next += 1
    return at < to && !this.#isBlank[at] && next < to && this.#indents[next] > margin
  }
}

module.exports = { CodeBlocks }
