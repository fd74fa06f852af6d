'use strict'

// Errors of arguments, with the codes of tokenlane.

const shown = (value) => (typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value))

function valueError(name, expected, value) {
  const failure = new RangeError(`${name} must be ${expected}, and is ${shown(value)}`)
  return Object.assign(failure, { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
}

function typeError(name, expected, value) {
  const failure = new TypeError(`${name} must be ${expected}, and is of type ${value === null ? 'null' : typeof value}`)
  return Object.assign(failure, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
}

module.exports = { typeError, valueError }
