// Answers of others: the cases of the tests of vLLM and transformers whose assertions hold for this
// package, those of openai-harmony for random conversations, and what published chat templates
// write for a message. tools/compare/completions records them.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'

import { formatFor, parseCompletion } from '@tokenlane/completions'

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

/** What transformers returns, which trims texts. */
function compare({ message }, expected, what) {
  const calls = (message.tool_calls ?? []).map(({ function: call }) => [call.name, JSON.parse(call.arguments)])
  const wanted = (expected.tool_calls ?? []).map(({ name, arguments: values }) => [name, values])
  const read = [(message.content ?? '').trim(), (message.reasoning_content ?? '').trim(), calls]
  assert.deepEqual(read, [expected.content ?? '', expected.reasoning ?? '', wanted], what)
}

test('transformers reads the same content, reasoning and calls', () => {
  for (const [format, text, expected] of read('transformers').byFormat)
    compare(parseCompletion(undefined, text, { format }), expected, text)
})

test("the response_template of a repository reads its model's answers", () => {
  const { template, byTemplate } = read('transformers')
  const chatTemplate =
    "{% for m in messages %}<|turn>{{ m.role }}\n{{ m.content or '' }}{% for c in m.tool_calls or [] %}<|tool_call>call:" +
    '{{ c.function.name }}{key:<|"|>a value<|"|>}<tool_call|>{% endfor %}<turn|>\n{% endfor %}{% if add_generation_prompt %}<|turn>model\n{% endif %}'
  const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
  const tokenizer = Tokenizer.fromFileSync(file, { chatTemplate, config: { response_template: template } })
  assert.equal(formatFor(tokenizer), 'response_template')
  // The last text is the content in transformers; here, all texts are.
  for (const [text, answer] of byTemplate) {
    const content = text.startsWith('Before') ? 'Before  after' : answer.content
    compare(parseCompletion(tokenizer, text, {}), { ...answer, content }, text)
  }
})

test('a response_template with other patterns is left out', () => {
  const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
  const { template } = read('transformers')
  const chatTemplate =
    "{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}{% endfor %}"
  for (const pattern of ['(a+)+<', '(?=x)', '[', ''])
    for (const fields of [
      { tool_calls: { open_pattern: pattern, close: 'x', content: 'json' } },
      { ...template.fields, content: { close_pattern: pattern } },
      null,
    ]) {
      const tokenizer = Tokenizer.fromFileSync(file, { chatTemplate, config: { response_template: { fields } } })
      assert.equal(formatFor(tokenizer), 'hermes', pattern)
    }
})
