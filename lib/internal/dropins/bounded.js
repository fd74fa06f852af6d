'use strict'

// Limits for the iterables of callers. The originals read them to the end, which may never come.

const { MAX_STRING_LENGTH } = require('./bytes.js')
const { isArray } = require('../../realm.js')
const { error, typeError } = require('./errors.js')

/** Maximum number of ids that one call decodes, if they are not in an array. */
const MAX_IDS = 2 ** 26
/** Maximum number of special tokens that one argument names. */
const MAX_NAMES = 2 ** 20

/** Returns a function that is called with the number of further items, and throws after `max`. */
function counter(max, what) {
  let count = 0
  return (more = 1) => {
    count += more
    if (count > max) throw error('TEXT_TOO_LONG', `there are more than ${max} ${what}`)
  }
}

/**
 * Returns the value. An array longer than `max` is refused before it is read: such an array is a
 * Proxy, an array of holes or an object with a length.
 */
function bounded(value, max = MAX_IDS, what = 'elements') {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  const { length } = value
  if (typeof length === 'number' && length > 0) counter(max, what)(length)
  return value
}

/** An array of the caller that is not too long; anything else is refused. */
function boundedArray(value, what = 'the argument') {
  if (!isArray(value)) throw typeError(`${what} must be an array`)
  return bounded(value)
}

const isPrimitive = (value) => !['object', 'function', 'symbol'].includes(typeof value) || value === null

/**
 * A value of the caller that becomes text, a number or a key. What an object becomes can take for
 * ever: an array joins its elements.
 */
function primitive(value, what = 'the argument') {
  if (!isPrimitive(value)) throw typeError(`${what} must be a string or a number`)
  return value
}

/** A value of the caller in a message. */
const named = (value) => (isPrimitive(value) ? String(value) : typeof value)

/** An iterable of the caller; an array is not too long. */
function iterable(value, what = 'the argument') {
  if (typeof (value?.[Symbol.iterator] ?? value?.[Symbol.asyncIterator]) !== 'function')
    throw typeError(`${what} must be an iterable`)
  return bounded(value)
}

/** The items of an iterable as an array. */
function listOf(items, max, what) {
  iterable(items, what)
  bounded(items, max, what)
  if (Array.isArray(items) && items.length <= max) return [...items]
  const count = counter(max, what)
  const list = []
  for (const item of items) {
    count()
    list.push(item)
  }
  return list
}

/** The set of the special tokens that an argument names. */
function namesOf(items) {
  const names = listOf(items, MAX_NAMES, 'special tokens')
  if (names.some((name) => typeof name !== 'string')) throw typeError('special tokens must be strings')
  return new Set(names)
}

/** a + b */
function joined(a, b) {
  if (a.length + b.length > MAX_STRING_LENGTH) throw error('TEXT_TOO_LONG', 'the text is too long for a string')
  return a + b
}

module.exports = { MAX_IDS, bounded, boundedArray, counter, iterable, joined, listOf, named, namesOf, primitive }
