'use strict'

module.exports = require('./encoding/o200k_base.js')
