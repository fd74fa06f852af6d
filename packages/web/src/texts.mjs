// Texts of callers: checks with the errors of the addon (src/text.rs), and slices of batches in the
// form of crates/web/src/inputs.rs.

import { errors, realm } from 'tokenlane/internal/base.js'
import { aligned, checkAllocation } from './addresses.mjs'

const { allocated, isTokenlaneError, typeError } = errors
const { hasPlainBuffer, isArray, isUint8Array, isUint32Array } = realm

const STRING_OR_BYTES = 'a string or a Uint8Array of UTF-8'
/** A text that is not split into words. */
const WHOLE = 0xffff_ffff

/** The kind of a value, named as in error messages of the addon. */
function describe(value) {
  if (value === undefined || value === null) return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const wrongType = (name, expected, value) =>
  typeError('ERR_TOKENLANE_ARGUMENT_TYPE', `${name} must be ${expected}, but it is ${describe(value)}`)

/** Whether the memory of a typed array can be read; throws if not. */
function checkBuffer(name, array) {
  if (hasPlainBuffer(array) || isEmptyOf(array)) return array
  const { buffer } = array
  const isShared = typeof SharedArrayBuffer === 'function' && buffer instanceof SharedArrayBuffer
  const why = isShared
    ? 'is shared with other threads; copy it first'
    : buffer.resizable
      ? 'is resizable; copy it first'
      : 'was detached: it was transferred or disposed of'
  throw typeError('ERR_TOKENLANE_BUFFER', `the buffer of ${name} ${why}`)
}

/** Whether an array is empty, and its buffer not detached, resizable or shared. */
function isEmptyOf({ buffer }) {
  if (buffer.byteLength > 0 || buffer.resizable || Object.prototype.toString.call(buffer) !== '[object ArrayBuffer]')
    return false
  try {
    new Uint8Array(buffer)
    return true
  } catch {
    return false
  }
}

/** Checks a text. Returns it. */
export function checkText(name, text) {
  if (typeof text === 'string') return text
  if (!isUint8Array(text)) throw wrongType(name, STRING_OR_BYTES, text)
  return checkBuffer(name, text)
}

export function checkBytes(name, bytes) {
  if (!isUint8Array(bytes)) throw wrongType(name, 'a Uint8Array', bytes)
  return checkBuffer(name, bytes)
}

export function checkIds(name, ids) {
  if (!isUint32Array(ids)) throw wrongType(name, 'a Uint32Array', ids)
  return checkBuffer(name, ids)
}

/** A text that a later change by the caller does not change. */
function copied(text) {
  if (typeof text === 'string') return text
  checkAllocation(text.length)
  return allocated(() => text.slice())
}

export const copyIds = (name, ids) => allocated(() => checkIds(name, ids).slice())

/**
 * Checks elements of an array, which are texts or arrays of words, and appends copies of them to
 * the rows of the argument `name`. Returns the index after the last one copied.
 */
export function copyRows(name, words, { array, from, to }, rows, mayContinue) {
  if (!isArray(array)) {
    throw wrongType(name, words ? 'an array of arrays of words' : 'an array of strings or Uint8Arrays', array)
  }
  let index = from
  while (index < Math.min(to, array.length)) {
    const row = rows.length
    try {
      rows.push(words ? copyWords(`${name}[${row}]`, array[index]) : copied(checkText(`${name}[${row}]`, array[index])))
    } catch (failure) {
      if (isTokenlaneError(failure)) failure.row = row
      throw failure
    }
    index++
    if (!mayContinue(index)) return index
  }
  return to
}

export function copyWords(name, array) {
  if (!isArray(array)) throw wrongType(name, 'an array of strings or Uint8Arrays', array)
  const words = []
  for (let index = 0; index < array.length; index++) words.push(copied(checkText(`${name}[${index}]`, array[index])))
  return words
}

const sizeOf = (text) => (typeof text === 'string' ? 3 * text.length : text.length)

/** Sequences, which are texts or arrays of words, as bytes end to end and a table. */
export class Rows {
  table = []
  #texts = []
  #bytes = 0
  /** Writes texts of this many bytes at most; a text that is longer is a slice of its own. */
  get bytes() {
    return this.#bytes
  }

  add(sequence) {
    if (isArray(sequence)) {
      this.table.push(sequence.length)
      for (const word of sequence) this.#add(word)
    } else {
      this.table.push(WHOLE)
      this.#add(sequence)
    }
  }

  #add(text) {
    this.#texts.push(text)
    // The index of the end, until the text is written.
    this.table.push(0)
    this.#bytes += sizeOf(text)
  }

  /** Writes the texts and the table. Returns the number of bytes of the texts. */
  write(instance) {
    const { memory } = instance
    const at = instance.input(aligned(this.#bytes) + 4 * this.table.length)
    let length = 0
    let index = 0
    let left = 0
    for (const text of this.#texts) {
      while (left === 0) {
        const count = this.table[index++]
        left = count === WHOLE ? 1 : count
      }
      if (typeof text === 'string') length += memory.writeString(text, at + length)
      else {
        memory.write(text, at + length)
        length += text.length
      }
      this.table[index++] = length
      left--
    }
    memory.writeWords(this.table, at + aligned(length))
    return length
  }

  /** The number of bytes before the options. */
  before(length) {
    return aligned(length) + 4 * this.table.length
  }
}
