'use strict'

// The original needs `init` to instantiate its WebAssembly, and its calls throw before that. The
// drop-in has no WebAssembly: it keeps this behaviour, but never calls the callback of `init`.

const { error } = require('tokenlane/internal/dropins/errors.js')
const tiktoken = require('./index.js')

let isInitialized = false

function check() {
  if (!isInitialized) throw error('NOT_INITIALIZED', 'tiktoken: WASM binary has not been propery initialized.')
}

// biome-ignore lint/correctness/noUnusedFunctionParameters: as in the original, one argument.
exports.init = async (callback) => {
  isInitialized = true
  return exports
}

exports.get_encoding = (encoding, extend_special_tokens) => {
  check()
  return tiktoken.get_encoding(encoding, extend_special_tokens)
}

exports.encoding_for_model = (model, extend_special_tokens) => {
  check()
  return tiktoken.encoding_for_model(model, extend_special_tokens)
}

exports.get_encoding_name_for_model = (model) => {
  check()
  return tiktoken.get_encoding_name_for_model(model)
}

exports.Tiktoken = new Proxy(tiktoken.Tiktoken, {
  construct(target, args, as) {
    check()
    return Reflect.construct(target, args, as)
  },
})
