'use strict'

const { allocate, output } = require('./render-cost.js')
const { joined } = require('./origins.js')

/** The output of statements: the text of a template, or of a captured block. */
class Output {
  #parts = []
  /** Number of UTF-16 units so far. */
  length = 0
  #isResult

  constructor({ isResult = false } = {}) {
    this.#isResult = isResult
  }

  write(text) {
    if (this.#isResult) output(text.length)
    allocate(40 + 2 * text.length)
    this.length += text.length
    this.#parts.push(text)
  }

  text() {
    return joined(this.#parts)
  }
}

module.exports = { Output }
