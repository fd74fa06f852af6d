'use strict'

const { error } = require('tokenlane/internal/dropins/errors.js')
const { rawRanks } = require('./internal/ranks.js')
const { encodingNames } = require('./mapping.js')

exports.resolveEncoding = (encoding) => {
  if (encodingNames.includes(encoding)) return rawRanks(encoding)
  throw error('UNKNOWN_ENCODING', `Unknown encoding name: ${typeof encoding === 'string' ? encoding : typeof encoding}`)
}
