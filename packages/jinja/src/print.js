'use strict'

// Python's str() and repr() for all template values.

const { allocateText, checkDepth, spend } = require('./render-cost.js')
const { INPUT, TEMPLATE, bare, computed, joined } = require('./origins.js')
const text = require('./traced.js')
const values = require('./values.js')

/** Maximum number of decimal digits of an integer that is printed or parsed, as in Python. */
const MAX_DIGITS = 4300
const STEPS_PER_BIG_INTEGER = 5000

/** The text that `{{ value }}` prints. */
function str(value) {
  if (values.isText(value)) return values.stringIn(value)
  return value instanceof values.Undefined ? '' : repr(value)
}

/** Returns Markup unchanged, and any other value as a string. */
const softText = (value) => (value instanceof values.Markup ? value : str(value))

function repr(value) {
  spend(10)
  const printer = new Printer()
  printer.write(value, 0)
  return joined(printer.parts)
}

class Printer {
  parts = []
  /** The origin of the text of numbers. */
  #origin = INPUT
  /** The namespaces that are being printed. They can contain themselves. */
  #open = new Set()

  #add(text) {
    spend(2)
    allocateText(text.length)
    this.parts.push(text)
  }

  #addNumber(text) {
    this.#add(computed(text, this.#origin))
  }

  write(value, depth) {
    checkDepth(depth, 'values')
    spend(1)
    if (value === null) this.#addNumber('None')
    else if (typeof value === 'boolean') this.#addNumber(value ? 'True' : 'False')
    else if (values.isInteger(value)) this.#addNumber(integerText(value))
    else if (value instanceof values.Float) this.#addNumber(floatText(value.value))
    else if (value instanceof values.Markup) this.#wrap('Markup(', [value.text], ')', depth)
    else if (values.isText(value)) this.#add(quoted(value))
    else if (value instanceof values.Undefined) this.#add('Undefined')
    else if (value instanceof values.Tuple) this.#wrap('(', value, value.length === 1 ? ',)' : ')', depth)
    else if (value instanceof values.Range) this.#addNumber(rangeText(value))
    else if (value instanceof values.View) this.#wrap(`${value.name}([`, value, '])', depth)
    else if (Array.isArray(value)) this.#wrap('[', value, ']', depth)
    else if (value instanceof values.Dict) this.#dict(value, depth)
    else if (value instanceof values.Namespace) this.#namespace(value, depth)
    // Macros and loops have a text of their own; the text of other functions is an address.
    else if (typeof value.printed === 'string') this.#add(value.printed)
    else throw new values.TemplateError(`${values.kind(value)} cannot be printed`)
  }

  #wrap(open, items, close, depth) {
    this.#add(open)
    let first = true
    for (const item of items) {
      if (!first) this.#add(', ')
      first = false
      this.write(item, depth + 1)
    }
    this.#add(close)
  }

  #dict(dict, depth) {
    const outer = this.#origin
    if (dict.origin !== TEMPLATE) this.#origin = dict.origin
    this.#add('{')
    let first = true
    for (const [key, item] of dict.entries()) {
      if (!first) this.#add(', ')
      first = false
      this.write(key, depth + 1)
      this.#add(': ')
      this.write(item, depth + 1)
    }
    this.#add('}')
    this.#origin = outer
  }

  #namespace(namespace, depth) {
    this.#add('<Namespace ')
    if (this.#open.has(namespace)) this.#add('{...}')
    else {
      this.#open.add(namespace)
      this.#dict(namespace.attributes, depth)
      this.#open.delete(namespace)
    }
    this.#add('>')
  }
}

const rangeText = ({ start, stop, step }) =>
  step === 1 ? `range(${start}, ${stop})` : `range(${start}, ${stop}, ${step})`

/** The decimal digits of an integer. Its size is bounded (see numbers.js). */
function integerText(value) {
  if (typeof value === 'number') return String(value)
  spend(STEPS_PER_BIG_INTEGER)
  const digits = String(value)
  if (digits.replace('-', '').length > MAX_DIGITS)
    throw new values.TemplateError(`an integer of more than ${MAX_DIGITS} digits cannot be printed`)
  return digits
}

/** The shortest digits that identify this number, with an exponent where Python writes one. */
function floatText(value) {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [mantissa, power] = Math.abs(value).toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  const digits = mantissa.replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

const SHORT_ESCAPES = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\\', '\\\\'],
])

// The characters that are escaped in a string, by its quote.
const NOT_PRINTABLE = { "'": /(?! )[\p{C}\p{Z}\\']/gu, '"': /(?! )[\p{C}\p{Z}\\"]/gu }
const NOT_ASCII = { "'": /[^ -~]|[\\']/gu, '"': /[^ -~]|[\\"]/gu }

/** The escape of a character in Python's repr: \x1b, \u200b, \U0001f600. */
function hexEscape(code) {
  const [letter, width] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8]
  return `\\${letter}${code.toString(16).padStart(width, '0')}`
}

/** A string in quotes, with escapes for characters that are not printable. */
function quoted(string, isAscii = false) {
  const whole = bare(string)
  const quote = whole.includes("'") && !whole.includes('"') ? '"' : "'"
  const body = text.substitute(string, (isAscii ? NOT_ASCII : NOT_PRINTABLE)[quote], ([character]) => {
    if (character === quote) return `\\${quote}`
    return SHORT_ESCAPES.get(character) ?? hexEscape(character.codePointAt(0))
  })
  allocateText(body.length)
  return joined([quote, body, quote])
}

module.exports = { MAX_DIGITS, floatText, hexEscape, integerText, quoted, repr, softText, str }
