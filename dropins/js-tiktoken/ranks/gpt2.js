'use strict'

module.exports = require('../internal/bundled-ranks.js').ranks('gpt2')
