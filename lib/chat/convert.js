'use strict'

// Converts values of the caller to template values, and back.

const { isArrayBuffer, isMap, isPlainObject } = require('../realm.js')
const { admit, allocate, allocateList, checkDepth, spend } = require('./budget.js')
const { entriesOf } = require('./entries.js')
const { str } = require('./print.js')
const { Dict, Float, Markup, Undefined, integer } = require('./values.js')

/**
 * Converts a value of the caller. Values that JSON does not support become the name of their kind,
 * so that a template cannot read them.
 */
function fromJs(value, depth = 0) {
  checkDepth(depth, 'messages or variables')
  admit(typeof value === 'string' ? value.length : 0)
  spend(1)
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
  if (Array.isArray(value)) {
    allocateList(value.length)
    return Array.from(value, (item) => fromJs(item, depth + 1))
  }
  const isPlain = isPlainObject(value)
  if (!isPlain && isMap(value)) return dictOf(value, depth)
  if (typeof value.toJSON === 'function') return fromJs(value.toJSON(), depth + 1)
  if (!isPlain && (ArrayBuffer.isView(value) || isArrayBuffer(value))) return `<${value.constructor.name}>`
  return dictOf(entriesOf(value), depth)
}

/** As in JSON, undefined values are left out. */
function dictOf(entries, depth) {
  const dict = new Dict()
  for (const [key, value] of entries) if (value !== undefined) dict.set(String(key), fromJs(value, depth + 1))
  return dict
}

/** Converts a value for a function of the caller. */
function toJs(value, depth = 0) {
  checkDepth(depth, 'values')
  spend(1)
  if (value instanceof Float) return value.value
  if (value instanceof Markup) return value.text
  if (value instanceof Undefined) return undefined
  if (Array.isArray(value)) {
    allocateList(value.length)
    return Array.from(value, (item) => toJs(item, depth + 1))
  }
  if (!(value instanceof Dict)) return value
  allocate(64 * value.size)
  return Object.fromEntries(Array.from(value.entries(), ([key, item]) => [str(key), toJs(item, depth + 1)]))
}

module.exports = { fromJs, toJs }
