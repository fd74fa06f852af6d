'use strict'

// The arguments of filters, tests, methods and functions.

const { spend } = require('./render-cost.js')
const { TemplateError, isInteger, isText, kind, plain, seen, stringIn } = require('./values.js')

/** Binds arguments to parameter names. `defaults` belong to the last names. */
function bind(names, defaults, args, kwargs) {
  if (args.length > names.length)
    throw new TemplateError(`too many arguments: ${args.length}, not ${names.length} at most`)
  for (const key of kwargs.keys())
    if (!names.includes(seen(key))) throw new TemplateError(`there is no argument '${seen(key)}'`)
  spend(2 + 2 * names.length)
  return names.map((name, i) => {
    if (i < args.length) {
      if (kwargs.has(name)) throw new TemplateError(`the argument '${name}' is given twice`)
      return args[i]
    }
    const value = kwargs.has(name) ? kwargs.get(name) : defaults[i - names.length + defaults.length]
    if (value === undefined) throw new TemplateError(`the argument '${name}' is missing`)
    return value
  })
}

/** A function that takes no keyword arguments. */
const positional = (run) => (args, kwargs) => {
  for (const key of kwargs.keys()) throw new TemplateError(`there is no argument '${seen(key)}'`)
  return run(args)
}

/** Returns the string of an argument that must be a string. */
function textOf(value) {
  if (!isText(value)) throw new TemplateError(`a string is needed, not ${kind(value)}`)
  return plain(value)
}

/** Like `textOf`, with the origins of the characters. */
function stringOf(value) {
  if (!isText(value)) throw new TemplateError(`a string is needed, not ${kind(value)}`)
  return stringIn(value)
}

const textOrNull = (value) => (value === null ? null : textOf(value))

/**
 * Returns the integer of an argument that must be an integer of at most 64 bits, such as a width,
 * as a JavaScript number. Above 2 ** 53 it is approximate, and above any limit.
 */
function wholeOf(value) {
  const whole = boundOf(value)
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value)
    throw new TemplateError('such an integer is too large for a size')
  return whole
}

/** Returns the integer of an index, which may be of any size because it is limited to a length. */
function boundOf(value) {
  if (!isInteger(value) && typeof value !== 'boolean')
    throw new TemplateError(`an integer is needed, not ${kind(value)}`)
  return Number(value)
}

const boundOrNull = (value) => (value === null ? null : boundOf(value))

module.exports = { bind, boundOf, boundOrNull, positional, stringOf, textOf, textOrNull, wholeOf }
