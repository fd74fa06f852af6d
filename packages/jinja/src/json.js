'use strict'

// Python's json.dumps with the arguments of the filter tojson in transformers.

const { allocateText, checkDepth, spend } = require('./render-cost.js')
const { stringOf } = require('./arguments.js')
const { compare } = require('./compare.js')
const { floatText, integerText } = require('./print.js')
const { INPUT, TEMPLATE, computed, joined } = require('./origins.js')
const text = require('./traced.js')
const { Dict, Float, TemplateError, View, isInteger, isText, items, kind, stringIn } = require('./values.js')

const ESCAPES = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['"', '\\"'],
  ['\\', '\\\\'],
])
const escaped = ([unit]) => ESCAPES.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
const SPECIAL_NUMBERS = { nan: 'NaN', inf: 'Infinity', '-inf': '-Infinity' }

/** `indent` is a number of spaces, a string or null; `separators` is a pair or null. */
function toJson(value, { ensureAscii, indent, separators, sortKeys }) {
  spend(20)
  const writer = new Writer(ensureAscii, indent, separators, sortKeys)
  writer.write(value, 0)
  return joined(writer.parts)
}

class Writer {
  parts = []
  #step
  #between
  #colon
  #pattern
  #sortKeys
  /** The origin of the text of numbers. */
  #origin = INPUT

  constructor(ensureAscii, indent, separators, sortKeys) {
    this.#step = indent === null ? null : isText(indent) ? stringIn(indent) : text.repeat(' ', indentOf(indent))
    const [between, colon] =
      separators === null ? [indent === null ? ', ' : ',', ': '] : items(separators).map(stringOf)
    this.#between = between
    this.#colon = colon
    this.#pattern = ensureAscii ? /["\\]|[^ -~]/g : /["\\\x00-\x1f]/g
    this.#sortKeys = sortKeys
  }

  #add(part) {
    spend(2)
    allocateText(part.length)
    this.parts.push(part)
  }

  #addNumber(written) {
    this.#add(computed(written, this.#origin))
  }

  write(item, depth) {
    checkDepth(depth, 'values')
    spend(1)
    if (item === null) this.#addNumber('null')
    else if (typeof item === 'boolean') this.#addNumber(String(item))
    else if (isInteger(item)) this.#addNumber(integerText(item))
    else if (item instanceof Float) this.#addNumber(numberText(item))
    else if (isText(item)) this.#quote(stringIn(item))
    else if (Array.isArray(item) && !(item instanceof View)) this.#list(item, depth)
    else if (item instanceof Dict) this.#dict(item, depth)
    else throw new TemplateError(`${kind(item)} cannot be written as JSON`)
  }

  #quote(string) {
    this.#add('"')
    this.#add(text.substitute(string, this.#pattern, escaped))
    this.#add('"')
  }

  #list(list, depth) {
    this.#add('[')
    list.forEach((item, i) => {
      this.#separate(i, depth + 1)
      this.write(item, depth + 1)
    })
    this.#close(list.length, ']', depth)
  }

  #dict(dict, depth) {
    const outer = this.#origin
    if (dict.origin !== TEMPLATE) this.#origin = dict.origin
    this.#add('{')
    const entries = dict.items()
    if (this.#sortKeys) entries.sort(([a], [b]) => compare(a, b))
    entries.forEach(([key, item], i) => {
      this.#separate(i, depth + 1)
      this.#quote(isText(key) ? stringIn(key) : computed(keyText(key), this.#origin))
      this.#add(this.#colon)
      this.write(item, depth + 1)
    })
    this.#close(entries.length, '}', depth)
    this.#origin = outer
  }

  /** Writes what comes before the element with this number. */
  #separate(number, depth) {
    if (number > 0) this.#add(this.#between)
    this.#line(depth)
  }

  #close(length, bracket, depth) {
    if (length > 0) this.#line(depth)
    this.#add(bracket)
  }

  #line(depth) {
    if (this.#step === null) return
    this.#add('\n')
    this.#add(text.repeat(this.#step, depth))
  }
}

function indentOf(value) {
  if (!isInteger(value) && typeof value !== 'boolean')
    throw new TemplateError(`an indent is an integer or a string, not ${kind(value)}`)
  return Number(value)
}

function numberText(item) {
  const written = floatText(item.value)
  return SPECIAL_NUMBERS[written] ?? written
}

function keyText(key) {
  if (key === null) return 'null'
  if (typeof key === 'boolean') return String(key)
  if (isInteger(key)) return integerText(key)
  if (key instanceof Float) return numberText(key)
  throw new TemplateError(`${kind(key)} cannot be a key in JSON`)
}

module.exports = { toJson }
