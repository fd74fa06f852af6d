'use strict'

// The operators ==, < and `in` of Python.

const { checkDepth, scan, spend, walk } = require('./render-cost.js')
const { find } = require('./search.js')
const {
  Dict,
  Float,
  Range,
  TemplateError,
  Undefined,
  View,
  isNumber,
  isText,
  iterate,
  keyForm,
  kind,
  numberOf,
  seen,
} = require('./values.js')

/** Characters of two strings that are compared before the next chunk is charged. */
const CHARGED_CHARACTERS = 1024

function equals(a, b, depth = 0) {
  spend(1)
  if (isText(a) && isText(b)) return sameText(seen(a), seen(b))
  if (isNumber(a) && isNumber(b)) return sameNumber(a, b)
  if (Array.isArray(a) && Array.isArray(b)) {
    checkDepth(depth, 'lists')
    return sameSort(a, b) && a.length === b.length && a.every((item, i) => same(item, b[i], depth + 1))
  }
  if (a instanceof Dict && b instanceof Dict) {
    checkDepth(depth, 'mappings')
    if (a.size !== b.size) return false
    for (const [key, item] of a.entries()) {
      const other = b.get(key)
      if (other === undefined || !same(item, other, depth + 1)) return false
    }
    return true
  }
  if (a instanceof Range && b instanceof Range) return sameRange(a, b)
  return a instanceof Undefined ? b instanceof Undefined : a === b
}

/** Ranges are equal if they have the same integers. */
const sameRange = (a, b) => a.length === b.length && a.at(0) === b.at(0) && a.at(-1) === b.at(-1)

/**
 * Compares elements of lists and mappings as Python does: identical values are equal, even `nan`.
 */
function same(a, b, depth) {
  spend(1)
  return (a === b && typeof a !== 'string') || equals(a, b, depth)
}

function sameText(a, b) {
  if (a.length !== b.length) return false
  scan(a.length)
  return a === b
}

/** Lists are only equal to lists, tuples to tuples, and so on. */
const sameSort = (a, b) => a.constructor === b.constructor

function sameNumber(a, b) {
  if (typeof a !== 'bigint' && typeof b !== 'bigint') return numberOf(a) === numberOf(b)
  // JavaScript compares bigints with numbers by their exact values.
  // biome-ignore lint/suspicious/noDoubleEquals: `===` is false for a bigint and a number.
  return exact(a) == exact(b)
}

const exact = (value) => (value instanceof Float ? value.value : typeof value === 'boolean' ? Number(value) : value)

/**
 * Returns a negative number, zero or a positive number for values that Python can order, NaN if one
 * of them is NaN.
 */
function compare(a, b, depth = 0) {
  spend(2)
  if (isNumber(a) && isNumber(b)) {
    const [x, y] = [exact(a), exact(b)]
    return x < y ? -1 : x > y ? 1 : sameNumber(a, b) ? 0 : NaN
  }
  if (isText(a) && isText(b)) return compareText(seen(a), seen(b))
  if (Array.isArray(a) && Array.isArray(b) && sameSort(a, b)) {
    // `same` throws for lists that are nested too deeply.
    const length = Math.min(a.length, b.length)
    for (let i = 0; i < length; i++) if (!same(a[i], b[i], depth + 1)) return compare(a[i], b[i], depth + 1)
    return a.length - b.length
  }
  for (const value of [a, b]) if (value instanceof Undefined) value.refuse()
  throw new TemplateError(`${kind(a)} and ${kind(b)} have no order`)
}

/**
 * Compares by code points. In UTF-16 order, code points past U+FFFF come before some of the others.
 */
function compareText(a, b) {
  const length = Math.min(a.length, b.length)
  for (let start = 0; start < length; start += CHARGED_CHARACTERS) {
    const end = Math.min(start + CHARGED_CHARACTERS, length)
    walk(end - start)
    for (let i = start; i < end; i++) {
      const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
      if (x !== y) return x >= 0xd800 && y >= 0xd800 ? ((x + 0x2000) & 0xffff) - ((y + 0x2000) & 0xffff) : x - y
    }
  }
  return a.length - b.length
}

function contains(container, value) {
  if (isText(container)) {
    if (isText(value)) return find(seen(container), seen(value)) >= 0
    throw new TemplateError(`a string cannot contain ${kind(value)}`)
  }
  if (container instanceof Dict) return container.has(value)
  // Keys are looked up, so lists and mappings are refused.
  if (container instanceof View && container.name === 'dict_keys') keyForm(value)
  if (container instanceof Range && isNumber(value)) return container.has(numberOf(value))
  for (const item of iterate(container)) if (same(item, value, 0)) return true
  return false
}

module.exports = { compare, contains, equals, same }
