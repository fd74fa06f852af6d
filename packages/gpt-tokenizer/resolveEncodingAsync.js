'use strict'

const { resolveEncoding } = require('./resolveEncoding.js')

exports.resolveEncodingAsync = async (encoding) => resolveEncoding(encoding)
