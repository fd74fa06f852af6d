'use strict'

// Chunks of OpenAI's chat completions. Reasoning is in `reasoning_content`, as of DeepSeek, vLLM
// and others; `reasoning` is read too.

const { CallEvents, reasonOf } = require('./blocks.js')

async function* toOpenAi(events, { model = '', id = 'chatcmpl-0', created = 0 } = {}) {
  const chunk = (delta, reason = null) => ({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  })
  const named = new Set()
  yield chunk({ role: 'assistant', content: '' })
  for await (const event of events) {
    if (event.type === 'text') yield chunk({ content: event.text })
    else if (event.type === 'reasoning') yield chunk({ reasoning_content: event.text })
    else if (event.type === 'finish') yield chunk({}, event.reason)
    else if (event.type === 'toolCall' && !event.isDone) {
      const { index, name, arguments: text } = event
      const isFirst = !named.has(index)
      named.add(index)
      const call = isFirst
        ? { index, id: event.id, type: 'function', function: { name, arguments: text } }
        : { index, function: { arguments: text } }
      yield chunk({ tool_calls: [call] })
    }
  }
}

async function* fromOpenAi(chunks) {
  const calls = new CallEvents()
  for await (const { choices } of chunks) {
    const [{ delta = {}, finish_reason: reason } = {}] = choices
    const reasoning = delta.reasoning_content ?? delta.reasoning
    if (reasoning) yield { type: 'reasoning', text: reasoning }
    if (delta.content) yield { type: 'text', text: delta.content }
    for (const { index, id, function: call } of delta.tool_calls ?? []) {
      for (let before = 0; before < index; before++) yield* calls.end(before)
      yield calls.event(index, call?.arguments, { id, name: call?.name })
    }
    if (reason) {
      yield* calls.endAll()
      yield { type: 'finish', reason: reasonOf(reason) }
    }
  }
}

module.exports = { fromOpenAi, toOpenAi }
