'use strict'

module.exports = require('../ranks.js').ranks('p50k_base')
