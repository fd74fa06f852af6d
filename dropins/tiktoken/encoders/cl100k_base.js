'use strict'

module.exports = require('../internal/encoder-module.js').encoder('cl100k_base')
