'use strict'

// Converts values of the caller to template values, and back.

const { isArrayBuffer, isMap, isPlainObject } = require('./realm.js')
const { admit, allocate, allocateList, checkDepth, spend } = require('./render-cost.js')
const { entriesOf } = require('./entries.js')
const { INPUT, TEMPLATE, bare, current, marked, ofMessage } = require('./origins.js')
const { str } = require('./print.js')
const { Dict, Float, Undefined, integer, isText, seen } = require('./values.js')

/**
 * Converts a value of the caller. Values that JSON does not support become the name of their kind,
 * so that a template cannot read them. Strings get an origin if the render has origins.
 */
function fromJs(value, depth = 0, origin = current() === undefined ? TEMPLATE : INPUT) {
  checkDepth(depth, 'messages or variables')
  admit(typeof value === 'string' ? value.length : 0)
  spend(1)
  switch (typeof value) {
    case 'string':
      return marked(value, origin)
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
    return Array.from(value, (item) => fromJs(item, depth + 1, origin))
  }
  // A corpus job knows floats that have no fraction.
  if (value instanceof Float) return value
  const isPlain = isPlainObject(value)
  if (!isPlain && isMap(value)) return dictOf(value, depth, origin)
  if (typeof value.toJSON === 'function') return fromJs(value.toJSON(), depth + 1, origin)
  if (!isPlain && (ArrayBuffer.isView(value) || isArrayBuffer(value))) return `<${value.constructor.name}>`
  return dictOf(entriesOf(value), depth, origin)
}

/** As in JSON, undefined values are left out. */
function dictOf(entries, depth, origin) {
  const dict = new Dict()
  dict.origin = origin
  for (const [key, value] of entries) if (value !== undefined) dict.set(String(key), fromJs(value, depth + 1, origin))
  return dict
}

/**
 * The roles that clients name. With one of them, a role is a choice and not text: templates write
 * it into control tokens, as in `'<|' + message.role + '|>'`.
 */
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function', 'observation', 'ipython', 'model']

/** Converts the messages of a conversation. Their strings know which message they come from. */
function messagesFromJs(messages) {
  if (current() === undefined) return fromJs(messages)
  admit(0)
  spend(1)
  allocateList(messages.length)
  return Array.from(messages, (message, index) => {
    const value = fromJs(message, 1, ofMessage(index))
    if (value instanceof Dict && ROLES.includes(message.role)) value.set('role', message.role)
    current().messages.set(value, index)
    return value
  })
}

/** Converts a value for a function of the caller. */
function toJs(value, depth = 0) {
  checkDepth(depth, 'values')
  spend(1)
  if (value instanceof Float) return value.value
  if (isText(value)) return seen(value)
  if (value instanceof Undefined) return undefined
  if (Array.isArray(value)) {
    allocateList(value.length)
    return Array.from(value, (item) => toJs(item, depth + 1))
  }
  if (!(value instanceof Dict)) return value
  allocate(64 * value.size)
  return Object.fromEntries(Array.from(value.entries(), ([key, item]) => [bare(str(key)), toJs(item, depth + 1)]))
}

module.exports = { fromJs, messagesFromJs, toJs }
