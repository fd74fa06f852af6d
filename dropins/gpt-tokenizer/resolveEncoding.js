'use strict'

// In gpt-tokenizer these functions return the ranks that GptEncoding.getEncodingApi needs. The
// drop-in needs only the name, so they check it and return it.

const { error } = require('../errors.js')
const { encodingNames } = require('./mapping.js')

function resolveEncoding(name) {
  if (!encodingNames.includes(name)) throw error('UNKNOWN_ENCODING', `Unknown encoding name: ${String(name)}`)
  return name
}

exports.resolveEncoding = resolveEncoding
exports.resolveEncodingAsync = async (name) => resolveEncoding(name)
