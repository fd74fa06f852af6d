'use strict'

// The tests of jinja2: `value is name`, and `value is name(argument)`.

const { bind, textOf } = require('./arguments.js')
const { compare, contains, equals } = require('./compare.js')
const { Loop } = require('./loop.js')
const { arithmetic } = require('./numbers.js')
const { str } = require('./print.js')
const { Traced, bare } = require('./origins.js')
const text = require('./traced.js')
const {
  Dict,
  Float,
  Generator,
  Markup,
  Range,
  TemplateError,
  Undefined,
  View,
  isInteger,
  isNumber,
  isText,
  kind,
  numberOf,
} = require('./values.js')

const simple = (run) => (value, args, kwargs) => run(value, ...bind([], [], args, kwargs))
const against = (run) => (value, args, kwargs) => run(value, ...bind(['other'], [], args, kwargs))

const isString = (value) => typeof value === 'string' || value instanceof Traced
const hasLength = (value) =>
  isText(value) || Array.isArray(value) || value instanceof Range || value instanceof Dict || value instanceof Undefined
const equal = against((a, b) => equals(a, b))
const unequal = against((a, b) => !equals(a, b))
const [less, lessOrEqual, greater, greaterOrEqual] = [(n) => n < 0, (n) => n <= 0, (n) => n > 0, (n) => n >= 0].map(
  (is) => against((a, b) => is(compare(a, b))),
)

/** The remainder of a division, as a JavaScript number. */
function rest(value, by) {
  for (const one of [value, by]) {
    if (one instanceof Undefined) one.refuse()
    if (!isNumber(one)) throw new TemplateError(`${kind(one)} is not a number`)
  }
  return numberOf(arithmetic('%', value, by))
}

const TESTS = {
  '!=': unequal,
  '<': less,
  '<=': lessOrEqual,
  '==': equal,
  '>': greater,
  '>=': greaterOrEqual,
  boolean: simple((value) => typeof value === 'boolean'),
  callable: simple((value) => typeof value === 'function' || value instanceof Undefined || value instanceof Loop),
  defined: simple((value) => !(value instanceof Undefined)),
  divisibleby: against((value, by) => rest(value, by) === 0),
  eq: equal,
  equalto: equal,
  escaped: simple((value) => value instanceof Markup),
  even: simple((value) => rest(value, 2) === 0),
  false: simple((value) => value === false),
  float: simple((value) => value instanceof Float),
  ge: greaterOrEqual,
  greaterthan: greater,
  gt: greater,
  in: against((value, container) => contains(container, value)),
  integer: simple(isInteger),
  iterable: simple((value) => hasLength(value) || value instanceof Generator || value instanceof Loop),
  le: lessOrEqual,
  lessthan: less,
  lower: simple((value) => text.isLower(str(value))),
  lt: less,
  mapping: simple((value) => value instanceof Dict),
  ne: unequal,
  none: simple((value) => value === null),
  number: simple(isNumber),
  odd: simple((value) => rest(value, 2) === 1),
  // Numbers and strings have no identity: equal values of one kind are the same.
  sameas: against((a, b) => a === b || (isString(a) && isString(b) && bare(a) === bare(b))),
  sequence: simple((value) => hasLength(value) && !(value instanceof View)),
  string: simple(isText),
  test: simple((value) => Object.hasOwn(TESTS, textOf(value))),
  true: simple((value) => value === true),
  undefined: simple((value) => value instanceof Undefined),
  upper: simple((value) => text.isUpper(str(value))),
}

/** Returns the test with a name. */
function tests(name) {
  if (Object.hasOwn(TESTS, name)) return TESTS[name]
  throw new TemplateError(`the test '${name}' is not supported`)
}

module.exports = { tests }
