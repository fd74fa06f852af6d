'use strict'

const { allocate, output } = require('./budget.js')

/** The output of statements: the text of a template, or of a captured block. */
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
