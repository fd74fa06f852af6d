'use strict'

// The operators of expressions, for values of all kinds.

const { allocateList } = require('./render-cost.js')
const { wholeOf } = require('./arguments.js')
const { compare, contains, equals } = require('./compare.js')
const { percent } = require('./format.js')
const markup = require('./markup.js')
const { arithmetic } = require('./numbers.js')
const text = require('./traced.js')
const { TemplateError, Tuple, Undefined, View, isNumber, isText, kind } = require('./values.js')

/** Whether values can be added or repeated as lists. */
const isJoinable = (value) => Array.isArray(value) && !(value instanceof View)

/** The operators with two operands except comparisons: a + b, a * b and so on. */
function binary(operator, a, b) {
  if (operator === '%' && isText(a)) return percent(a, b)
  for (const value of [a, b]) if (value instanceof Undefined) value.refuse()
  if (operator === '+') {
    if (isText(a) && isText(b)) return markup.add(a, b)
    if (isJoinable(a) && isJoinable(b) && a.constructor === b.constructor) return joined(a, b)
  }
  if (operator === '*' && !(isNumber(a) && isNumber(b))) {
    const [what, times] = isNumber(b) ? [a, b] : [b, a]
    if (isText(what)) return markup.part(what, (whole) => text.repeat(whole, wholeOf(times)))
    if (isJoinable(what)) return repeated(what, wholeOf(times))
  }
  if (!isNumber(a) || !isNumber(b)) throw new TemplateError(`'${operator}' does not go with ${kind(a)} and ${kind(b)}`)
  return arithmetic(operator, a, b)
}

function joined(a, b) {
  allocateList(a.length + b.length)
  const both = a.concat(b)
  return a instanceof Tuple ? Tuple.from(both) : both
}

function repeated(list, times) {
  const { length } = list
  const count = length === 0 ? 0 : Math.max(0, times)
  allocateList(length * count)
  const many = new Array(length * count)
  for (let i = 0; i < many.length; i++) many[i] = list[i % length]
  return list instanceof Tuple ? Tuple.from(many) : many
}

const COMPARISONS = {
  '==': (a, b) => equals(a, b),
  '!=': (a, b) => !equals(a, b),
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
  in: (a, b) => contains(b, a),
  'not in': (a, b) => !contains(b, a),
}

module.exports = { COMPARISONS, binary }
