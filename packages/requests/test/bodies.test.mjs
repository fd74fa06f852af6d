// Bodies of strangers: each field of each recorded body, and of each message of a client, is
// replaced by hostile values. The answer is a result, or an error with a code that names the place
// that was replaced. No value of a body is ever coerced.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'

import { Tokenizer } from 'tokenlane'
import * as adapters from '@tokenlane/requests'
import { countRequest } from '@tokenlane/requests'
import { hostile, pathsOf, placeOf, replaced } from '../../../__test__/support/hostile-fields.mjs'

const read = (name) =>
  JSON.parse(fs.readFileSync(new URL(`../../../__test__/testdata/chat/${name}`, import.meta.url), 'utf8'))
const { clients, tools } = read('clients.json')
const { requests } = read('usage.json')

const template =
  '{% for m in messages %}{{ m.role }}{{ m.content }}{{ m.tool_calls }}{% endfor %}{{ tools }}{{ documents }}{{ x }}'
const local = Tokenizer.fromFileSync(new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url), {
  chatTemplate: template,
})
const gpt4o = Tokenizer.forModelSync('gpt-4o')
const oss = Tokenizer.forModelSync('gpt-oss-20b')

/** A place of an estimate and its reason. */
const textOf = ({ place, reason }) => `${place} (${reason})`

const text = (said) => ({ type: 'text', text: said })
const anthropicTool = { name: 'f', description: 'A function.', input_schema: { type: 'object', properties: {} } }
const png = { type: 'base64', media_type: 'image/png', data: 'iVBO' }
const blocks = [
  text('Hi'),
  { type: 'image', source: png },
  { type: 'image', source: { type: 'url', url: 'https://e.org/a.png' } },
  { type: 'image', source: { type: 'file', file_id: 'f' } },
  { type: 'document', title: 't', context: 'c', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } },
  { type: 'document', source: { type: 'content', content: [text('Hi'), { type: 'image', source: png }] } },
  { type: 'search_result', title: 't', source: 's', content: [text('Hi')] },
]
const anthropicBody = {
  model: 'claude-sonnet-4-5',
  system: [text('Be brief.')],
  thinking: { type: 'enabled' },
  messages: [
    { role: 'user', content: blocks },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'tool_use', id: '1', name: 'f', input: { city: 'Paris', days: [1] } },
        { type: 'server_tool_use', id: '2', name: 'web_search', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: blocks }, text('So?')] },
  ],
  tools: [anthropicTool, { type: 'web_search_20250305', name: 'web_search' }],
}
const chatBody = {
  model: 'gpt-4o',
  messages: [
    { role: 'system', content: 'Be brief.', name: 'n' },
    {
      role: 'user',
      content: [
        text('Hi'),
        { type: 'image_url', image_url: { url: 'https://e.org/a.png', detail: 'low' } },
        { type: 'input_image', image_url: 'https://e.org/a.png', detail: 'low' },
        { type: 'file', file: { file_id: 'f' } },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'No.' }],
      audio: { id: 'a', transcript: 'x' },
      tool_calls: [
        { id: '1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        { id: '2', type: 'custom', custom: { name: 'g', input: 'x' } },
      ],
    },
    { role: 'tool', tool_call_id: '1', content: [text('y')] },
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
  ],
  tools: [...tools, { type: 'custom', custom: { name: 'g', description: 'd' } }, { type: 'web_search' }],
  functions: [{ name: 'h', description: 'd', parameters: { type: 'object', properties: { a: { enum: ['b'] } } } }],
  tool_choice: { type: 'function', function: { name: 'f' } },
  function_call: { name: 'f' },
  response_format: { type: 'json_schema', json_schema: { name: 'n', description: 'd', schema: { type: 'object' } } },
}
const served = {
  messages: [chatBody.messages[1], chatBody.messages[2]],
  documents: [{ title: 't', text: 'x' }],
  chat_template: template,
  chat_template_kwargs: { x: 1 },
  add_generation_prompt: true,
  continue_final_message: false,
  reasoning_effort: 'low',
}
const responsesBody = {
  model: 'gpt-4o',
  instructions: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] }],
  input: [
    ...clients['openai responses'],
    { role: 'user', content: [{ type: 'input_image', file_id: 'f', detail: 'low' }], tools: [{ type: 'web_search' }] },
    { type: 'custom_tool_call', call_id: '9', name: 'g', input: 'x', id: 'i' },
    { type: 'custom_tool_call_output', call_id: '9', output: [{ type: 'input_text', text: 'y' }] },
  ],
  tools: [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object' } }, { type: 'web_search' }],
  tool_choice: { type: 'function', name: 'f' },
  text: { format: { type: 'json_schema', name: 'n', description: 'd', schema: { type: 'object' } } },
}

const declaration = {
  name: 'f',
  description: 'd',
  parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'], description: 'd' } }, required: ['a'] },
}
const geminiBody = {
  model: 'gemini-2.5-flash',
  contents: [
    { role: 'user', parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'iVBO' } }] },
    { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 'x' } }, thoughtSignature: 's' }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: {}, parts: [{ inlineData: {} }] } }] },
    { fileData: { mimeType: 'audio/wav', fileUri: 'https://e.org/a.wav' } },
  ],
  system_instruction: { parts: [{ text: 'Be brief.' }] },
  tools: [{ functionDeclarations: [declaration] }, { googleSearch: {} }],
  generationConfig: { responseSchema: { type: 'OBJECT' } },
  config: { systemInstruction: ['x'], tools: { function_declarations: [declaration] }, toolConfig: {} },
}

/** Each with an API, a body, and the tokenizers and models that count it. */
const BODIES = [
  ['openai-chat', chatBody, [gpt4o]],
  ['openai-chat', { ...chatBody, model: 'claude-sonnet-4-5' }, [gpt4o]],
  ['openai-chat', served, [local, oss]],
  ['openai-responses', responsesBody, [gpt4o]],
  ['openai-responses', { ...responsesBody, model: 'claude-sonnet-4-5' }, [gpt4o]],
  ['anthropic', anthropicBody, [gpt4o]],
  ['anthropic', { ...anthropicBody, model: 'gpt-4o' }, [gpt4o]],
  ['anthropic', { system: 'x', messages: clients.anthropic }, [local]],
  ['gemini', geminiBody, [local]],
  ['openai-embeddings', { model: 'text-embedding-3-small', input: ['a', [1, 2], 3] }, [gpt4o]],
  ['openai-completions', { prompt: ['a', [1, 2], 3] }, [gpt4o, local]],
]

/** Whether an error names a place, or what lacks the field that is there. */
function isAt(message, place, value) {
  const [named] = message.split(' ')
  const parent = place.replace(/(\.\w+|\[\d+\]|^\w+)$/, '')
  if (named.startsWith(place) || named === parent) return true
  return (value ?? undefined) === undefined && (parent === '' || named.startsWith(parent))
}

/** Calls with each path replaced by each value; returns what is wrong, by place and value. */
function wrongOf(body, call, seen = new Set(), depth = Infinity) {
  const wrong = []
  for (const path of pathsOf(body).filter(({ length }) => length <= depth)) {
    // One field of a kind stands for those with other indices.
    const kind = path.map((key) => (typeof key === 'number' ? 0 : key)).join('.')
    const parent = path.slice(0, -1).reduce((value, key) => value[key], body)
    const shape = `${kind} of ${parent.type}: ${typeof parent[path.at(-1)]}`
    if (seen.has(shape)) continue
    seen.add(shape)
    for (const [name, make] of Object.entries(hostile)) {
      const { value, coerced = () => 0 } = make()
      const place = placeOf(path)
      try {
        call(replaced(body, path, value))
      } catch (error) {
        const code = Object.getOwnPropertyDescriptor(error, 'code')?.value
        if (!/^ERR_TOKENLANE_/.test(code)) wrong.push([place, name, String(error.stack).slice(0, 300)])
        else if (/ARGUMENT/.test(code) && !isAt(error.message, place, value)) wrong.push([place, name, error.message])
      }
      if (coerced() > 0) wrong.push([place, name, 'was coerced'])
    }
  }
  return wrong
}

const partTokens = () => 1

test('each field of a body: a result, or an error with the place that was replaced', () => {
  for (const [api, body, tokenizers] of BODIES) {
    for (const tokenizer of tokenizers) {
      assert.ok(countRequest(tokenizer, body, { api, partTokens }).tokens > 0)
      assert.deepEqual(
        wrongOf(body, (hostileBody) => countRequest(tokenizer, hostileBody, { api, partTokens })),
        [],
        `${api}, ${body.model}`,
      )
    }
  }
})

test('each field of a body whose API is not named: a result, or an error with a code', () => {
  for (const [, body, [tokenizer]] of BODIES) {
    const wrong = wrongOf(body, (hostileBody) => countRequest(tokenizer, hostileBody, { partTokens }), new Set(), 4)
    assert.deepEqual(
      wrong.filter(([, , message]) => /coerced|Error:/.test(message)),
      [],
    )
  }
})

test('each field of a recorded request', () => {
  const seen = new Set()
  for (const { model, body } of requests) {
    const tokenizer = Tokenizer.forModelSync(model)
    assert.deepEqual(
      wrongOf(body, (hostileBody) => countRequest(tokenizer, { ...hostileBody, model }, { partTokens }), seen).filter(
        ([, , message]) => /coerced|Error:/.test(message),
      ),
      [],
    )
  }
  assert.ok(seen.size > 100, String(seen.size))
})

const ui = clients['ai, UIMessage']
const stored = clients['langchain, stored messages']
const CLIENTS = [
  [adapters.fromAiSdk, clients['ai, ModelMessage']],
  [adapters.fromAiSdk, ui],
  [
    adapters.fromAiSdk,
    [
      {
        role: 'user',
        content: 'x',
        experimental_attachments: [{ name: 'a', contentType: 'image/png', url: 'data:image/png;base64,iVBO' }],
      },
      {
        role: 'assistant',
        content: 'So',
        toolInvocations: [{ state: 'result', toolCallId: '1', toolName: 'a', args: {}, result: 'c' }],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', reasoning: 'hm' },
          {
            type: 'tool-f',
            toolCallId: '1',
            state: 'output-denied',
            input: {},
            approval: { approved: false, reason: 'No.' },
          },
          {
            type: 'tool-invocation',
            toolInvocation: { state: 'result', toolCallId: '1', toolName: 'a', args: {}, result: 'c' },
          },
          { type: 'dynamic-tool', toolName: 'a', toolCallId: '2', state: 'output-error', errorText: 'x', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: { type: 'reference', reference: { openai: 'f' } } },
          { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'Hi' } },
          { type: 'image', image: { openai: 'f' } },
        ],
      },
    ],
  ],
  [adapters.fromLangChain, stored],
  [
    adapters.fromLangChain,
    [
      { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'HumanMessage'], kwargs: { content: 'x' } },
      {
        type: 'ai',
        content: [
          { type: 'image', source_type: 'id', id: 'f' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
          { type: 'inlineData', inlineData: { mimeType: 'image/png', data: 'iVBO' } },
          { type: 'reasoning_content', reasoningText: { text: 'x' } },
          { type: 'refusal', refusal: 'x' },
        ],
        tool_calls: [{ id: '1', name: 'f', args: { a: 1 } }],
        additional_kwargs: { reasoning_content: 'x', function_call: { name: 'f', arguments: '{}' }, tool_calls: [] },
      },
    ],
  ],
  [
    adapters.fromLlamaIndex,
    [
      { role: 'user', content: [text('Hi'), { type: 'image', data: 'iVBO', mimeType: 'image/png' }] },
      { role: 'assistant', content: '', options: { toolCall: [{ id: '1', name: 'f', input: { a: 1 } }] } },
      { role: 'user', content: '', options: { toolResult: { id: '1', result: 'x' } } },
    ],
  ],
]
const REQUESTS = [
  [adapters.fromAnthropic, anthropicBody, ['system', 'messages']],
  [adapters.fromResponses, responsesBody, ['input', 'instructions']],
]
const TOOLS = [
  [adapters.toolsFromAnthropic, anthropicBody.tools],
  [adapters.toolsFromResponses, responsesBody.tools],
  [adapters.toolsFromLlamaIndex, [{ metadata: { name: 'f', description: 'd', parameters: { type: 'object' } } }]],
]

test('each field of the messages of clients, and of tools, that an adapter converts', () => {
  for (const [convert, messages] of CLIENTS) {
    assert.ok(convert(messages).length > 0)
    assert.deepEqual(
      wrongOf({ messages }, (changed) => convert(changed.messages)),
      [],
      convert.name,
    )
  }
  for (const [convert, body, names] of REQUESTS) {
    const fields = Object.fromEntries(names.map((name) => [name, body[name]]))
    assert.deepEqual(
      wrongOf(fields, (changed) => convert(changed)),
      [],
      convert.name,
    )
  }
  for (const [convert, declared] of TOOLS)
    assert.deepEqual(
      wrongOf({ tools: declared }, (changed) => convert(changed.tools)),
      [],
      convert.name,
    )
})

test('places are those of the body that the caller sent', () => {
  const refusal = (body, options) => {
    try {
      return countRequest(gpt4o, body, options)
    } catch (error) {
      return error.message.split(' ')[0]
    }
  }
  const asked = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: {} }] }
  const shown = (source) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: '1', content: 'x' }, text('y'), { type: 'image', source }],
  })
  const messages = (source) => [{ role: 'user', content: 'x' }, asked, shown(source)]
  for (const model of ['claude-sonnet-4-5', 'gpt-4o', 'llama']) {
    const body = (source) => ({ model, system: 'Be brief.', messages: messages(source) })
    assert.equal(refusal(body(null)), 'messages[2].content[2].source')
    assert.equal(refusal(body({ type: 'url', url: { toString: 1 } })), 'messages[2].content[2].source.url')
    const estimated = (counted) => counted.estimated.map(textOf).filter((text) => text.startsWith('messages['))
    const url = { type: 'url', url: 'https://e.org/a.png' }
    assert.ok(
      estimated(countRequest(gpt4o, body(url))).includes('messages[2].content[2] (an image of unknown size)'),
      model,
    )
    assert.deepEqual(estimated(countRequest(local, { ...body(url), model: undefined })), [
      'messages[2].content[2] (only its placeholder is counted)',
    ])
  }
  // A call and its result are blocks of Anthropic's messages, and items of Responses.
  const estimated = countRequest(gpt4o, {
    system: 'Be brief.',
    messages: messages({ type: 'file', file_id: 'f' }),
  }).estimated.map(textOf)
  assert.ok(estimated.includes('messages[1].content[0] (a call)'), estimated.join())
  assert.ok(estimated.includes('messages[2].content[0] (the result of a tool)'), estimated.join())
  const items = [
    { type: 'reasoning', summary: [] },
    { role: 'user', content: [{ type: 'input_audio' }] },
  ]
  assert.match(refusal({ input: items, instructions: 'x' }), /^the$/)
  assert.throws(() => countRequest(gpt4o, { input: items, instructions: 'x' }), { message: /input\[1\]\.content\[0\]/ })
})

test('a body takes each of its fields once, and an endless or circular one has limits', () => {
  const reads = new Map()
  const counting = (value, place = '') =>
    typeof value !== 'object' || value === null
      ? value
      : new Proxy(value, {
          get: (target, name) => {
            const at = `${place}.${String(name)}`
            const isField = typeof name === 'string' && Object.hasOwn(target, name)
            if (isField) reads.set(at, (reads.get(at) ?? 0) + 1)
            return isField ? counting(target[name], at) : Reflect.get(target, name)
          },
        })
  assert.equal(
    countRequest(gpt4o, counting(anthropicBody), { partTokens }).tokens,
    countRequest(gpt4o, anthropicBody, { partTokens }).tokens,
  )
  assert.deepEqual(
    [...reads].filter(([, times]) => times > 1),
    [],
  )
  const twice = (depth) => (depth === 0 ? {} : [twice(depth - 1)].flatMap((one) => [one, one]))
  for (const content of [
    twice(60),
    new Proxy([], { get: (list, name) => (name === 'length' ? 2 ** 32 - 1 : list[name]) }),
  ])
    assert.throws(() => countRequest(gpt4o, { messages: [{ role: 'user', content }] }), {
      code: /ERR_TOKENLANE_ARGUMENT_(VALUE|TYPE)/,
    })
})

function failureOf(call) {
  try {
    return assert.fail(call())
  } catch (failure) {
    return failure
  }
}

test('null is a missing field, and what is not read can be anything', () => {
  const bodies = [chatBody, { ...responsesBody, conversation: null }, anthropicBody]
  const missing = ['tool_choice', 'response_format', 'function_call', 'functions', 'text', 'thinking', 'metadata']
  for (const body of bodies) {
    const without = Object.fromEntries(Object.entries(body).filter(([name]) => !missing.includes(name)))
    const nulls = { ...without, ...Object.fromEntries(missing.map((name) => [name, null])) }
    assert.deepEqual(countRequest(gpt4o, nulls, { partTokens }), countRequest(gpt4o, without, { partTokens }))
    const unread = {
      user: { a: [1] },
      stream: () => {},
      signal: Symbol('s'),
      max_tokens: 10n,
      metadata: new Uint8Array(1),
    }
    assert.deepEqual(
      countRequest(gpt4o, { ...without, ...unread }, { partTokens }),
      countRequest(gpt4o, without, { partTokens }),
    )
  }
})

test('a body may have 524,288 objects and arrays, of which 64 elements count as one', () => {
  const count = (more) =>
    countRequest(gpt4o, { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'x', more }] })
  const refused = { code: 'ERR_TOKENLANE_ARGUMENT_VALUE', message: /must be within 524288 objects/ }
  // The list counts its elements; the messages and the message are two more, and their fields.
  const most = Math.floor((524_288 - 3 - 4 / 64) / (1 + 1 / 64))
  const { code, message } = failureOf(() => count(Array.from({ length: most + 1 }, () => [])))
  assert.deepEqual([code, message.split(' ')[0]], [refused.code, `messages[0].more[${most}]`])
  assert.throws(() => count(new Array(64 * 524_288)), refused)
})
