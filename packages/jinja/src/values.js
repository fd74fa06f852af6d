'use strict'

// The values of a template, which behave as in Python, and their JavaScript types:
//
//   None          null
//   bool          boolean
//   int           number (a safe integer) or bigint
//   float         Float
//   str           string, or Traced if it has text of the caller (origins.js)
//   Markup        Markup (of markupsafe)
//   list          Array
//   tuple         Tuple
//   range         Range
//   dict          Dict
//   dict views    View: the results of keys(), values() and items()
//   generator     Generator: iterated once
//   function      function of (args, kwargs)
//   Undefined     Undefined (of jinja2)
//   namespace     Namespace (of jinja2)
//
// Loops have a class in loop.js. Values are immutable, except for a Namespace and the position of a
// Generator.

const { allocate, allocateList, allocateText, checkDepth, scan, spend, walk } = require('./render-cost.js')
const { TEMPLATE, Traced, bare, cut, marked, read, watched } = require('./origins.js')

/** An error in a template, or in an operation on its values. */
class TemplateError extends Error {}

class Float {
  constructor(value) {
    this.value = value
  }
}

/** A string that is already HTML. Strings that are added to it are escaped. */
class Markup {
  /** @param {string | InstanceType<typeof Traced>} text */
  constructor(text) {
    this.text = text
  }
}

/** Sequences other than Python's `list`. Methods of Array return an Array. */
class Sequence extends Array {
  static get [Symbol.species]() {
    return Array
  }
}
class Tuple extends Sequence {}
class View extends Sequence {
  /** The name that Python prints, such as `dict_keys`. */
  name = ''
}

/** An arithmetic sequence whose integers are computed on access. */
class Range {
  /**
   * @param {number} start
   * @param {number} stop
   * @param {number} step
   */
  constructor(start, stop, step) {
    this.start = start
    this.stop = stop
    this.step = step
    /** Number of integers. */
    this.length = Math.max(0, Math.ceil((stop - start) / step))
  }

  /** The integer at an index, which counts from the end if it is negative, or undefined. */
  at(place) {
    const i = place < 0 ? place + this.length : place
    return i >= 0 && i < this.length ? this.start + i * this.step : undefined
  }

  /** A slice, as of Python's ranges, from one index to another in steps. */
  part(from, to, step) {
    return new Range(this.start + from * this.step, this.start + to * this.step, this.step * step)
  }

  has(value) {
    const i = (value - this.start) / this.step
    return Number.isInteger(i) && i >= 0 && i < this.length
  }

  list() {
    allocateList(this.length)
    return Array.from({ length: this.length }, (_, i) => this.start + i * this.step)
  }
}

/**
 * The result of filters such as map: elements that are computed on access, once. The operator `in`
 * leaves those after the one that it finds.
 */
class Generator {
  #iterator

  constructor(iterable) {
    this.#iterator = iterable[Symbol.iterator]()
  }

  next() {
    return this.#iterator.next()
  }

  [Symbol.iterator]() {
    return this
  }
}

/** A missing value. It prints as nothing, has no elements, and throws in all other operations. */
class Undefined {
  constructor(message) {
    this.message = message
  }

  refuse() {
    throw new TemplateError(this.message)
  }
}

/** Attributes that a template can set. */
class Namespace {
  constructor(attributes) {
    this.attributes = attributes
  }
}

const UNDEFINED = Symbol('undefined')
/** Converting an integer of 16,384 bits takes 18 microseconds. */
const STEPS_PER_BIG_INTEGER = 600

/**
 * A mapping in insertion order. Keys that are equal in Python, such as 1, 1.0 and True, are one
 * key.
 */
class Dict {
  #values = new Map()
  /** Keys that differ from their canonical form, by that form. */
  #keys = new Map()
  /** The origin of keys that are plain strings, and of values without an origin of their own. */
  origin = TEMPLATE

  /** @param {Iterable<readonly unknown[]>} [entries] pairs of a key and a value */
  constructor(entries = []) {
    for (const [key, value] of entries) this.set(key, value)
  }

  get size() {
    return this.#values.size
  }

  set(key, value) {
    const form = keyForm(key)
    spend(2)
    allocate(64)
    if (form !== key && !this.#values.has(form)) this.#keys.set(form, key)
    this.#values.set(form, value)
  }

  /** The value of a key, or undefined. */
  get(key) {
    return this.#values.get(keyForm(key))
  }

  has(key) {
    return this.#values.has(keyForm(key))
  }

  delete(key) {
    const form = keyForm(key)
    this.#values.delete(form)
    this.#keys.delete(form)
  }

  *entries() {
    for (const [form, value] of this.#values) {
      const key = this.#keys.get(form) ?? form
      yield [typeof key === 'string' ? marked(key, this.origin) : key, value]
    }
  }

  keys() {
    allocateList(this.size)
    return this.#keys.size === 0 && this.origin === TEMPLATE
      ? [...this.#values.keys()]
      : Array.from(this.entries(), ([key]) => key)
  }

  values() {
    allocateList(this.size)
    return [...this.#values.values()]
  }

  /** The entries as a list of tuples. */
  items() {
    spend(3 * this.size)
    allocate(128 * this.size)
    return Array.from(this.entries(), ([key, value]) => tuple(key, value))
  }
}

/**
 * The canonical form of a key, which is the same for all keys that are equal in Python. V8 hashes
 * numbers, and strings that start with a digit, without a seed: whoever chooses them can make them
 * collide. So these have a form with a prefix, whose hash nobody can foresee.
 */
function keyForm(key, depth = 0) {
  if (typeof key === 'string') {
    scan(key.length)
    return isSeeded(key) ? key : prefixed('s', key)
  }
  spend(1)
  if (key instanceof Traced || key instanceof Markup) return keyForm(key.text)
  if (typeof key === 'boolean') return prefixed('n', String(Number(key)))
  if (key instanceof Float) return Number.isInteger(key.value) ? integerForm(integer(key.value)) : floatForm(key)
  if (isInteger(key)) return integerForm(key)
  if (key instanceof Undefined) return UNDEFINED
  if (key instanceof Tuple) return tupleForm(key, depth)
  const isView = key instanceof View && key.name !== 'dict_values'
  if (key instanceof Dict || isView || key?.constructor === Array)
    throw new TemplateError(`${kind(key)} cannot be a key`)
  return key
}

const isSeeded = (key) => {
  const first = key.charCodeAt(0)
  return !(first >= 48 && first <= 57) && first !== 0
}

/** `kind` is s for strings, n for numbers, b for bigints, t for tuples. */
function prefixed(kind, form) {
  spend(4)
  allocateText(form.length + 2)
  return `\0${kind}${form}`
}

function integerForm(key) {
  if (typeof key === 'number') return prefixed('n', String(key))
  spend(STEPS_PER_BIG_INTEGER)
  return prefixed('b', key.toString(32))
}

/** Values that are not a number are only equal to themselves. */
const floatForm = (key) => (Number.isNaN(key.value) ? key : prefixed('n', String(key.value)))

function tupleForm(key, depth) {
  checkDepth(depth, 'tuples')
  const parts = Array.from(key, (one) => {
    const form = keyForm(one, depth + 1)
    if (typeof form === 'object' && form !== null) throw new TemplateError(`${kind(form)} in a tuple cannot be a key`)
    const text = String(form)
    allocateText(text.length + 20)
    return `${typeof form}:${text.length}:${text}`
  })
  return prefixed('t', parts.join(','))
}

function tuple(...items) {
  return Tuple.from(items)
}

const isInteger = (value) => typeof value === 'number' || typeof value === 'bigint'
const isNumber = (value) => isInteger(value) || value instanceof Float || typeof value === 'boolean'
const isText = (value) => typeof value === 'string' || value instanceof Traced || value instanceof Markup

/** The string with its origins in a string or in Markup. */
const stringIn = (value) => (value instanceof Markup ? value.text : value)

/** The JavaScript string in a string or in Markup, of which a new string is made. */
const plain = (value) => (typeof value === 'string' ? value : isText(value) ? read(stringIn(value)) : value)

/** The JavaScript string in a string or in Markup, which is only looked at. */
const seen = (value) => (typeof value === 'string' ? value : isText(value) ? bare(stringIn(value)) : value)

/** A filter, method or function, whose results have the origins of the text that it has read. */
const keeping = (run) => watched(run, withOrigin)

/** A table of such functions. */
const kept = (table) => Object.fromEntries(Object.entries(table).map(([name, run]) => [name, keeping(run)]))

/** A value in which plain strings have an origin. Lists are copied, because they may be shared. */
function withOrigin(value, origin) {
  if (typeof value === 'string') return marked(value, origin)
  if (value instanceof Markup) return typeof value.text === 'string' ? new Markup(marked(value.text, origin)) : value
  if (!Array.isArray(value) || !value.some(isText)) return value
  const List = /** @type {ArrayConstructor} */ (value.constructor)
  return Object.assign(
    List.from(value, (one) => (isText(one) ? withOrigin(one, origin) : one)),
    namesOf(value),
  )
}

/** What lists have besides their elements: the names of a group, and the name of a view. */
const namesOf = (/** @type {any} */ { fields, name }) => ({
  ...(fields && { fields }),
  ...(name !== undefined && { name }),
})

/** Normalizes an integer to a number if it is safe, else to a bigint. */
function integer(value) {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number + 0 : BigInt(value)
}

/** Converts a number to a JavaScript number. */
const numberOf = (value) => (value instanceof Float ? value.value : Number(value))

function isTrue(value) {
  if (typeof value === 'boolean') return value
  if (value === null || value instanceof Undefined) return false
  if (isNumber(value)) return numberOf(value) !== 0
  if (value instanceof Dict) return value.size > 0
  if (value instanceof Markup) return value.text !== ''
  if (value instanceof Range) return value.length > 0
  return typeof value === 'string' || Array.isArray(value) ? value.length > 0 : true
}

/** The elements of an iterable value. The list may be the value itself and must not be changed. */
function items(value) {
  if (Array.isArray(value)) return value
  if (isText(value)) return charactersIn(stringIn(value))
  if (value instanceof Dict) return value.keys()
  if (value instanceof Range) return value.list()
  if (value instanceof Generator) return listOf(value)
  if (value instanceof Undefined) return []
  throw new TemplateError(`${kind(value)} has no elements`)
}

/** The elements of a generator. Each is charged when it is computed. */
function listOf(iterable) {
  const list = []
  for (const item of iterable) {
    spend(2)
    allocate(16)
    list.push(item)
  }
  return list
}

/** Iterates over the elements, and computes those of a generator one by one. */
function* iterate(value) {
  for (const item of value instanceof Generator ? value : items(value)) {
    spend(3)
    yield item
  }
}

/** The code points of a string, as strings. */
function characters(text) {
  walk(text.length)
  allocate(24 * text.length)
  return Array.from(text)
}

/** The code points of a string, as strings with their origins. */
function charactersIn(string) {
  const points = characters(bare(string))
  if (typeof string === 'string') return points
  let at = 0
  return points.map((point) => {
    at += point.length
    return cut(string, at - point.length, at)
  })
}

/** Whether the UTF-16 units of a string differ from its code points. */
function hasSurrogates(text) {
  scan(text.length)
  return /[\ud800-\udfff]/.test(text)
}

/** The number of code points of a string of any origin. */
function textLength(string) {
  const text = bare(string)
  if (!hasSurrogates(text)) return text.length
  walk(text.length)
  let length = text.length
  for (let i = 1; i < text.length; i++) {
    const isPair = (text.charCodeAt(i - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(i) & 0xfc00) === 0xdc00
    if (isPair) length--
  }
  return length
}

function length(value) {
  if (Array.isArray(value) || value instanceof Range) return value.length
  if (value instanceof Dict) return value.size
  if (value instanceof Undefined) return 0
  if (isText(value)) return textLength(seen(value))
  throw new TemplateError(`${kind(value)} has no length`)
}

/** Describes a value for an error message. */
function kind(value) {
  if (value === null) return 'none'
  if (value instanceof Undefined) return 'an undefined value'
  if (typeof value === 'boolean') return 'a boolean'
  if (isNumber(value)) return 'a number'
  if (isText(value)) return 'a string'
  if (value instanceof Tuple) return 'a tuple'
  if (value instanceof Range) return 'a range'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Generator) return 'the result of a filter that is not a list (yet)'
  if (value instanceof Dict) return 'a mapping'
  if (value instanceof Namespace) return 'a namespace'
  return typeof value === 'function' ? 'a function' : 'a loop'
}

module.exports = {
  Dict,
  Float,
  Generator,
  Markup,
  Namespace,
  Range,
  TemplateError,
  Tuple,
  Undefined,
  View,
  characters,
  charactersIn,
  hasSurrogates,
  integer,
  isInteger,
  isNumber,
  isText,
  isTrue,
  items,
  iterate,
  keeping,
  kept,
  keyForm,
  kind,
  length,
  listOf,
  numberOf,
  plain,
  seen,
  stringIn,
  textLength,
  tuple,
}
