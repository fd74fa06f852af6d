'use strict'

exports.Tiktoken = require('./index.js').Tiktoken
