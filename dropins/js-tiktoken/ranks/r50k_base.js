'use strict'

module.exports = require('../ranks.js').ranks('r50k_base')
