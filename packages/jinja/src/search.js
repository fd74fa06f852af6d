'use strict'

// Searches a string in another one in linear time. The search of the engine can take time
// proportional to the product of both lengths for repetitive texts and needles.

const { allocate, scan, spend, walk } = require('./render-cost.js')

/**
 * Needles up to this length are searched by the engine, which compares each character at most this
 * many times.
 */
const FIRST_UNITS = 8

/**
 * Returns a function (text, from) that finds the first index of `needle` at or after `from`, or -1.
 */
function searcher(needle) {
  if (needle.length <= FIRST_UNITS) return (text, from) => text.indexOf(needle, from)
  const start = needle.slice(0, FIRST_UNITS)
  const borders = bordersOf(needle)
  // Knuth-Morris-Pratt search. While nothing is matched, the engine searches the start of the
  // needle.
  return (text, from) => {
    let matched = 0
    let at = from
    while (at < text.length) {
      if (matched === 0) {
        at = text.indexOf(start, at)
        if (at < 0) return -1
        at += FIRST_UNITS
        matched = FIRST_UNITS
        continue
      }
      while (matched > 0 && text.charCodeAt(at) !== needle.charCodeAt(matched)) matched = borders[matched - 1]
      if (matched === 0) continue
      at++
      if (++matched === needle.length) return at - matched
    }
    return -1
  }
}

/**
 * For each prefix of a needle, the length of its longest border, a proper prefix that is also a
 * suffix.
 */
function bordersOf(needle) {
  walk(needle.length)
  allocate(4 * needle.length)
  const borders = new Int32Array(needle.length)
  for (let i = 1, length = 0; i < needle.length; i++) {
    while (length > 0 && needle.charCodeAt(i) !== needle.charCodeAt(length)) length = borders[length - 1]
    if (needle.charCodeAt(i) === needle.charCodeAt(length)) length++
    borders[i] = length
  }
  return borders
}

/** The first index of `needle` in `text`, or -1. */
function find(text, needle) {
  if (needle.length > text.length) return -1
  scan(4 * text.length)
  return searcher(needle)(text, 0)
}

/** The indices of non-overlapping occurrences of `needle` from the left. `needle` is not empty. */
function* findAll(text, needle) {
  scan(4 * text.length)
  const search = searcher(needle)
  for (let at = search(text, 0); at >= 0; at = search(text, at + needle.length)) {
    spend(2)
    yield at
  }
}

/** The indices of non-overlapping occurrences of `needle` from the right. `needle` is not empty. */
function* findAllLast(text, needle) {
  scan(4 * text.length)
  const search = searcher(needle)
  const places = []
  for (let at = search(text, 0); at >= 0; at = search(text, at + 1)) {
    // The occurrences overlap, and each search compares the needle from its start.
    allocate(16 + needle.length)
    places.push(at)
  }
  let end = text.length
  for (const at of places.reverse()) {
    if (at + needle.length > end) continue
    yield at
    end = at
  }
}

/** The last index of `needle` in `text`, or -1. */
function findLast(text, needle) {
  if (needle === '') return text.length
  const { value } = findAllLast(text, needle).next()
  return value ?? -1
}

module.exports = { find, findAll, findAllLast, findLast }
