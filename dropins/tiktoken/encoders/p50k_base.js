'use strict'

module.exports = require('../internal/encoder-module.js').encoder('p50k_base')
