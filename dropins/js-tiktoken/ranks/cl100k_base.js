'use strict'

module.exports = require('../ranks.js').ranks('cl100k_base')
