'use strict'

// Messages of llamaindex: ChatMessage of @llamaindex/core.

const {
  reading: { copyOf },
} = require('tokenlane/internal/requests.js')

const { asText, assistant, blocksOf, call, contentOf, image, result, text, urlOf, OF_CLIENTS } = require('./shared.js')
const { llamaMessages, llamaTools } = require('../shapes.js')

/** The messages of `ChatMessage[]`. Calls and results are in their `options`. */
function fromLlamaIndex(messages) {
  const conversation = copyOf(messages, 'messages', OF_CLIENTS)
  llamaMessages(conversation, 'messages')
  return conversation.map(({ role, content, options }) => {
    const { toolCall: calls, toolResult: answer } = options ?? {}
    if (answer !== undefined && answer !== null) return result(answer.id, asText(answer.result))
    const parts = blocksOf(content).map(partOf)
    if (role !== 'assistant') return { role: role === 'memory' ? 'system' : role, content: contentOf(parts) }
    const toolCalls = [calls ?? []].flat().map(({ id, name, input }) => call(id, name, input))
    return assistant({ parts, calls: toolCalls })
  })
}

function partOf(part) {
  if (typeof part?.text === 'string') return text(part.text)
  if (part?.type === 'image') return image(urlOf(part.data, part.mimeType))
  return part
}

/** Tools of llamaindex, in the form of chat completions. */
function toolsFromLlamaIndex(tools) {
  const declared = copyOf(tools, 'tools', OF_CLIENTS)
  llamaTools(declared, 'tools')
  return declared.map(({ metadata: { name, description, parameters } }) => {
    return { type: 'function', function: { name, description, ...(parameters === undefined ? {} : { parameters }) } }
  })
}

module.exports = { fromLlamaIndex, toolsFromLlamaIndex }
