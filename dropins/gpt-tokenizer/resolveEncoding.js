'use strict'

// In gpt-tokenizer these give an encoding's ranks, to be handed to GptEncoding. Here the name is all that it needs.

const { error } = require('../errors.js')
const { encodingNames } = require('./mapping.js')

function resolveEncoding(name) {
  if (!encodingNames.includes(name)) throw error('UNKNOWN_ENCODING', `Unknown encoding name: ${String(name)}`)
  return name
}

exports.resolveEncoding = resolveEncoding
exports.resolveEncodingAsync = async (name) => resolveEncoding(name)
