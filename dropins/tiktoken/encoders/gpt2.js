'use strict'

module.exports = require('../internal/encoder.js').encoder('gpt2')
