'use strict'

module.exports = require('../bundled-ranks.js').ranks('o200k_base')
