'use strict'

exports.load = require('../load.js').load
