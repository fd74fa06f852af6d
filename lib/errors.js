'use strict'

// Creates the errors of the JavaScript side. They have the form of the addon's errors: an Error,
// TypeError or RangeError with a `code`.

function withCode(thrown, code) {
  thrown.code = code
  return thrown
}

/** The world or the data is not as it should be. */
const error = (code, message, options) => withCode(new Error(message, options), code)

/** The arguments do not fit the call. */
const typeError = (code, message) => withCode(new TypeError(message), code)

/** An argument of the wrong kind: what it is called, what it must be, what it was. */
function wrongType(name, expected, value) {
  return typeError('ERR_TOKENLANE_ARGUMENT_TYPE', `${name} must be ${expected}, but it is ${describe(value)}`)
}

/** An argument of the right kind with a value that is not allowed. */
function wrongValue(name, expected, value) {
  const message = `${name} must be ${expected}, but it is ${describe(value)}`
  return withCode(new RangeError(message), 'ERR_TOKENLANE_ARGUMENT_VALUE')
}

/** Allocates; a failure of the engine becomes the error that the addon has for it. */
function allocated(make) {
  try {
    return make()
  } catch (cause) {
    throw error('ERR_TOKENLANE_OUT_OF_MEMORY', `out of memory: ${cause.message}`, { cause })
  }
}

/** More tokens are needed than the caller allows. */
const limitTooSmall = (message) => withCode(new RangeError(message), 'ERR_TOKENLANE_LIMIT_TOO_SMALL')

/** There is more text in a call than the service allows. */
const inputTooLarge = (message) => withCode(new RangeError(message), 'ERR_TOKENLANE_INPUT_TOO_LARGE')

/** A name of more letters than this is shown by its beginning, and is not like any other. */
const LONG = 200

/** An option that does not exist, with the one that was probably meant. */
function unknownOption(name, known, within) {
  const nearest = require('./hints.js').synonymOf(name, known) ?? nearestOf(name, known)
  const hint =
    nearest !== undefined
      ? `; did you mean '${nearest}'?`
      : known.length > 0
        ? `; the options are ${known.join(', ')}`
        : '; this call takes no options'
  const shown = name.length > LONG ? `${name.slice(0, LONG)}…` : name
  return typeError('ERR_TOKENLANE_UNKNOWN_OPTION', `there is no option '${within === undefined ? shown : `${within}.${shown}`}'${hint}`)
}

/** Which of the known names was probably meant; nothing if none is like it. */
function nearestOf(name, known) {
  if (name.length > LONG) return undefined
  const nearest = [...known].sort((a, b) => distance(name, a) - distance(name, b))[0]
  return nearest !== undefined && distance(name, nearest) <= Math.max(2, name.length / 3) ? nearest : undefined
}

/** A value in the words of a message, short. */
function describe(value) {
  if (value === null || value === undefined) return String(value)
  switch (typeof value) {
    case 'string':
      return value.length > 40 ? 'a string' : `the string '${value}'`
    case 'number':
    case 'boolean':
      return `the ${typeof value} ${value}`
    case 'bigint':
      return `the bigint ${value}n`
    case 'symbol':
      return 'a symbol'
    case 'function':
      return 'a function'
    default:
      return Array.isArray(value) ? 'an array' : 'an object'
  }
}

/** How many letters have to change, come or go. */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1].toLowerCase() === b[j - 1].toLowerCase()
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}

module.exports = { allocated, withCode, error, typeError, wrongType, wrongValue, inputTooLarge, limitTooSmall, nearestOf, unknownOption }
