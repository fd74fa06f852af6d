'use strict'

module.exports = require('../internal/encoder.js').encoder('o200k_base')
