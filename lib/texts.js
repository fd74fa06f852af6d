'use strict'

// The texts of an asynchronous batch. The addon copies them in slices of half a millisecond; the
// event loop runs between two slices. Most batches need one slice.

const { lengthOf } = require('./ids.js')
const { List } = require('./list.js')
const native = require('./native.js')
const { hasPlainBuffer, isArray, isUint8Array } = require('./realm.js')
const { isProxy, nextTurn } = require('./runtime.js')

/** The number of rows in one array of a snapshot. V8 allocates longer arrays slowly. */
const CHUNK_ROWS = 4096

/** The maximum number of rows in a snapshot, which takes a few nanoseconds a row. */
const MAX_SNAPSHOT = 65_536

/** Duration of a slice in milliseconds. The addon measures it too: src/text.rs. */
const SLICE_MS = 0.5

/** The names of the arguments, for errors. */
const LIST_NAMES = ['texts', 'pairs']

/**
 * A copy of a Proxy of an array, which the addon does not recognize as an array: frameworks give
 * their state in that form. Other values are returned unchanged.
 */
function unproxied(name, list) {
  if (!isProxy(list) || !isArray(list)) return list
  const length = lengthOf(name, list)
  return Array.from({ length }, (_, index) => list[index])
}

/** A part of an array. A subclass, or a Proxy, may have another `slice`. */
const { slice } = Array.prototype
const sliceOf = (array, from, to) => Reflect.apply(slice, array, [from, to])

/** Batches whose texts are being copied, the oldest first. Each iteration copies a slice of one. */
const copying = new List()

/**
 * The texts of a batch, and their pairs if there are any, with the place up to which they were
 * copied.
 */
class BatchTexts {
  #words
  /**
   * For each argument its parts, in order: an array, and the range of its elements to copy.
   */
  #lists
  #list = 0
  #part = 0
  #from = 0
  #isSnapshot = false

  /** `lists` are the arguments `texts` and `pairs`; `words`: whether texts are arrays of words. */
  constructor(lists, words) {
    this.#words = words
    const whole = (list, index) => {
      const array = unproxied(LIST_NAMES[index], list)
      return [{ array, from: 0, to: isArray(array) ? array.length : 0 }]
    }
    this.#lists = lists.filter((list, index) => index === 0 || list !== undefined).map(whole)
  }

  /**
   * Copies the arrays from the current place on, and the bytes in them, so that later changes by
   * the caller have no effect. Strings are immutable and need no copy. Of a very long array only
   * the first rows are copied, because copying all would block the event loop for too long.
   */
  snapshot() {
    if (this.#isSnapshot) return
    this.#isSnapshot = true
    const copy = this.#words
      ? (list) => (isArray(list) && !isProxy(list) ? Array.from(list, copyOfBytes) : list)
      : copyOfBytes
    for (let list = this.#list; list < this.#lists.length; list++) {
      const [{ array, to }] = this.#lists[list]
      const from = list === this.#list ? this.#from : 0
      const end = Math.min(to, from + MAX_SNAPSHOT)
      const parts = []
      for (let first = from; first < end; first += CHUNK_ROWS) {
        const rows = sliceOf(array, first, Math.min(first + CHUNK_ROWS, end))
        for (let index = 0; index < rows.length; index++) {
          if (typeof rows[index] !== 'string') rows[index] = copy(rows[index])
        }
        parts.push({ array: rows, from: 0, to: rows.length })
      }
      if (parts.length > 0 && end < to) parts.push({ array, from: end, to })
      // An array without rows stays: the addon creates its list, or refuses what is not an array.
      if (parts.length > 0) this.#lists[list] = parts
    }
    this.#from = this.#lists[this.#list]?.[0].from
  }

  /** Copies texts for one slice. Returns whether all are copied. */
  copySome(queueEntry) {
    const end = performance.now() + SLICE_MS
    for (; this.#list < this.#lists.length; this.#list++, this.#part = 0) {
      const parts = this.#lists[this.#list]
      while (this.#part < parts.length) {
        if (performance.now() > end) return false
        const { array, to } = parts[this.#part]
        this.#from = native.copyTexts(queueEntry, this.#list === 1, this.#words, array, this.#from, to)
        if (this.#from < to) return false
        this.#part++
        this.#from = parts[this.#part]?.from ?? 0
      }
    }
    return true
  }
}

/**
 * Copies the texts of a batch that may start. Returns undefined if one slice was enough, otherwise
 * a promise that resolves when all are copied.
 */
function copyTexts(queueEntry, texts) {
  if (copying.size === 0 && texts.copySome(queueEntry)) return undefined
  texts.snapshot()
  return new Promise((resolve, reject) => {
    copying.push({ queueEntry, texts, resolve, reject })
    if (copying.size === 1) nextTurn(copyNext)
  })
}

function copyNext() {
  const batch = copying.first
  try {
    if (batch.texts.copySome(batch.queueEntry)) {
      copying.remove(batch)
      batch.resolve()
    }
  } catch (error) {
    copying.remove(batch)
    batch.reject(error)
  }
  if (copying.size > 0) nextTurn(copyNext)
}

/**
 * Copies bytes that the addon accepts. Returns other values unchanged, so that the addon refuses
 * them.
 */
function copyOfBytes(bytes) {
  return isUint8Array(bytes) && hasPlainBuffer(bytes) ? new Uint8Array(bytes) : bytes
}

module.exports = { BatchTexts, copyTexts, copyOfBytes, unproxied }
