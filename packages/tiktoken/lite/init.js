'use strict'

const { Tiktoken, init } = require('../init.js')

exports.init = init
exports.Tiktoken = Tiktoken
