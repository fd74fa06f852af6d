'use strict'

module.exports = require('../internal/bundled-ranks.js').ranks('cl100k_base')
