'use strict'

const { Batch } = require('./lib/batch.js')
const { Encoding } = require('./lib/encoding.js')
const { memory } = require('./lib/memory.js')
const { DecodeStream } = require('./lib/stream.js')
const { isTokenlaneError } = require('./lib/errors.js')
const { limits } = require('./lib/limits.js')
const { queue } = require('./lib/queue.js')
const { Tokenizer, encodings } = require('./lib/tokenizer.js')

exports.Tokenizer = Tokenizer
exports.Batch = Batch
exports.Encoding = Encoding
exports.DecodeStream = DecodeStream
// Loaded on first use.
exports.encodingForModel = (name) => require('./lib/models.js').encodingForModel(name)
exports.encodings = encodings
exports.isTokenlaneError = isTokenlaneError
exports.limits = limits
exports.memory = memory
exports.queue = queue
