'use strict'

module.exports = require('../internal/encoder.js').encoder('cl100k_base')
