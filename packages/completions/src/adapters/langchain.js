'use strict'

// The fields of LangChain's AIMessageChunk: `new AIMessageChunk(fields)`.

const { CallEvents, reasonOf } = require('./blocks.js')

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

/** The text of a content, which can be a list of parts. */
const textOf = (content) =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')

async function* fromLangChain(chunks) {
  const calls = new CallEvents()
  for await (const {
    content,
    additional_kwargs: more,
    tool_call_chunks: pieces,
    response_metadata: metadata,
  } of chunks) {
    if (more?.reasoning_content) yield { type: 'reasoning', text: more.reasoning_content }
    const text = textOf(content)
    if (text !== '') yield { type: 'text', text }
    for (const { index = 0, id, name, args } of pieces ?? []) {
      for (let before = 0; before < index; before++) yield* calls.end(before)
      yield calls.event(index, args, { id, name })
    }
    const reason = metadata?.finish_reason
    if (reason) {
      yield* calls.endAll()
      yield { type: 'finish', reason: reasonOf(reason) }
    }
  }
}

module.exports = { fromLangChain, toLangChain }
