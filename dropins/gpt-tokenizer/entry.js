'use strict'

// The exports of an entry point: a GptEncoding, whose methods are the named exports, extended by
// the constants.

const constants = require('./constants.js')
const { GptEncoding } = require('./GptEncoding.js')
const specialTokens = require('./special-tokens.js')

function entry(api) {
  const more = { ...constants, ...specialTokens, default: api, __esModule: true }
  for (const [name, value] of Object.entries(more)) Object.defineProperty(api, name, { value, writable: true })
  return api
}

const encoding = (name) => entry(GptEncoding.getEncodingApi(name))
const model = (name) => entry(GptEncoding.getEncodingApiForModel(name))

module.exports = { encoding, model }
