'use strict'

module.exports = require('../internal/encoder-module.js').encoder('r50k_base')
