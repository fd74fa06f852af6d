// Broken answers: no exception, no lost character, the same events however the answer is cut, and
// time that grows with the answer. tools/compare/completions/changes.mjs draws many more.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { completionStream, parseCompletion } from '@tokenlane/completions'

import { generator } from '../../../__test__/support/random.mjs'
import { changed, createId, cut, problemOf, read, streamed, tokenizerWith, tokensOf } from './support.mjs'

const ANSWERS = Object.entries(read('answers')).flatMap(([format, answers]) => answers.map(([text]) => [format, text]))

test('1,500 changed answers are read without an exception, and lose no character', () => {
  const next = generator(1)
  for (let i = 0; i < 1500; i++) {
    const answer = changed(ANSWERS, next)
    assert.equal(problemOf(answer, next), undefined, JSON.stringify(answer))
  }
})

test('a cut at every place says that the answer was cut, or reads what there is', () => {
  for (const [format, text] of ANSWERS)
    for (let end = 0; end < text.length; end++) {
      const { parts, message, finishReason } = parseCompletion(undefined, text.slice(0, end), { format })
      assert.equal(parts.map(({ raw }) => raw).join(''), text.slice(0, end))
      for (const call of message.tool_calls ?? [])
        if (finishReason !== 'length')
          assert.doesNotThrow(() => JSON.parse(call.function.arguments), text.slice(0, end))
    }
})

const of = (text, options) => parseCompletion(undefined, text, { format: 'hermes', createId, ...options })
const kinds = (parsed) => parsed.damage.map(({ kind }) => kind)

test('damage says what is wrong, and where', () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'f', parameters: { properties: { a: { type: 'integer' } }, required: ['a'] } },
    },
  ]
  const call = (name, values) => `<tool_call>{"name": "${name}", "arguments": ${values}}</tool_call>`
  assert.deepEqual(of(call('f', '{"a": 1}'), { tools }).damage, [])
  assert.deepEqual(of(call('g', '{}'), { tools }).damage, [{ kind: 'tool', part: 0, call: 0, name: 'g' }])
  assert.deepEqual(of(call('f', '{"a": "x"}'), { tools, checkArguments: true }).damage, [
    { kind: 'schema', part: 0, call: 0, problems: ['arguments.a is not of type integer'] },
  ])
  assert.deepEqual(of(call('f', '{"b": 1}'), { tools, checkArguments: true }).damage[0].problems, [
    'arguments.a is missing',
  ])
  assert.deepEqual(kinds(of(call('f', '{"a": 1,, "b" 2}'))), ['arguments'])
  assert.deepEqual(of('a <tool_call>b</tool_call> c').message.content, 'a <tool_call>b</tool_call> c')
  assert.deepEqual(kinds(of('a <tool_call>b</tool_call> c')), ['call'])
  assert.deepEqual(kinds(of('a</tool_call>b')), ['marker'])
  assert.deepEqual(kinds(of('<think>a')), ['unclosed'])
  assert.deepEqual(kinds(of('a<|im_end|>b')), ['trailing'])
  assert.deepEqual(kinds(of('<tool_call>{"name": "f", "arguments": {}}')), ['unclosed'])
})

test('arguments are checked against the keywords of schemas that tools use, with the place', () => {
  const problems = (schema, value) => {
    const tools = [
      { name: 'f', parameters: { type: 'object', properties: { a: schema }, additionalProperties: false } },
    ]
    const text = `<tool_call>${JSON.stringify({ name: 'f', arguments: { a: value } })}</tool_call>`
    return of(text, { tools, checkArguments: true }).damage.flatMap((damage) => damage.problems)
  }
  for (const [schema, value] of [
    [{ type: ['string', 'null'] }, null],
    [{ enum: ['x', 1] }, 1],
    [{ anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'string' } }] }, ['x']],
    [{ type: 'number' }, 1.5],
    [{ const: { x: 1 } }, { x: 1 }],
    [true, 'anything'],
  ])
    assert.deepEqual(problems(schema, value), [], JSON.stringify(schema))
  assert.deepEqual(problems({ type: 'integer' }, 1.5), ['arguments.a is not of type integer'])
  assert.deepEqual(problems({ enum: ['x'] }, 'y'), ['arguments.a is none of the values that are allowed'])
  assert.deepEqual(problems({ items: { type: 'string' } }, ['x', 1]), ['arguments.a[1] is not of type string'])
  assert.deepEqual(problems({ oneOf: [{ type: 'null' }] }, 1), [
    'arguments.a matches none of the schemas that are allowed',
  ])
  assert.deepEqual(problems({ type: 'object', required: ['b'] }, {}), ['arguments.a.b is missing'])
  const extra = '<tool_call>{"name": "f", "arguments": {"z": 1}}</tool_call>'
  const tools = [{ name: 'f', parameters: { properties: {}, additionalProperties: false } }]
  assert.deepEqual(of(extra, { tools, checkArguments: true }).damage[0].problems, ['arguments.z is not known'])
})

test('tools can be those of Anthropic, and those that a provider runs are left out', () => {
  const tools = [{ name: 'f', input_schema: { required: ['a'] } }, { type: 'web_search' }]
  const text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
  assert.deepEqual(kinds(of(text, { tools, checkArguments: true })), ['schema'])
  assert.throws(() => of(text, { tools: [{ type: 'function' }] }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  assert.throws(() => of(text, { tools: {} }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('a call whose arguments are damaged keeps its name and what was read', () => {
  const { message, finishReason } = of('<tool_call>{"name": "f", "arguments": {"a": "b')
  assert.deepEqual(message.tool_calls[0].function, { name: 'f', arguments: '{"a": "b' })
  assert.equal(finishReason, 'length')
})

test('reasoning that began in the prompt is reasoning', () => {
  assert.deepEqual(of('hm</think>\n\nSo.').message, { role: 'assistant', content: 'So.', reasoning_content: 'hm' })
  assert.equal(of('hm', { startsIn: 'reasoning' }).message.reasoning_content, 'hm')
})

test('what JSON can hide from a reader: depth, escapes, markers that never come', () => {
  for (const [format, open] of [
    ['pythonic', '[f(a=' + '['.repeat(50_000)],
    ['gemma4', '<|tool_call>call:f{a:' + '{b:'.repeat(50_000)],
    ['hermes', '<tool_call>{"name": "f", "arguments": ' + '['.repeat(50_000)],
    ['hermes', '<tool_call>'.repeat(20_000)],
    ['llama3', '{"name": '.repeat(20_000)],
    ['hermes', '<think>'.repeat(20_000)],
  ])
    assert.equal(
      parseCompletion(undefined, open, { format })
        .parts.map(({ raw }) => raw)
        .join(''),
      open,
    )
})

const openings = {
  'deepseek-v3': '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>',
  'kimi-k2': '<|tool_calls_section_begin|><|tool_call_begin|>',
  'minimax-m2': '<minimax:tool_call><invoke name="',
  mistral: '[TOOL_CALLS]',
  step3: '<｜tool_calls_begin｜><｜tool_call_begin｜>',
  'glm-4.5': '<tool_call>',
}

test('the work grows with the answer, also where nothing is decided for long', () => {
  // A text of n characters in chunks of 3 would take minutes if each chunk cost what came before.
  const long = 'x \n<'.repeat(100_000)
  for (const [format, text] of [
    ['hermes', long],
    ['hermes', `<tool_call>{"name": "f", "arguments": {"a": "${'x'.repeat(400_000)}"}}</tool_call>`],
    ['qwen3-coder', `<tool_call><function=f><parameter=a>${long}</parameter></function></tool_call>`],
    ['glm-4.5', `<tool_call>${'x'.repeat(400_000)}`],
    ['harmony', `<|channel|>${'x'.repeat(400_000)}<|message|>`],
    ['plain', '\n'.repeat(400_000)],
    // Headers with what their patterns could try in many ways.
    ...['deepseek-v3', 'kimi-k2', 'minimax-m2', 'mistral', 'step3', 'glm-4.5'].flatMap((name) => {
      const opening = openings[name]
      return [' ', 'a', ':1', 'a '].map((one) => [name, `${opening}${`function${one.repeat(60_000)}`}<${opening}`])
    }),
  ]) {
    const { stream } = streamed(undefined, cut(text, 3), { format, startsIn: 'text' })
    assert.equal(stream.parts.map(({ raw }) => raw).join(''), text)
  }
})

test('wrong arguments of the calls are refused', () => {
  const code = 'ERR_TOKENLANE_ARGUMENT_VALUE'
  assert.throws(() => parseCompletion(undefined, '', { format: 'nothing' }), { code })
  assert.throws(() => parseCompletion(undefined, '', { format: 'hermes', other: 1 }), {
    code: 'ERR_TOKENLANE_UNKNOWN_OPTION',
  })
  assert.throws(() => parseCompletion(undefined, '', {}), { code })
  assert.throws(() => parseCompletion(undefined, [1], { format: 'hermes' }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  const stream = completionStream(undefined, { format: 'hermes' })
  stream.push('a')
  assert.throws(() => stream.push([1]), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  stream.end()
  assert.throws(() => stream.push('a'), { code })
})

test('random ids are read as the text that they decode to, without an exception', () => {
  const next = generator(3)
  for (const [format, text] of ANSWERS) {
    const tokenizer = tokenizerWith(tokensOf(text))
    const control = tokensOf(text).map((token) => tokenizer.tokenToId(token))
    const written = tokenizer.encode(text, { addSpecialTokens: false, specialTokens: 'parse' }).ids
    for (let i = 0; i < 20; i++) {
      const ids = Array.from({ length: 1 + next(60) }, () =>
        [() => control[next(control.length)] ?? 1, () => written[next(written.length)], () => next(256)][next(3)](),
      )
      const { parts } = parseCompletion(tokenizer, ids, { format, startsIn: 'text' })
      assert.equal(parts.map(({ raw }) => raw).join(''), tokenizer.decode(ids, { skipSpecialTokens: false }))
    }
  }
})

test('the first name and id of a call count, and a second one is damage', () => {
  const tools = [{ name: 'ok' }]
  for (const name of ['name', 'na\\u006de']) {
    const text = `<tool_call>{"name": "ok", "arguments": {}, "${name}": "evil"}</tool_call>`
    const { events, stream } = streamed(undefined, [text], { format: 'hermes', tools })
    assert.equal(stream.message.tool_calls[0].function.name, 'ok')
    assert.ok(events.filter(({ type }) => type === 'toolCall').every((event) => event.name === 'ok'))
    assert.deepEqual(stream.damage, [{ kind: 'syntax', part: 0, call: 0 }])
  }
  const before = of('<tool_call>{"name": "ok", "name": "evil", "arguments": {}}</tool_call>', { tools })
  assert.equal(before.message.tool_calls[0].function.name, 'ok')
  for (const [start, end] of [
    ['"id": "abcdefghi", ', '"id": "other"'],
    ['', '"id": "abcdefghi", "id": "other"'],
  ]) {
    const text = `[TOOL_CALLS][{${start}"name": "ok", "arguments": {}, ${end}}]`
    const { events, stream } = streamed(undefined, cut(text, 3), { format: 'mistral', tools })
    assert.equal(stream.message.tool_calls[0].id, 'abcdefghi')
    assert.ok(events.filter(({ type }) => type === 'toolCall').every((event) => event.id === 'abcdefghi'))
    assert.deepEqual(kinds(stream), ['syntax'])
  }
})

test('arguments are checked at any depth, and a hundred problems of them are reported', () => {
  const deep = (inner) => `${'['.repeat(20_000)}${inner}${']'.repeat(20_000)}`
  const checked = (schema, values) => {
    const tools = [{ name: 'f', parameters: schema }]
    const text = `<tool_call>{"name": "f", "arguments": ${values}}</tool_call>`
    return of(text, { tools, checkArguments: true }).damage
  }
  const schema = { properties: { a: { enum: [JSON.parse(deep('1'))] } } }
  assert.deepEqual(checked(schema, `{"a": ${deep('1')}}`), [])
  assert.deepEqual(checked(schema, `{"a": ${deep('2')}}`)[0].problems, [
    'arguments.a is none of the values that are allowed',
  ])
  assert.deepEqual(checked({ enum: [{ a: 1, b: [] }] }, '{"b": [], "a": 1}'), [])
  assert.equal(checked({ enum: [{ a: [] }] }, '{"a": {}}').length, 1)
  const many = Array.from({ length: 200_000 }, (_, i) => i)
  const keys = JSON.stringify(Object.fromEntries(many.map((i) => [`k${i}`, i])))
  for (const [broken, values] of [
    [{ properties: { a: { items: { type: 'string' } } } }, `{"a": ${JSON.stringify(many)}}`],
    [{ additionalProperties: false }, keys],
    [{ required: many.map(String) }, '{}'],
  ])
    assert.equal(checked(broken, values)[0].problems.length, 100)
})

test('words of arguments that name a member of every object are texts', () => {
  const tools = [
    {
      name: 'f',
      parameters: { properties: { a: { type: 'integer' }, b: { type: ['boolean', 'null'] } } },
    },
  ]
  for (const word of ['constructor', '__proto__', 'toString', 'valueOf'])
    for (const key of ['a', 'b', '__proto__']) {
      const text = `<tool_call><function=f><parameter=${key}>${word}</parameter></function></tool_call>`
      const [call] = of(text, { format: 'qwen3-coder', tools }).message.tool_calls
      assert.equal(call.function.arguments, `{"${key}": "${word}"}`)
    }
})

test('after an exception of createId a stream refuses what follows', () => {
  let count = 0
  const failing = () => {
    if (count++ === 0) throw new Error('no id')
    return 'id'
  }
  const stream = completionStream(undefined, { format: 'hermes', createId: failing })
  assert.throws(() => stream.push('a<tool_call>{"name": "f", "arguments": {}}</tool_call>b'), /no id/)
  assert.throws(() => stream.push('c'), /no id/)
  assert.throws(() => stream.end(), /no id/)
})

test('an id of createId is a string', () => {
  const text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
  for (const id of [undefined, null, 1, {}])
    assert.throws(() => of(text, { createId: () => id }), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('a chunk with a wrong id is refused whole, and the stream goes on', () => {
  const tokenizer = tokenizerWith(['<tool_call>', '</tool_call>'])
  const mark = tokenizer.tokenToId('<tool_call>')
  const [id] = tokenizer.encode('a', { addSpecialTokens: false }).ids
  for (const wrong of [-1, 1.5, 2 ** 32, 'a', undefined]) {
    const stream = completionStream(tokenizer, { format: 'hermes', startsIn: 'text' })
    stream.push(id)
    assert.throws(() => stream.push([id, mark, id, wrong]), /^(Type|Range)Error: ids\[3\] must be/)
    stream.push([id])
    stream.end()
    assert.deepEqual(stream.parts, [{ type: 'text', raw: tokenizer.decode([id, id]) }])
  }
})

test('the first chunk that has something says whether an answer is text or ids', () => {
  const tokenizer = tokenizerWith([])
  const { ids } = tokenizer.encode('abc', { addSpecialTokens: false })
  for (const first of ['', [], new Uint32Array(0)])
    for (const answer of ['abc', ids]) {
      const stream = completionStream(tokenizer, { format: 'hermes', startsIn: 'text' })
      assert.deepEqual(stream.push(first), [])
      stream.push(answer)
      assert.deepEqual(stream.push(first), [])
      stream.end()
      assert.equal(stream.message.content, 'abc')
    }
  const stream = completionStream(tokenizer, { format: 'hermes', startsIn: 'text' })
  assert.throws(() => stream.push([-1]), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  stream.push('abc')
  stream.end()
  assert.equal(stream.message.content, 'abc')
})

test('arguments of a wrong shape are refused with a code', () => {
  const code = 'ERR_TOKENLANE_ARGUMENT_TYPE'
  const tokenizer = tokenizerWith([])
  for (const answer of [{ length: 3 }, { length: 0 }, null, undefined, true, new Int32Array(1), 1n])
    assert.throws(() => parseCompletion(tokenizer, answer, { format: 'hermes' }), { code })
  const calls = { tokenToId() {}, idToToken() {}, vocabSize: () => 0 }
  for (const broken of [{ decodeStream() {} }, { decodeStream() {}, ...calls }, 1, 'a'])
    assert.throws(() => parseCompletion(broken, [1], { format: 'hermes' }), { code })
  const bare = Object.create(null)
  for (const format of [bare, null, 1, Symbol('a')]) assert.throws(() => of('', { format }), { code })
  assert.throws(() => of('', { startsIn: bare }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  assert.throws(() => completionStream(undefined, { format: 'hermes' }).end({ finishReason: bare }), {
    code: 'ERR_TOKENLANE_ARGUMENT_VALUE',
  })
})
