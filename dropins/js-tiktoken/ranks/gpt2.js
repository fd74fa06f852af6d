'use strict'

module.exports = require('../ranks.js').ranks('gpt2')
