'use strict'

// Converts token ids of callers to the Uint32Arrays that the addon reads.

const { allocated, error, wrongType } = require('./errors.js')
const { checkId, isId } = require('./options.js')
const { isArray, isRevoked, isUint32Array } = require('./realm.js')

/** Maximum length of an array. V8 has no longer ones without holes, but a Proxy can have any. */
const MAX_LENGTH = 2 ** 27

/** The length of an array, which is read once: getters of elements can change it. */
function lengthOf(name, { length }) {
  // That of a Proxy can be anything.
  if (!Number.isSafeInteger(length) || length < 0) throw wrongType(`${name}.length`, 'a whole number', length)
  if (length > MAX_LENGTH) throw error('ERR_TOKENLANE_TEXT_TOO_LONG', `${name} has more than ${MAX_LENGTH} elements`)
  return length
}

/** The ids of one text. Returns a Uint32Array unchanged; checks and copies an array of numbers. */
function toIds(name, value) {
  if (isUint32Array(value)) return value
  if (!isArray(value)) {
    const hint = !isRevoked(value) && isUint32Array(value?.ids) ? " (an Encoding has its ids in '.ids')" : ''
    throw wrongType(name, `a Uint32Array or an array of token ids${hint}`, value)
  }
  const length = lengthOf(name, value)
  const ids = allocated(() => new Uint32Array(length))
  for (let index = 0; index < length; index++) {
    const id = value[index]
    // The name is only formatted for an error.
    if (!isId(id)) checkId(`${name}[${index}]`, id)
    ids[index] = id
  }
  return ids
}

/**
 * The ids and row offsets of many texts. Uses a Batch unchanged, also one of another copy of this
 * package; copies an array of rows to one buffer.
 */
function toRows(value) {
  if (isBatch(value)) {
    if (value.rowOffsets.length === 0) {
      throw error('ERR_TOKENLANE_DISPOSED', 'the batch was disposed and has no ids')
    }
    return { ids: value.ids, rowOffsets: value.rowOffsets }
  }
  if (!isArray(value)) throw wrongType('rows', 'a Batch or an array of rows of token ids', value)
  const rows = Array.from({ length: lengthOf('rows', value) }, (_, index) => toIds(`rows[${index}]`, value[index]))
  const rowOffsets = new Uint32Array(rows.length + 1)
  rows.forEach((row, index) => (rowOffsets[index + 1] = rowOffsets[index] + row.length))
  const ids = allocated(() => new Uint32Array(rowOffsets[rows.length]))
  rows.forEach((row, index) => ids.set(row, rowOffsets[index]))
  return { ids, rowOffsets }
}

/** Whether a value has the arrays of a Batch. */
const isBatch = (value) => !isRevoked(value) && isUint32Array(value?.rowOffsets) && isUint32Array(value.ids)

module.exports = { lengthOf, toIds, toRows }
