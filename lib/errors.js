'use strict'

// Creates the errors of the JavaScript side. They have the form of the addon's errors: an Error,
// TypeError or RangeError with a `code`.

const { isRevoked } = require('./realm.js')

function withCode(thrown, code) {
  thrown.code = code
  return thrown
}

/** The data or the environment is not as required. */
const error = (code, message, options) => withCode(new Error(message, options), code)

/** The arguments do not match the call. */
const typeError = (code, message) => withCode(new TypeError(message), code)

/** An argument of the wrong type. The message has its name, what is expected, and the value. */
function wrongType(name, expected, value) {
  return typeError('ERR_TOKENLANE_ARGUMENT_TYPE', `${name} must be ${expected}, but it is ${describe(value)}`)
}

/** An argument of the right type with a value that is not allowed. */
function wrongValue(name, expected, value) {
  const message = `${name} must be ${expected}, but it is ${describe(value)}`
  return withCode(new RangeError(message), 'ERR_TOKENLANE_ARGUMENT_VALUE')
}

/**
 * Whether an engine threw an error because the stack was used up: V8 and JavaScriptCore, or
 * Firefox. Without a regular expression, which V8 might have no stack to compile.
 */
const isStackOverflow = (cause) =>
  (cause?.name === 'RangeError' && cause.message.includes('call stack')) || cause?.name === 'InternalError'

/**
 * Calls `make`, which allocates memory. An allocation failure of the engine becomes the error that
 * the addon throws in this case.
 */
function allocated(make) {
  try {
    return make()
  } catch (cause) {
    if (isStackOverflow(cause)) throw cause
    throw error('ERR_TOKENLANE_OUT_OF_MEMORY', `out of memory: ${cause.message}`, { cause })
  }
}

/** The result needs more tokens than the caller allows. */
const limitTooSmall = (message) => withCode(new RangeError(message), 'ERR_TOKENLANE_LIMIT_TOO_SMALL')

/** The call has more text than the limits of the service allow. */
const inputTooLarge = (message) => withCode(new RangeError(message), 'ERR_TOKENLANE_INPUT_TOO_LARGE')

/** Longer names are shortened in messages, and get no suggestion. */
const MAX_NAME = 200

/** The option that was probably meant, or undefined. */
const meantOption = (name, known) => require('./hints.js').synonymOf(name, known) ?? nearestOf(name, known)

/** An option that does not exist. The message suggests the option that was probably meant. */
function unknownOption(name, known, within) {
  const nearest = meantOption(name, known)
  const hint =
    nearest !== undefined
      ? `; did you mean '${nearest}'?`
      : known.length > 0
        ? `; the options are ${known.join(', ')}`
        : '; this call takes no options'
  const shown = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
  return typeError(
    'ERR_TOKENLANE_UNKNOWN_OPTION',
    `there is no option '${within === undefined ? shown : `${within}.${shown}`}'${hint}`,
  )
}

/** Returns the known name that was probably meant, or undefined if none is similar. */
function nearestOf(name, known) {
  if (name.length > MAX_NAME) return undefined
  const nearest = [...known].sort((a, b) => distance(name, a) - distance(name, b))[0]
  return nearest !== undefined && distance(name, nearest) <= Math.max(2, name.length / 3) ? nearest : undefined
}

/**
 * Whether something is an error of this package, of any realm: errors of workers and of other
 * copies of the package have the code, but other classes.
 */
function isTokenlaneError(value) {
  if (typeof value !== 'object' || value === null || isRevoked(value)) return false
  const isError = value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
  return isError && typeof value.code === 'string' && value.code.startsWith('ERR_TOKENLANE_')
}

/** Describes a value for a message. */
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
      return isRevoked(value) ? 'a revoked Proxy' : Array.isArray(value) ? 'an array' : 'an object'
  }
}

/** The edit distance between two names: changed, added and removed letters. */
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

module.exports = {
  allocated,
  withCode,
  error,
  typeError,
  wrongType,
  wrongValue,
  inputTooLarge,
  isStackOverflow,
  isTokenlaneError,
  limitTooSmall,
  meantOption,
  nearestOf,
  unknownOption,
}
