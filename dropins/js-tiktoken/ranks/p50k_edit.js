'use strict'

module.exports = require('../internal/bundled-ranks.js').ranks('p50k_edit')
