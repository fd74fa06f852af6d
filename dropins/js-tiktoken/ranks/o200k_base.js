'use strict'

module.exports = require('../internal/bundled-ranks.js').ranks('o200k_base')
