'use strict'

// What an entry of the package gives: the encoding itself, whose methods are its named exports, with the constants beside.

const constants = require('./constants.js')
const { GptEncoding } = require('./GptEncoding.js')
const specialTokens = require('./special-tokens.js')

function entry(api) {
  const beside = { ...constants, ...specialTokens, default: api, __esModule: true }
  for (const [name, value] of Object.entries(beside)) Object.defineProperty(api, name, { value, writable: true })
  return api
}

const encoding = (name) => entry(GptEncoding.getEncodingApi(name))
const model = (name) => entry(GptEncoding.getEncodingApiForModel(name))

module.exports = { encoding, model }
