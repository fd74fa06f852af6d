'use strict'

// The fields of LangChain's AIMessageChunk: `new AIMessageChunk(fields)`.

const { CallEvents, listOf, reasonOf } = require('./blocks.js')

async function* toLangChain(events) {
  const named = new Set()
  for await (const event of events) {
    if (event.type === 'text') yield { content: event.text }
    else if (event.type === 'reasoning') yield { content: '', additional_kwargs: { reasoning_content: event.text } }
    else if (event.type === 'finish') yield { content: '', response_metadata: { finish_reason: event.reason } }
    else if (event.type === 'toolCall' && !event.isDone) {
      const { index, id, name, arguments: args } = event
      const first = named.has(index) ? {} : { id, name }
      named.add(index)
      yield { content: '', tool_call_chunks: [{ type: 'tool_call_chunk', index, ...first, args }] }
    }
  }
}

/** The text of a content, which can be a list of parts or nothing. */
const textOf = (content) =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => (part.type === 'text' ? (part.text ?? '') : ''))
        .join('')

async function* fromLangChain(chunks) {
  const calls = new CallEvents()
  for await (const chunk of chunks) {
    const reasoning = chunk?.additional_kwargs?.reasoning_content
    const text = textOf(chunk?.content)
    if (reasoning || text !== '') yield* calls.endAll()
    if (reasoning) yield { type: 'reasoning', text: reasoning }
    if (text !== '') yield { type: 'text', text }
    const pieces = listOf(chunk?.tool_call_chunks)
    yield* calls.pieces(pieces.map(({ args, ...piece }) => ({ ...piece, text: args })))
    const reason = chunk?.response_metadata?.finish_reason
    if (reason) {
      yield* calls.endAll()
      yield { type: 'finish', reason: reasonOf(reason) }
    }
  }
}

module.exports = { fromLangChain, toLangChain }
