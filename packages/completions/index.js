'use strict'

// What a model wrote becomes a message of chat completions, at once or while it is written.

const { CompletionStream, completionStream, formatFor, parseCompletion } = require('./src/stream.js')
const { FORMATS } = require('./src/formats.js')

exports.CompletionStream = CompletionStream
exports.completionStream = completionStream
exports.formatFor = formatFor
exports.formats = Object.freeze([...FORMATS.keys()])
exports.parseCompletion = parseCompletion
