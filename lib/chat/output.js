'use strict'

const { allocate, output } = require('./budget.js')

/** What statements write: the text of a template, or of a block that is captured. */
class Output {
  #parts = []
  #isResult

  constructor({ isResult = false } = {}) {
    this.#isResult = isResult
  }

  write(text) {
    if (this.#isResult) output(text.length)
    allocate(40 + 2 * text.length)
    this.#parts.push(text)
  }

  text() {
    return this.#parts.join('')
  }
}

module.exports = { Output }
