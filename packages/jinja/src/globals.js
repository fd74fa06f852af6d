'use strict'

// The functions that every template sees: those of jinja2, and those of transformers except for
// strftime_now and raise_exception.

const { allocateList, spend } = require('./render-cost.js')
const { bind, positional, wholeOf } = require('./arguments.js')
const { Cycler } = require('./loop.js')
const { fromKeys } = require('./methods.js')
const { Dict, Namespace, Range, TemplateError, Tuple, isText, items, iterate, seen } = require('./values.js')

const MAX_RANGE = 100_000

const range = positional((args) => {
  const numbers = args.map(wholeOf)
  if (!numbers.every(Number.isSafeInteger)) throw new TemplateError('range takes integers below 2 ** 53 here')
  const [start, stop, step = 1] = numbers.length === 1 ? [0, numbers[0]] : numbers
  if (step === 0 || stop === undefined || numbers.length > 3)
    throw new TemplateError('range takes one to three integers, and no step of 0')
  const made = new Range(start, stop, step)
  if (made.length > MAX_RANGE) throw new TemplateError(`a range has ${MAX_RANGE} numbers at most`)
  return made
})

function namespace(args, kwargs) {
  const attributes = dict(args, kwargs)
  const hidden = attributes.keys().find((name) => isText(name) && seen(name).startsWith('_'))
  if (hidden !== undefined)
    throw new TemplateError(`the attribute ${seen(hidden)} of a namespace must not begin with _`)
  return new Namespace(attributes)
}

/** Python's dict(): from a mapping or pairs, and keyword arguments. */
function dict(args, kwargs) {
  if (args.length > 1) throw new TemplateError('dict takes one mapping or list of pairs')
  const result = new Dict()
  for (const one of args) {
    for (const pair of one instanceof Dict ? one.entries() : iterate(one)) {
      const [key, value] = items(pair)
      if (value === undefined || items(pair).length !== 2) throw new TemplateError('dict takes pairs')
      result.set(key, value)
    }
  }
  for (const [key, value] of kwargs.entries()) result.set(key, value)
  return result
}

/** A function that returns nothing when it is called first, and later the separator. */
function joiner(args, kwargs) {
  const [separator] = bind(['sep'], [', '], args, kwargs)
  spend(4)
  let used = false
  const join = positional((given) => {
    if (given.length > 0) throw new TemplateError('a joiner takes no values')
    const text = used ? separator : ''
    used = true
    return text
  })
  const get = (name) => ({ sep: separator, used })[name]
  return Object.assign(join, { attributes: { get } })
}

const cycler = positional((args) => {
  if (args.length === 0) throw new TemplateError('a cycler needs values')
  allocateList(args.length)
  return new Cycler(Tuple.from(args))
})

function lipsum() {
  throw new TemplateError('lipsum, which makes random text, is not supported')
}

const GLOBALS = {
  cycler,
  dict: Object.assign(dict, { attributes: new Map([['fromkeys', fromKeys]]) }),
  joiner,
  lipsum,
  namespace,
  range,
}

module.exports = { GLOBALS }
