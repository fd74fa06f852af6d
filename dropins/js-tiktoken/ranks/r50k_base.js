'use strict'

module.exports = require('../internal/bundled-ranks.js').ranks('r50k_base')
