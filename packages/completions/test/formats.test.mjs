// Each format: answers as their models write them, as text and as ids, in chunks of any size.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { completionStream, formats, parseCompletion } from '@tokenlane/completions'

import { generator } from '../../../__test__/support/random.mjs'
import { createId, cut, joined, read, streamed, tokenizerWith, tokensOf } from './support.mjs'

const ANSWERS = read('answers')
const seen = ({ message }) => [
  message.content,
  message.reasoning_content ?? null,
  (message.tool_calls ?? []).map(({ function: call }) => [call.name, JSON.parse(call.arguments)]),
]

test('every format has answers', () => {
  assert.deepEqual(Object.keys(ANSWERS).sort(), [...formats].sort())
})

for (const [format, answers] of Object.entries(ANSWERS))
  test(`${format}: an answer is its message, as text and as ids`, () => {
    for (const [text, content, reasoning, calls] of answers) {
      const expected = [content, reasoning, calls]
      assert.deepEqual(seen(parseCompletion(undefined, text, { format })), expected, text)
      const tokenizer = tokenizerWith(tokensOf(text))
      const ids = tokenizer.encode(text, { addSpecialTokens: false, specialTokens: 'parse' }).ids
      const ofIds = parseCompletion(tokenizer, ids, { format })
      assert.deepEqual(seen(ofIds), expected, text)
      assert.equal(ofIds.parts.map(({ raw }) => raw).join(''), text)
    }
  })

test('events do not depend on how an answer is cut', () => {
  const next = generator(7)
  for (const [format, answers] of Object.entries(ANSWERS))
    for (const [text] of answers) {
      const tokenizer = tokenizerWith(tokensOf(text))
      const ids = tokenizer.encode(text, { addSpecialTokens: false, specialTokens: 'parse' }).ids
      for (const [owner, answer] of [
        [undefined, text],
        [tokenizer, ids],
      ]) {
        const whole = joined(streamed(owner, [answer], { format }).events)
        for (const size of [1, 2, 3, next])
          assert.deepEqual(joined(streamed(owner, cut(answer, size), { format }).events), whole)
      }
    }
})

test('ids come before text: a marker that is written as ordinary text is text', () => {
  const tokenizer = tokenizerWith(['<tool_call>', '</tool_call>', '<think>', '</think>'])
  const call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
  const ordinary = [...call].flatMap((one) => [...tokenizer.encode(one, { addSpecialTokens: false }).ids])
  const control = tokenizer.encode(call, { addSpecialTokens: false, specialTokens: 'parse' }).ids
  const { message } = parseCompletion(tokenizer, [...ordinary, ...control], { format: 'hermes', createId })
  assert.equal(message.content, call)
  assert.equal(message.tool_calls.length, 1)
})

test('a marker in a string of arguments is text', () => {
  const text = '<tool_call>{"name": "f", "arguments": {"a": "</tool_call>", "b": "x"}}</tool_call>'
  const { message, damage } = parseCompletion(undefined, text, { format: 'hermes' })
  assert.equal(message.tool_calls[0].function.arguments, '{"a": "</tool_call>", "b": "x"}')
  assert.deepEqual(damage, [])
})

test('a tag that ends answers is text in the middle of one, unless it is a control token', () => {
  const of = (answer, tokenizer) => parseCompletion(tokenizer, answer, { format: 'mistral' }).message.content
  assert.equal(of('<s>old</s> new</s>\n'), '<s>old</s> new')
  assert.equal(of('old</s>'), 'old')
  const tokenizer = tokenizerWith([])
  assert.equal(
    of(tokenizer.encode('old</s>new', { addSpecialTokens: false, specialTokens: 'parse' }).ids, tokenizer),
    'old',
  )
})

test('a call and its arguments are events as soon as the characters that decide them are there', () => {
  const calls = {
    hermes: ['<tool_call>{"name": "now"', ', "arguments": {"a": "x', 'yz"}}</tool_call>'],
    'command-a': ['<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "now"', ', "parameters": {"a": "x', 'y"}}]'],
    'kimi-k2': [
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>',
      '{"a": "x',
      'y"}',
    ],
    mistral: ['[TOOL_CALLS]now[ARGS]', '{"a": "x', 'y"}'],
    'qwen3-coder': ['<tool_call>\n<function=now>', '\n<parameter=a>\nx', 'y\n</parameter>'],
    pythonic: ['[now(', "a='x", "y')]"],
    gemma4: ['<|tool_call>call:now{', 'a:<|"|>x', 'y<|"|>}'],
    harmony: ['<|channel|>commentary to=functions.now<|message|>', '{"a": "x', 'y"}<|call|>'],
    llama3: ['{"name": "now", "parameters": {', '"a": "x', 'y"}}'],
  }
  const tools = [{ name: 'now', parameters: { properties: { a: { type: 'string' } } } }]
  for (const [format, [name, argument]] of Object.entries(calls)) {
    const stream = completionStream(undefined, { format, tools, startsIn: 'text' })
    const named = [...name].flatMap((one) => stream.push(one))
    assert.deepEqual(
      named
        .filter(({ type }) => type === 'toolCall')
        .map((event) => event.name)
        .slice(0, 1),
      ['now'],
      format,
    )
    const grown = [...argument].flatMap((one) => stream.push(one))
    assert.ok(grown.at(-1)?.arguments.endsWith('x'), `${format} ${JSON.stringify(grown)}`)
  }
  const stream = completionStream(undefined, { format: 'hermes', startsIn: 'text' })
  assert.deepEqual(stream.push('Hi<'), [{ type: 'text', text: 'Hi' }])
  assert.deepEqual(stream.push('b'), [{ type: 'text', text: '<b' }])
})

test('a format by name, and the same one by a template, are compiled apart', () => {
  const chatTemplate =
    "{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function | tojson }}</tool_call>{% endfor %}<|stop|>{% endfor %}"
  const tokenizer = tokenizerWith(['<|stop|>'], { chatTemplate })
  assert.equal(parseCompletion(tokenizer, 'a<|stop|>', { format: 'hermes' }).message.content, 'a<|stop|>')
  assert.equal(parseCompletion(tokenizer, 'a<|stop|>').message.content, 'a')
  assert.equal(parseCompletion(tokenizer, 'a<|stop|>', { format: 'qwen3' }).message.content, 'a<|stop|>')
})

test('a prompt that ends with the opening of reasoning begins in it', () => {
  const chatTemplate =
    '{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<think>\n{% endif %}'
  const tokenizer = tokenizerWith([], { chatTemplate })
  assert.deepEqual(parseCompletion(tokenizer, 'hm</think>a').message, {
    role: 'assistant',
    content: 'a',
    reasoning_content: 'hm',
  })
  assert.equal(parseCompletion(tokenizer, 'hm').message.reasoning_content, 'hm')
  assert.equal(parseCompletion(tokenizer, 'hm', { startsIn: 'text' }).message.content, 'hm')
})

test('literals of Python are the JSON that Python itself writes, a set as a list', () => {
  for (const [literal, expected] of [
    ['{1, 2}', [1, 2]],
    ['{1}', [1]],
    ['{True, None, "x"}', [true, null, 'x']],
    ['{"x", 1}', ['x', 1]],
    ['{(1, 2)}', [[1, 2]]],
    ['{1: 2, 3: 4}', { 1: 2, 3: 4 }],
    ['{}', {}],
    ['(1)', 1],
    ['(1,)', [1]],
    ['(1, 2)', [1, 2]],
    ['()', []],
    ['( ((True)) )', true],
    ['("k")', 'k'],
    ['[("k"), (("k", 1), 2)]', ['k', [['k', 1], 2]]],
    ['{"a": ({"b": (1)})}', { a: { b: 1 } }],
    ['("k" )', 'k'],
  ])
    for (const size of [1, 100]) {
      const { stream } = streamed(undefined, cut(`[x(a=${literal})]`, size), { format: 'pythonic' })
      assert.deepEqual(seen(stream)[2], [['x', { a: expected }]], literal)
      assert.deepEqual(stream.damage, [], literal)
    }
})

test('words of Gemma have every character', () => {
  for (const word of ['\u{10000}', 'a\u{103ff}b', '\u{10400}', '\u{1f600}', '\u{10ffff}'])
    for (const size of [1, 100]) {
      const text = `<|tool_call>call:f{${word}k:${word},b:[${word}]}<tool_call|>`
      const { stream } = streamed(undefined, cut(text, size), { format: 'gemma4' })
      assert.deepEqual(seen(stream)[2], [['f', { [`${word}k`]: word, b: [word] }]])
      const tokenizer = tokenizerWith(tokensOf(text))
      const { ids } = tokenizer.encode(text, { addSpecialTokens: false, specialTokens: 'parse' })
      assert.deepEqual(seen(parseCompletion(tokenizer, ids, { format: 'gemma4' })), seen(stream))
    }
})

test('a template that changes the content of an answer makes no tag an end', () => {
  const chatTemplate = '{% for m in messages %}<|start|>{{ m.role }}<|x|>{{ m.content | upper }}<|stop|>{% endfor %}'
  const tokenizer = tokenizerWith(['<|start|>', '<|x|>', '<|stop|>'], { chatTemplate })
  assert.equal(parseCompletion(tokenizer, 'a<|x|>b').message.content, 'a<|x|>b')
})
