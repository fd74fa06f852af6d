'use strict'

// The tests of jinja2: `value is name`, and `value is name(argument)`.

const { bind } = require('./methods.js')
const text = require('./text.js')
const values = require('./values.js')
const { Float, Generator, TemplateError, Undefined, View, compare, contains, equals, isInteger, isNumber, kind, numberOf, str } = values

const plain = (run) => (value, args, kwargs) => run(value, ...bind([], [], args, kwargs))
const against = (run) => (value, args, kwargs) => run(value, ...bind(['other'], [], args, kwargs))

const sameAs = (a, b) => (a instanceof Float && b instanceof Float ? a === b : a instanceof Undefined ? b instanceof Undefined : a === b)
const hasLength = (value) => typeof value === 'string' || Array.isArray(value) || value instanceof Map || value instanceof Undefined
const equal = against(equals)
const unequal = against((a, b) => !equals(a, b))
const [less, lessOrEqual, greater, greaterOrEqual] = [(n) => n < 0, (n) => n <= 0, (n) => n > 0, (n) => n >= 0].map((is) => against((a, b) => is(compare(a, b))))

function rest(value, by) {
  for (const one of [value, by]) if (!isNumber(one)) throw new TemplateError(`${kind(one)} is no number`)
  if (numberOf(by) === 0) throw new TemplateError('nothing can be divided by 0')
  return numberOf(value) % numberOf(by)
}

const TESTS = {
  boolean: plain((value) => typeof value === 'boolean'),
  callable: plain((value) => typeof value === 'function' || value instanceof Undefined),
  defined: plain((value) => !(value instanceof Undefined)),
  divisibleby: against((value, by) => rest(value, by) === 0),
  eq: equal,
  equalto: equal,
  even: plain((value) => rest(value, 2) === 0),
  false: plain((value) => value === false),
  float: plain((value) => value instanceof Float),
  ge: greaterOrEqual,
  greaterthan: greater,
  gt: greater,
  in: against((value, container) => contains(container, value)),
  integer: plain(isInteger),
  iterable: plain((value) => hasLength(value) || value instanceof Generator),
  le: lessOrEqual,
  lessthan: less,
  lower: plain((value) => text.isLower(str(value))),
  lt: less,
  mapping: plain((value) => value instanceof Map),
  ne: unequal,
  none: plain((value) => value === null),
  number: plain(isNumber),
  odd: plain((value) => Math.abs(rest(value, 2)) === 1),
  sameas: against(sameAs),
  sequence: plain((value) => hasLength(value) && !(value instanceof View)),
  string: plain((value) => typeof value === 'string'),
  true: plain((value) => value === true),
  undefined: plain((value) => value instanceof Undefined),
  upper: plain((value) => text.isUpper(str(value))),
}

/** The test of a name. */
function tests(name) {
  if (Object.hasOwn(TESTS, name)) return TESTS[name]
  throw new TemplateError(`the test '${name}' is not supported`)
}

module.exports = { tests }
