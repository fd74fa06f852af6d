'use strict'

const { typeError } = require('tokenlane/internal/dropins/errors.js')

class AddedToken {
  #content
  #isSpecial
  #options

  constructor(token, isSpecial, options) {
    if (typeof token !== 'string') throw typeError('token must be a string')
    if (typeof isSpecial !== 'boolean') throw typeError('isSpecial must be a boolean')
    this.#content = token
    this.#isSpecial = isSpecial
    this.#options = options ?? {}
  }

  getContent() {
    return this.#content
  }

  /** Returns the token in the form of tokenlane's `addedTokens` option. */
  static settings(token) {
    if (!(token instanceof AddedToken)) throw typeError('each token must be an AddedToken')
    const { singleWord, leftStrip, rightStrip, normalized } = token.#options
    return {
      content: token.#content,
      singleWord: singleWord ?? false,
      lstrip: leftStrip ?? false,
      rstrip: rightStrip ?? false,
      normalized: normalized ?? !token.#isSpecial,
      special: token.#isSpecial,
    }
  }
}

module.exports = { AddedToken }
