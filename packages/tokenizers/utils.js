'use strict'

const { primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')

/**
 * Code points `beginIndex` to `endIndex` (exclusive) of a text; negative indices count from its
 * end.
 */
function slice(s, beginIndex, endIndex) {
  if (typeof s !== 'string') throw typeError('s must be a string')
  const characters = Array.from(s)
  for (const index of [beginIndex, endIndex]) primitive(index, 'an index')
  const place = (index) => (index < 0 ? characters.length + index : index)
  const [begin, end] = [place(beginIndex ?? 0), place(endIndex ?? characters.length)]
  if (begin < 0 || begin >= Math.max(1, characters.length) || end > characters.length || begin >= end) {
    throw error('ARGUMENT_VALUE', 'Error in offsets')
  }
  return characters.slice(begin, end).join('')
}

module.exports = { slice }
