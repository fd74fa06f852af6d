'use strict'

// Chunks of OpenAI's chat completions. Reasoning is in `reasoning_content`, as of DeepSeek, vLLM
// and others; `reasoning` is read too.

const { CallEvents, FACTS, listOf, reasonOf } = require('./blocks.js')
const { checkNames } = require('../errors.js')

async function* toOpenAi(events, facts = {}) {
  checkNames(facts, FACTS)
  const { model = '', id = 'chatcmpl-0', created = 0 } = facts
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
  for await (const chunk of chunks) {
    // A server sends chunks without choices, of usage or of an error, and several choices mixed.
    const choice = listOf(chunk?.choices).find(({ index = 0 }) => index === 0)
    const { delta, finish_reason: reason } = choice ?? {}
    const reasoning = delta?.reasoning_content ?? delta?.reasoning
    if (reasoning || delta?.content) yield* calls.endAll()
    if (reasoning) yield { type: 'reasoning', text: reasoning }
    if (delta?.content) yield { type: 'text', text: delta.content }
    const pieces = listOf(delta?.tool_calls)
    yield* calls.pieces(
      pieces.map(({ index, id, function: call }) => ({ index, id, name: call?.name, text: call?.arguments })),
    )
    if (reason) {
      yield* calls.endAll()
      yield { type: 'finish', reason: reasonOf(reason) }
    }
  }
}

module.exports = { fromOpenAi, toOpenAi }
