'use strict'

// The values that a template works with, as Python has them: what they are in JS, and how they print, compare and count as true.
//
//   None null · bool boolean · int number (a safe integer) or bigint · float Float · str string · list Array · tuple Tuple ·
//   dict Map · what its keys(), values() and items() give View · what is gone through once Generator · a function a function of
//   (args, kwargs) · jinja2's Undefined, Namespace and loop a class of their own

/** What goes wrong in a template. */
class TemplateError extends Error {}

class Float {
  constructor(value) {
    this.value = value
  }
}

class Tuple extends Array {
  static get [Symbol.species]() {
    return Array
  }
}

/** Like a list, but without places. */
class View extends Array {
  static get [Symbol.species]() {
    return Array
  }
}

/** Elements that can be taken once: what filters such as map give. It counts as true even where there is none. */
class Generator {
  #list

  constructor(list) {
    this.#list = list
  }

  all() {
    return this.#list.splice(0)
  }

  next() {
    return this.#list.shift()
  }
}

/** What is not there. It prints as nothing, has no elements, and refuses everything else. */
class Undefined {
  constructor(what) {
    this.what = what
  }

  refuse() {
    throw new TemplateError(this.what)
  }
}

/** Attributes that a template can set. */
class Namespace {
  constructor(attributes) {
    this.attributes = attributes
  }
}

const tuple = (...items) => Tuple.from(items)
const view = (name, items) => Object.assign(View.from(items), { name })
const isInteger = (value) => typeof value === 'number' || typeof value === 'bigint'
const isNumber = (value) => isInteger(value) || value instanceof Float || typeof value === 'boolean'

/** An integer in the form that it has everywhere else. */
function integer(value) {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : BigInt(value)
}

/** The JS number of a number. */
const numberOf = (value) => (value instanceof Float ? value.value : Number(value))

const MOST_DEPTH = 200

/** A value of the caller's. What JSON does not know becomes the name of its kind, so that a template learns nothing of it. */
function fromJs(value, depth = 0) {
  if (depth > MOST_DEPTH) throw new TemplateError('the messages or variables go deeper than 200 levels, or hold themselves')
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? value : new Float(value)
    case 'bigint':
      return integer(value)
    case 'undefined':
      return null
    case 'object':
      break
    default:
      return `<${typeof value}>`
  }
  if (value === null) return null
  if (Array.isArray(value)) return Array.from(value, (item) => fromJs(item, depth + 1))
  if (value instanceof Map) return dictOf(value, depth)
  if (typeof value.toJSON === 'function') return fromJs(value.toJSON(), depth + 1)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `<${value.constructor.name}>`
  return dictOf(Object.entries(value), depth)
}

/** As in JSON, what is undefined is not there. */
function dictOf(entries, depth) {
  const dict = new Map()
  for (const [key, value] of entries) if (value !== undefined) dict.set(String(key), fromJs(value, depth + 1))
  return dict
}

/** A value for a function of the caller's. */
function toJs(value) {
  if (value instanceof Float) return value.value
  if (value instanceof Undefined) return undefined
  if (Array.isArray(value)) return Array.from(value, toJs)
  return value instanceof Map ? Object.fromEntries([...value].map(([key, item]) => [str(key), toJs(item)])) : value
}

function isTrue(value) {
  if (value === null || value instanceof Undefined) return false
  if (isNumber(value)) return numberOf(value) !== 0
  if (value instanceof Map) return value.size > 0
  return typeof value === 'string' || Array.isArray(value) ? value.length > 0 : true
}

/** What `{{ value }}` prints. */
function str(value) {
  if (typeof value === 'string') return value
  return value instanceof Undefined ? '' : repr(value)
}

function repr(value) {
  if (value === null) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (isInteger(value)) return String(value)
  if (value instanceof Float) return floatText(value.value)
  if (typeof value === 'string') return quoted(value)
  if (value instanceof Undefined) return 'Undefined'
  if (value instanceof Tuple) return value.length === 1 ? `(${repr(value[0])},)` : `(${value.map(repr).join(', ')})`
  if (value instanceof View) return `${value.name}([${value.map(repr).join(', ')}])`
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(', ')}}`
  throw new TemplateError(`${kind(value)} cannot be printed`)
}

/** The shortest digits that are this number, with an exponent where Python writes one. */
function floatText(value) {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [mantissa, power] = Math.abs(value).toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  const digits = mantissa.replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

const SHORT = new Map([['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t'], ['\\', '\\\\']])

function quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const body = text.replace(/[\p{C}\p{Z}\\'"]/gu, (character) => {
    if (character === ' ' || (character !== quote && /['"]/.test(character))) return character
    if (character === quote) return `\\${quote}`
    if (SHORT.has(character)) return SHORT.get(character)
    const code = character.codePointAt(0)
    const [letter, width] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
    return `\\${letter}${code.toString(16).padStart(width, '0')}`
  })
  return quote + body + quote
}

function equals(a, b) {
  if (isNumber(a) && isNumber(b)) return typeof a === 'bigint' || typeof b === 'bigint' ? sameBig(a, b) : numberOf(a) === numberOf(b)
  if (Array.isArray(a) && Array.isArray(b)) {
    return sameSort(a, b) && a.length === b.length && a.every((item, i) => equals(item, b[i]))
  }
  if (a instanceof Map && b instanceof Map) return a.size === b.size && [...a].every(([key, item]) => b.has(key) && equals(item, b.get(key)))
  return a instanceof Undefined ? b instanceof Undefined : a === b
}

const sameSort = (a, b) => a.constructor === b.constructor

// JS compares integers and other numbers exactly when one of them is a bigint.
const sameBig = (a, b) => (a instanceof Float ? a.value : typeof a === 'boolean' ? Number(a) : a) == (b instanceof Float ? b.value : typeof b === 'boolean' ? Number(b) : b)

/** Less than zero, zero or more, for values that Python can put in order. */
function compare(a, b) {
  if (isNumber(a) && isNumber(b)) return numberOf(a) - numberOf(b)
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (Array.isArray(a) && Array.isArray(b) && sameSort(a, b)) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) if (!equals(a[i], b[i])) return compare(a[i], b[i])
    return a.length - b.length
  }
  for (const value of [a, b]) if (value instanceof Undefined) value.refuse()
  throw new TemplateError(`${kind(a)} and ${kind(b)} have no order`)
}

/** By code points; UTF-16 has those past U+FFFF before some of the others. */
function compareText(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? ((x + 0x2000) & 0xffff) - ((y + 0x2000) & 0xffff) : x - y
  }
  return a.length - b.length
}

/** The elements of what can be gone through. */
function items(value) {
  if (typeof value === 'string' || Array.isArray(value)) return Array.from(value)
  if (value instanceof Map) return [...value.keys()]
  if (value instanceof Generator) return value.all()
  if (value instanceof Undefined) return []
  throw new TemplateError(`${kind(value)} has no elements`)
}

function length(value) {
  if (value instanceof Map) return value.size
  if (value instanceof Undefined) return 0
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)
  throw new TemplateError(`${kind(value)} has no length`)
}

function contains(container, value) {
  if (typeof container === 'string') {
    if (typeof value === 'string') return container.includes(value)
    throw new TemplateError(`a string cannot contain ${kind(value)}`)
  }
  if (container instanceof Map) return container.has(keyed(value))
  return items(container).some((item) => equals(item, value))
}

/** A value that can be a key of a mapping. */
function keyed(value) {
  if (value instanceof Map || (Array.isArray(value) && !(value instanceof Tuple))) throw new TemplateError(`${kind(value)} cannot be a key`)
  return value
}

/** What a value is, in the words of a message. */
function kind(value) {
  if (value === null) return 'none'
  if (value instanceof Undefined) return 'something undefined'
  if (typeof value === 'boolean') return 'a boolean'
  if (isNumber(value)) return 'a number'
  if (typeof value === 'string') return 'a string'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Generator) return 'the result of a filter that is no list (yet)'
  return value instanceof Map ? 'a mapping' : typeof value === 'function' ? 'a function' : 'a namespace or a loop'
}

module.exports = {
  Float,
  Generator,
  Namespace,
  TemplateError,
  Tuple,
  Undefined,
  View,
  compare,
  contains,
  equals,
  floatText,
  fromJs,
  integer,
  isInteger,
  isNumber,
  isTrue,
  items,
  keyed,
  kind,
  length,
  numberOf,
  repr,
  str,
  toJs,
  tuple,
  view,
}
