'use strict'

module.exports = require('../bundled-ranks.js').ranks('r50k_base')
