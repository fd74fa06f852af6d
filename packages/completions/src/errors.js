'use strict'

// Errors of arguments, with the codes of tokenlane.

function shown(value) {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function valueError(name, expected, value) {
  const failure = new RangeError(`${name} must be ${expected}, and is ${shown(value)}`)
  return Object.assign(failure, { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
}

function typeError(name, expected, value) {
  const failure = new TypeError(`${name} must be ${expected}, and is of type ${value === null ? 'null' : typeof value}`)
  return Object.assign(failure, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
}

function unknownOption(name, known) {
  const failure = new TypeError(`there is no option '${name.slice(0, 40)}': the options are ${known.join(', ')}`)
  return Object.assign(failure, { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
}

/** Throws for an option that a call does not have. */
function checkNames(options, known) {
  if (typeof options !== 'object' || options === null) throw typeError('options', 'an object', options)
  for (const name of Object.keys(options)) if (!known.includes(name)) throw unknownOption(name, known)
}

module.exports = { checkNames, typeError, valueError }
