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

const chunk = (delta, reason = null, index = 0) => ({ choices: [{ index, delta, finish_reason: reason }] })
const piece = (index, args, id, name) => ({
  tool_calls: [{ index, id, function: { name, arguments: args } }],
})
const calledBy = async (source) =>
  (await list(toAiSdk(source)))
    .filter(({ type }) => type === 'tool-call')
    .map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])

test('a call reaches a client once, also if text or another call follows before its end', async () => {
  const one = [['c0', 'f', '{"a":1}']]
  const first = piece(0, '{"a":1}', 'c0', 'f')
  for (const delta of [{ content: 'x' }, { reasoning_content: 'x' }])
    assert.deepEqual(await calledBy(fromOpenAi([chunk(first), chunk(delta), chunk({}, 'tool_calls')])), one)
  const fields = { tool_call_chunks: [{ index: 0, id: 'c0', name: 'f', args: '{"a":1}' }], content: '' }
  for (const more of [{ content: 'x' }, { content: '', additional_kwargs: { reasoning_content: 'x' } }]) {
    const end = { content: '', response_metadata: { finish_reason: 'tool_calls' } }
    const parts = await list(fromLangChain([fields, more, end]))
    assert.deepEqual(
      parts.map((part) => (part.isDone ? 'end' : part.type)),
      ['toolCall', 'end', 'text' in parts[2] ? parts[2].type : '', 'finish'],
    )
    assert.deepEqual(await calledBy(parts), one)
  }
  // Events that others made: the end comes after a text, and a call goes on beside another one.
  const grows = (index, args, more) => ({
    type: 'toolCall',
    index,
    id: `c${index}`,
    name: 'f',
    arguments: args,
    ...more,
  })
  const done = { isDone: true }
  const text = { type: 'text', text: 'x' }
  const finish = { type: 'finish', reason: 'tool_calls' }
  assert.deepEqual(
    await calledBy([grows(0, '{"a"'), text, grows(1, '{}'), grows(0, ':1}'), grows(0, '', done), grows(0, ''), finish]),
    [...one, ['c1', 'f', '{}']],
  )
  const items = (await list(toResponses([grows(0, '{}'), text, grows(0, '', done), finish]))).at(-1).response.output
  assert.deepEqual(
    items.map(({ type, status }) => [type, status]),
    [
      ['function_call', 'completed'],
      ['message', 'completed'],
    ],
  )
})

test('chunks of servers without deltas, choices, contents or indexes are read', async () => {
  const finish = { type: 'finish', reason: 'stop' }
  const odd = [null, {}, { error: {} }, { choices: [] }, { choices: null }, chunk(null), chunk({ tool_calls: null })]
  assert.deepEqual(await list(fromOpenAi([...odd, chunk(null, 'stop')])), [finish])
  const empty = [
    null,
    {},
    { content: null },
    { content: [null, { type: 'text' }] },
    { content: '', tool_call_chunks: null },
  ]
  const end = { content: null, response_metadata: { finish_reason: 'stop' } }
  assert.deepEqual(await list(fromLangChain([...empty, end])), [finish])
  // Of several choices, the first.
  const two = [chunk({ content: 'a' }), chunk({ content: 'b' }, null, 1), chunk({}, 'length', 1), chunk({}, 'stop')]
  assert.deepEqual(await list(fromOpenAi(two)), [{ type: 'text', text: 'a' }, finish])
  for (const indexes of [
    [3e8, 3e8, 5e8],
    [undefined, undefined, undefined],
  ]) {
    const pieces = [
      [indexes[0], '{"a"', 'c0', 'f'],
      [indexes[1], ':1}'],
      [indexes[2], '{}', 'c1', 'g'],
    ]
    const expected = [
      ['c0', 'f', '{"a":1}'],
      ['c1', 'g', '{}'],
    ]
    const chunks = pieces.map((args) => chunk(piece(...args)))
    assert.deepEqual(await calledBy(fromOpenAi([...chunks, chunk({}, 'tool_calls')])), expected)
    const fields = pieces.map(([index, args, id, name]) => ({ tool_call_chunks: [{ index, id, name, args }] }))
    assert.deepEqual(await calledBy(fromLangChain([...fields, end])), expected)
  }
})

test('Responses: what a filter stopped, and a response that failed, end with their reasons', async () => {
  const filtered = [{ type: 'finish', reason: 'content_filter' }]
  const last = (await list(toResponses(filtered))).at(-1)
  assert.equal(last.type, 'response.incomplete')
  assert.deepEqual(last.response.incomplete_details, { reason: 'content_filter' })
  assert.deepEqual(await list(fromResponses(toResponses(filtered))), filtered)
  const added = { type: 'response.output_item.added', output_index: 0 }
  const item = { type: 'function_call', call_id: 'c0', name: 'f', arguments: '' }
  for (const type of ['response.failed', 'error']) {
    const ended = await list(fromResponses([{ ...added, item }, { type }]))
    assert.deepEqual(ended.at(-1), { type: 'finish', reason: 'stop' })
    assert.equal(ended.at(-2).isDone, true)
  }
})

test('facts of a wrong shape are refused with a code', async () => {
  for (const to of [toOpenAi, toResponses]) {
    await assert.rejects(list(to([], null)), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
    await assert.rejects(list(to([], { other: 1 })), { code: 'ERR_TOKENLANE_UNKNOWN_OPTION' })
  }
})
