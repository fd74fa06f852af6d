'use strict'

module.exports = require('../ranks.js').ranks('o200k_base')
