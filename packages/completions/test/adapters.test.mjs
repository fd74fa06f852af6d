// Events of a completion as the streams of clients, read by the clients' own code, and back.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { AIMessageChunk } from '@langchain/core/messages'
import { jsonSchema, streamText, tool } from 'ai'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'

import * as completions from '@tokenlane/completions'

import { createId, cut, joined, streamed } from './support.mjs'

const {
  completionStream,
  fromAiSdk,
  fromLangChain,
  fromOpenAi,
  fromResponses,
  toAiSdk,
  toLangChain,
  toOpenAi,
  toResponses,
} = completions

const ANSWER =
  '<think>\nhm\n</think>\n\nLet me.\n<tool_call>\n{"name": "f", "arguments": {"a": "x", "b": [1]}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'
const CALLS = [
  ['call_0', 'f', '{"a": "x", "b": [1]}'],
  ['call_1', 'g', '{}'],
]
const options = { format: 'hermes', createId }
const events = () => completionStream(undefined, cut(ANSWER, 3), options)

/** Chunks as lines of JSON, which the client's streams read. */
const readable = (chunks) =>
  new ReadableStream({
    async start(controller) {
      for await (const chunk of chunks) controller.enqueue(new TextEncoder().encode(`${JSON.stringify(chunk)}\n`))
      controller.close()
    },
  })

async function list(source) {
  const all = []
  for await (const one of source) all.push(one)
  return all
}

test('ai: streamText reads reasoning, text and calls', async () => {
  const model = {
    specificationVersion: 'v3',
    provider: 'tokenlane',
    modelId: 'a model',
    supportedUrls: {},
    async doStream() {
      return { stream: ReadableStream.from(toAiSdk(events())) }
    },
  }
  const tools = Object.fromEntries(
    ['f', 'g'].map((name) => [name, tool({ inputSchema: jsonSchema({ type: 'object' }) })]),
  )
  const result = streamText({ model, tools, prompt: 'A question', onError: ({ error }) => assert.fail(error) })
  assert.equal(await result.text, 'Let me.')
  assert.equal(await result.reasoningText, 'hm')
  const calls = await result.toolCalls
  assert.deepEqual(
    calls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input]),
    CALLS.map(([id, name, text]) => [id, name, JSON.parse(text)]),
  )
  assert.equal(await result.finishReason, 'tool-calls')
})

test('openai: a stream of chat completions is the message', async () => {
  const { choices } = await ChatCompletionStream.fromReadableStream(
    readable(toOpenAi(events(), { model: 'm' })),
  ).finalChatCompletion()
  const [{ message, finish_reason: reason }] = choices
  assert.equal(message.content, 'Let me.')
  assert.deepEqual(
    message.tool_calls.map(({ id, function: call }) => [id, call.name, call.arguments]),
    CALLS,
  )
  assert.equal(reason, 'tool_calls')
})

test('openai: a stream of Responses is the items of the message', async () => {
  const { output, status } = await ResponseStream.fromReadableStream(
    readable(toResponses(events(), { model: 'm' })),
  ).finalResponse()
  const [reasoning, message, ...calls] = output
  assert.equal(reasoning.content[0].text, 'hm')
  assert.equal(message.content[0].text, 'Let me.')
  assert.deepEqual(
    calls.map(({ call_id: id, name, arguments: text }) => [id, name, text]),
    CALLS,
  )
  assert.equal(status, 'completed')
})

test('langchain: chunks that are added are the message', async () => {
  const chunks = (await list(toLangChain(events()))).map((fields) => new AIMessageChunk(fields))
  const message = chunks.reduce((all, one) => all.concat(one))
  assert.equal(message.content, 'Let me.')
  assert.equal(message.additional_kwargs.reasoning_content, 'hm')
  assert.deepEqual(
    message.tool_calls.map(({ id, name, args }) => [id, name, args]),
    CALLS.map(([id, name, text]) => [id, name, JSON.parse(text)]),
  )
})

test('each client and back: the same events', async () => {
  const whole = joined(streamed(undefined, [ANSWER], { format: 'hermes' }).events)
  for (const [to, from] of [
    [toAiSdk, fromAiSdk],
    [toOpenAi, fromOpenAi],
    [toResponses, fromResponses],
    [toLangChain, fromLangChain],
  ])
    assert.deepEqual(joined(await list(from(to(events())))), whole, to.name)
})

test('what was cut ends as an answer that reached its limit', async () => {
  const cutEvents = () => completionStream(undefined, ['<think>h'], options)
  assert.equal((await list(toOpenAi(cutEvents()))).at(-1).choices[0].finish_reason, 'length')
  assert.equal((await list(toResponses(cutEvents()))).at(-1).response.incomplete_details.reason, 'max_output_tokens')
  assert.equal((await list(toAiSdk(cutEvents()))).at(-1).finishReason.unified, 'length')
})
