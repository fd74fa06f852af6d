'use strict'

const {
  errors: { wrongValue },
} = require('tokenlane/internal/requests.js')

/**
 * A value as JSON; one that JSON cannot hold is refused by its name.
 *
 * @param {any} value
 * @param {string} name
 * @param {(name: string, value: any) => any} [replace]
 */
function jsonText(value, name, replace) {
  try {
    return JSON.stringify(value, replace) ?? ''
  } catch {
    throw wrongValue(name, 'a value that JSON can hold: not circular, and not nested too deeply', value)
  }
}

/** The value of a text that is JSON; another text stays. */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

module.exports = { jsonText, parsed }
