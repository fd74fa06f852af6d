'use strict'

module.exports = require('../internal/encoder.js').encoder('p50k_base')
