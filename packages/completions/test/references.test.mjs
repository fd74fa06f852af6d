// Answers of others: the cases of vLLM's tests whose assertions hold for this package, and what
// published chat templates write for a message. tools/compare/completions records both.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'

import { parseCompletion } from '@tokenlane/completions'

import { createId, read } from './support.mjs'

test("vLLM's cases give the content, reasoning and calls that its tests assert", () => {
  for (const [name, format, text, options, expected] of read('vllm').cases) {
    const { message, damage } = parseCompletion(undefined, text, { ...options, format, createId })
    const calls = (message.tool_calls ?? []).map(({ function: call }) => [call.name, call.arguments])
    const kinds = damage.map(({ kind }) => kind)
    assert.deepEqual([message.content, message.reasoning_content ?? null, calls, kinds], expected, name)
  }
})

test('what templates write for a message is read as a message that renders as the same text', () => {
  const { tools, cases } = read('templates')
  for (const [template, format, startsIn, text, message] of cases) {
    const ids = message.tool_calls?.map(({ id }) => id) ?? []
    const read = parseCompletion(undefined, text, { format, tools, startsIn, createId: (index) => ids[index] })
    assert.deepEqual(read.message, message, template)
  }
})

test('openai-harmony reads the same content, reasoning and calls from the same ids', () => {
  const tokenizer = Tokenizer.forModelSync('gpt-oss-20b')
  for (const [ids, expected] of read('harmony').cases) {
    const { message } = parseCompletion(tokenizer, ids, { createId })
    const calls = (message.tool_calls ?? []).map(({ function: call }) => [call.name, call.arguments])
    assert.deepEqual([message.content ?? '', message.reasoning_content ?? '', calls], expected)
  }
})
