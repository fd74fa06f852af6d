'use strict'

const { wrongValue } = require('../errors.js')

/** A value as JSON; one that JSON cannot hold is refused by its name. */
function jsonText(value, name) {
  try {
    return JSON.stringify(value) ?? ''
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
