'use strict'

// Messages of llamaindex: ChatMessage of @llamaindex/core.

const {
  asText,
  assistant,
  blocksOf,
  call,
  checkContent,
  contentOf,
  image,
  listOf,
  result,
  text,
  urlOf,
} = require('./shared.js')

/** @type {any} */
const NO_OPTIONS = {}
const ROLES = { memory: 'system' }

/** The messages of `ChatMessage[]`. Calls and results are in their `options`. */
function fromLlamaIndex(messages) {
  return listOf(messages).map((message, i) => {
    const { role, content, options } = message
    const { toolCall: calls, toolResult: answer } = options ?? NO_OPTIONS
    if (answer !== undefined && answer !== null) return result(answer.id, asText(answer.result))
    if ((calls ?? undefined) === undefined) checkContent(message, `messages[${i}]`, 'LlamaIndex')
    const parts = blocksOf(content).map(partOf)
    if (role !== 'assistant') return { role: ROLES[role] ?? role, content: contentOf(parts) }
    const toolCalls = listOf([calls ?? []].flat(), 'toolCall').map(({ id, name, input }) => call(id, name, input))
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
  return listOf(tools, 'tools').map(({ metadata }) => {
    const { name, description, parameters } = metadata
    return { type: 'function', function: { name, description, ...(parameters === undefined ? {} : { parameters }) } }
  })
}

module.exports = { fromLlamaIndex, toolsFromLlamaIndex }
