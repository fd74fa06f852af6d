'use strict'

const { Batch } = require('./lib/batch.js')
const { Encoding } = require('./lib/encoding.js')
const { Tokenizer, encodings } = require('./lib/tokenizer.js')

exports.Tokenizer = Tokenizer
exports.Batch = Batch
exports.Encoding = Encoding
exports.encodings = encodings
