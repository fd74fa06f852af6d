'use strict'

// What @tokenlane/tokenizers needs of this package.

exports.Tokenizer = require('../tokenizer.js').Tokenizer
exports.encodingOfSource = require('../encoding.js').encodingOfSource
exports.byteLevelAlphabet = require('../byte-level.js').byteLevelAlphabet
exports.EMPTY_FILE = require('../model/components.js').EMPTY_FILE
exports.native = require('../native.js')
