'use strict'

// What a model wrote becomes a message of chat completions, at once or while it is written.

const { FORMATS } = require('./src/formats.js')
const { completionStream, formatFor, parseCompletion } = require('./src/stream.js')

exports.completionStream = completionStream
exports.formatFor = formatFor
exports.formats = Object.freeze([...FORMATS.keys()])
exports.fromAiSdk = require('./src/adapters/ai.js').fromAiSdk
exports.fromLangChain = require('./src/adapters/langchain.js').fromLangChain
exports.fromOpenAi = require('./src/adapters/openai.js').fromOpenAi
exports.fromResponses = require('./src/adapters/responses.js').fromResponses
exports.parseCompletion = parseCompletion
exports.toAiSdk = require('./src/adapters/ai.js').toAiSdk
exports.toLangChain = require('./src/adapters/langchain.js').toLangChain
exports.toOpenAi = require('./src/adapters/openai.js').toOpenAi
exports.toResponses = require('./src/adapters/responses.js').toResponses
