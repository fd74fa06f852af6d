'use strict'

// Python's json.dumps with the arguments of the filter tojson in transformers.

const { allocateText, checkDepth, spend } = require('./budget.js')
const { textOf } = require('./arguments.js')
const { compare } = require('./compare.js')
const { floatText, integerText } = require('./print.js')
const text = require('./text.js')
const { Dict, Float, TemplateError, View, isInteger, isText, items, kind, plain } = require('./values.js')

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
  return writer.parts.join('')
}

class Writer {
  parts = []
  #step
  #between
  #colon
  #pattern
  #sortKeys

  constructor(ensureAscii, indent, separators, sortKeys) {
    this.#step = indent === null ? null : isText(indent) ? plain(indent) : text.repeat(' ', indentOf(indent))
    const [between, colon] = separators === null ? [indent === null ? ', ' : ',', ': '] : items(separators).map(textOf)
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

  write(item, depth) {
    checkDepth(depth, 'values')
    spend(1)
    if (item === null) this.#add('null')
    else if (typeof item === 'boolean') this.#add(String(item))
    else if (isInteger(item)) this.#add(integerText(item))
    else if (item instanceof Float) this.#add(numberText(item))
    else if (isText(item)) this.#quote(plain(item))
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
    this.#add('{')
    const entries = dict.items()
    if (this.#sortKeys) entries.sort(([a], [b]) => compare(a, b))
    entries.forEach(([key, item], i) => {
      this.#separate(i, depth + 1)
      this.#quote(keyText(key))
      this.#add(this.#colon)
      this.write(item, depth + 1)
    })
    this.#close(entries.length, '}', depth)
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
  if (isText(key)) return plain(key)
  if (key === null) return 'null'
  if (typeof key === 'boolean') return String(key)
  if (isInteger(key)) return integerText(key)
  if (key instanceof Float) return numberText(key)
  throw new TemplateError(`${kind(key)} cannot be a key in JSON`)
}

module.exports = { toJson }
