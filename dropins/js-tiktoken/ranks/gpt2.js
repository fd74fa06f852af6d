'use strict'

module.exports = require('../bundled-ranks.js').ranks('gpt2')
