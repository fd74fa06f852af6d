'use strict'

// Counts the bodies of requests to models, keeps conversations within a limit, and converts the
// messages of client libraries to those of chat completions. No client is loaded: the functions
// read the fields of their objects.

exports.countRequest = require('./src/request.js').countRequest
exports.fitChat = require('./src/fit.js').fitChat
exports.fromAiSdk = require('./src/adapters/ai.js').fromAiSdk
exports.fromAnthropic = require('./src/adapters/anthropic.js').fromAnthropic
exports.fromLangChain = require('./src/adapters/langchain.js').fromLangChain
exports.fromLlamaIndex = require('./src/adapters/llamaindex.js').fromLlamaIndex
exports.fromResponses = require('./src/adapters/openai.js').fromResponses
exports.toolsFromAnthropic = require('./src/adapters/anthropic.js').toolsFromAnthropic
exports.toolsFromLlamaIndex = require('./src/adapters/llamaindex.js').toolsFromLlamaIndex
exports.toolsFromResponses = require('./src/adapters/openai.js').toolsFromResponses
