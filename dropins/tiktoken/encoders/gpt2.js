'use strict'

module.exports = require('../internal/encoder-module.js').encoder('gpt2')
