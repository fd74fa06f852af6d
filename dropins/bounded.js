'use strict'

// Limits for the iterables of callers. The originals read them to the end, which may never come.

const { MAX_STRING_LENGTH } = require('./bytes.js')
const { isArray } = require('../lib/realm.js')
const { error } = require('./errors.js')

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
 * An array of the caller, or another value, as it is. An array longer than `max`, which only a Proxy
 * and an array of holes are, is refused before it is read.
 */
function bounded(value, max = MAX_IDS, what = 'elements') {
  if (isArray(value)) counter(max, what)(value.length)
  return value
}

/** The items of an iterable as an array. */
function listOf(items, max, what) {
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
const namesOf = (items) => new Set(listOf(items, MAX_NAMES, 'special tokens'))

/** a + b */
function joined(a, b) {
  if (a.length + b.length > MAX_STRING_LENGTH) throw error('TEXT_TOO_LONG', 'the text is too long for a string')
  return a + b
}

module.exports = { MAX_IDS, bounded, counter, joined, listOf, namesOf }
