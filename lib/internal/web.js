'use strict'

// What @tokenlane/web bundles of this package, over a module of WebAssembly in place of the addon.

exports.Batch = require('../batch.js').Batch
exports.Encoding = require('../encoding.js').Encoding
exports.limits = require('../limits.js').limits
exports.encodingForModel = require('../models.js').encodingForModel
exports.KNOWN = require('../options.js').KNOWN
exports.checkKnown = require('../options.js').checkKnown
exports.queue = require('../queue.js').queue
exports.DecodeStream = require('../stream.js').DecodeStream
exports.Tokenizer = require('../tokenizer.js').Tokenizer
exports.encodings = require('../tokenizer.js').encodings
