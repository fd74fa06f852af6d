'use strict'

// What @tokenlane/gpt-tokenizer needs of this package.

exports.encodings = require('../models.js').encodings
