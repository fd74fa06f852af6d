'use strict'

// Messages and tools of client libraries, as those of chat completions: for countChat, fitChat and
// applyChatTemplate. No client is loaded: the functions read the fields of their objects.

const { fromAiSdk } = require('./ai.js')
const { fromAnthropic, toolsFromAnthropic } = require('./anthropic.js')
const { fromLangChain } = require('./langchain.js')
const { fromLlamaIndex, toolsFromLlamaIndex } = require('./llamaindex.js')
const { fromResponses, toolsFromResponses } = require('./openai.js')

module.exports = {
  fromAiSdk,
  fromAnthropic,
  fromLangChain,
  fromLlamaIndex,
  fromResponses,
  toolsFromAnthropic,
  toolsFromLlamaIndex,
  toolsFromResponses,
}
