'use strict'

// The original needs `init` to instantiate its WebAssembly, and its calls throw before that. The
// drop-in has no WebAssembly: it keeps this behaviour, but never calls the callback of `init`.

const { error } = require('../errors.js')
const tiktoken = require('./index.js')

let isInitialized = false

function check() {
  if (!isInitialized) throw error('NOT_INITIALIZED', 'tiktoken: WASM binary has not been propery initialized.')
}

const checked =
  (call) =>
  (...args) => {
    check()
    return call(...args)
  }

exports.init = async () => {
  isInitialized = true
  return exports
}
exports.get_encoding = checked(tiktoken.get_encoding)
exports.encoding_for_model = checked(tiktoken.encoding_for_model)
exports.get_encoding_name_for_model = tiktoken.get_encoding_name_for_model
exports.Tiktoken = new Proxy(tiktoken.Tiktoken, {
  construct(target, args, as) {
    check()
    return Reflect.construct(target, args, as)
  },
})
