'use strict'

// The API of the npm package js-tiktoken 1.0, implemented with tokenlane.

const { error } = require('tokenlane/internal/dropins/errors.js')
const { Tiktoken, getEncodingNameForModel } = require('./lite.js')
const { ranks } = require('./internal/bundled-ranks.js')

const ENCODINGS = ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base']

function getEncoding(encoding, extendSpecialTokens) {
  if (!ENCODINGS.includes(encoding)) throw error('UNKNOWN_ENCODING', 'Unknown encoding')
  return new Tiktoken(ranks(encoding), extendSpecialTokens)
}

function encodingForModel(model, extendSpecialTokens) {
  return getEncoding(getEncodingNameForModel(model), extendSpecialTokens)
}

exports.getEncoding = getEncoding
exports.encodingForModel = encodingForModel
exports.getEncodingNameForModel = getEncodingNameForModel
exports.Tiktoken = Tiktoken
