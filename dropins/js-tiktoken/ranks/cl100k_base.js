'use strict'

module.exports = require('../bundled-ranks.js').ranks('cl100k_base')
