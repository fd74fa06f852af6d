'use strict'

module.exports = require('../bundled-ranks.js').ranks('p50k_base')
