'use strict'

module.exports = require('../internal/encoder-module.js').encoder('o200k_base')
