'use strict'

module.exports = require('../internal/encoder.js').encoder('r50k_base')
