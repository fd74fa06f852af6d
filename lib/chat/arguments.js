'use strict'

// The arguments of filters, tests, methods and functions.

const { spend } = require('./budget.js')
const { TemplateError, isInteger, isText, kind, plain } = require('./values.js')

/** Binds arguments to parameter names. `defaults` belong to the last names. */
function bind(names, defaults, args, kwargs) {
  if (args.length > names.length)
    throw new TemplateError(`too many arguments: ${args.length}, not ${names.length} at most`)
  for (const key of kwargs.keys()) if (!names.includes(key)) throw new TemplateError(`there is no argument '${key}'`)
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
  for (const key of kwargs.keys()) throw new TemplateError(`there is no argument '${key}'`)
  return run(args)
}

/** Returns the string of an argument that must be a string. */
function textOf(value) {
  if (!isText(value)) throw new TemplateError(`a string is needed, not ${kind(value)}`)
  return plain(value)
}

const textOrNull = (value) => (value === null ? null : textOf(value))

/** Returns the integer of an argument that must be an integer, as a JavaScript number. */
function wholeOf(value) {
  if (!isInteger(value) && typeof value !== 'boolean')
    throw new TemplateError(`an integer is needed, not ${kind(value)}`)
  return Number(value)
}

const wholeOrNull = (value) => (value === null ? null : wholeOf(value))

module.exports = { bind, positional, textOf, textOrNull, wholeOf, wholeOrNull }
