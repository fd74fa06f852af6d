'use strict'

// Token ids as callers have them, as the Uint32Arrays that the addon reads.

const { Batch } = require('./batch.js')
const { error, wrongType } = require('./errors.js')
const { checkId, isId } = require('./options.js')

/** The ids of one text: a Uint32Array as it is, an array of numbers checked and copied. */
function toIds(name, value) {
  if (value instanceof Uint32Array) return value
  if (!Array.isArray(value)) throw wrongType(name, 'a Uint32Array or an array of token ids', value)
  for (let index = 0; index < value.length; index++) {
    const id = value[index]
    // The name is only put together where it is needed.
    if (!isId(id)) checkId(`${name}[${index}]`, id)
  }
  return Uint32Array.from(value)
}

/** The ids of many texts, with the offsets of the rows: a Batch as it is, an array of rows gathered. */
function toRows(value) {
  if (value instanceof Batch) {
    if (value.rowOffsets.length === 0) {
      throw error('ERR_TOKENLANE_DISPOSED', 'the batch was disposed of; there is nothing to decode')
    }
    return { ids: value.ids, rowOffsets: value.rowOffsets }
  }
  if (!Array.isArray(value)) throw wrongType('rows', 'a Batch or an array of rows of token ids', value)
  const rows = Array.from(value, (row, index) => toIds(`rows[${index}]`, row))
  const rowOffsets = new Uint32Array(rows.length + 1)
  rows.forEach((row, index) => (rowOffsets[index + 1] = rowOffsets[index] + row.length))
  const ids = new Uint32Array(rowOffsets[rows.length])
  rows.forEach((row, index) => ids.set(row, rowOffsets[index]))
  return { ids, rowOffsets }
}

module.exports = { toIds, toRows }
