// The adapters: messages of client libraries become those that the clients send to chat
// completions. Judged by what was recorded of the clients (testdata/chat/clients.json), and by the
// clients of this checkout.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import vm from 'node:vm'

import { Tokenizer } from 'tokenlane'
import * as adapters from '@tokenlane/requests'

const { countRequest, fitChat, fromAiSdk, fromAnthropic, fromLangChain, fromLlamaIndex, fromResponses } = adapters
const TYPE = { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' }
const { clients } = JSON.parse(
  fs.readFileSync(new URL('../../../__test__/testdata/chat/clients.json', import.meta.url), 'utf8'),
)
const gpt4o = Tokenizer.forModelSync('gpt-4o')

// `npm run maintain clients` tests the newest clients, in a folder of its own.
const require = createRequire(process.env.TOKENLANE_CLIENTS ?? import.meta.url)

/** A module of a client, or undefined if this checkout does not have it. */
async function client(name) {
  try {
    return await import(pathToFileURL(require.resolve(name)).href)
  } catch (error) {
    if (!['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(error.code)) throw error
    return undefined
  }
}

const argumentsOf = (calls) => calls?.map(({ id, function: called }) => [id, called.name, JSON.parse(called.arguments)])
const partOf = (part) => (part.type === 'image_url' ? part.image_url.url : part.text)
/** What a message says, in one form for all ways to write it. */
const plain = (messages) =>
  messages.map(({ role, content, tool_calls: calls, tool_call_id: id }) => ({
    role,
    content: Array.isArray(content) ? content.map(partOf) : [content ?? ''],
    ...(calls?.length > 0 ? { calls: argumentsOf(calls) } : {}),
    ...(id === undefined ? {} : { id }),
  }))
const same = (converted, sent) => assert.deepEqual(plain(converted), plain(sent))

test('recorded messages of ai and LangChain become what their providers sent', () => {
  same(fromAiSdk(clients['ai, ModelMessage']), clients['ai, sent to chat completions'])
  same(fromLangChain(clients['langchain, stored messages']), clients['langchain, sent to chat completions'])
  same(fromAiSdk(clients['ai, UIMessage']), fromAiSdk(clients['ai, UIMessage converted']))
  same(fromResponses({ input: clients['ai, sent to responses'] }), clients['ai, sent to chat completions'])
  const [, , , ...rest] = fromAiSdk(clients['ai, ModelMessage'])
  assert.ok(rest.length > 0)
  const reasoning = (messages) => messages.map((one) => one.reasoning_content).filter((one) => one !== undefined)
  assert.deepEqual(reasoning(fromAiSdk(clients['ai, ModelMessage'])), ['Hm.'])
  assert.deepEqual(reasoning(fromLangChain(clients['langchain, stored messages'])), ['Hm.'])
})

test('recorded items of Responses and messages of Anthropic become messages', () => {
  const [developer, user, asked, first, second, answer] = fromResponses({ input: clients['openai responses'] })
  assert.deepEqual(developer, { role: 'developer', content: 'Be brief.' })
  assert.deepEqual(user.content[0], { type: 'text', text: 'What is this?' })
  assert.equal(user.content[1].image_url.detail, 'auto')
  assert.deepEqual(
    asked.tool_calls.map(({ function: { name } }) => name),
    ['get_weather', 'now'],
  )
  assert.equal(asked.reasoning_content, 'Hm.')
  assert.deepEqual([first.role, first.tool_call_id, second.content], ['tool', 'call_000001', '22 °C'])
  assert.deepEqual(answer, { role: 'assistant', content: 'Sunny.' })
  assert.deepEqual(fromResponses({ input: 'Hi', instructions: 'x' }), [
    { role: 'system', content: 'x' },
    { role: 'user', content: 'Hi' },
  ])

  const converted = fromAnthropic({ system: [{ type: 'text', text: 'Be brief.' }], messages: clients.anthropic })
  assert.deepEqual(
    converted.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'tool'],
  )
  assert.match(converted[1].content[0].image_url.url, /^data:image\/png;base64,iVB/)
  assert.deepEqual([converted[2].content, converted[2].reasoning_content], ['Let me look.', 'Hm.'])
  assert.deepEqual(JSON.parse(converted[2].tool_calls[0].function.arguments).city, 'Zürich')
  assert.deepEqual(
    converted.slice(3).map(({ tool_call_id: id, content }) => [id, content]),
    [
      ['toolu_01', '22 °C'],
      ['toolu_02', 'no clock'],
    ],
  )
  const tools = [
    { name: 'f', description: 'd', input_schema: { type: 'object' } },
    { type: 'bash_20250124', name: 'bash' },
  ]
  assert.deepEqual(adapters.toolsFromAnthropic(tools), [
    { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } },
    tools[1],
  ])
  const own = [{ type: 'function', name: 'f', parameters: {}, strict: true }, { type: 'web_search' }]
  assert.deepEqual(adapters.toolsFromResponses(own), [
    { type: 'function', function: { name: 'f', parameters: {} } },
    own[1],
  ])
})

test('every recorded conversation is counted, with all calls', () => {
  const converted = [
    fromAiSdk(clients['ai, ModelMessage']),
    fromAiSdk(clients['ai, UIMessage']),
    fromLangChain(clients['langchain, stored messages']),
    fromAnthropic({ messages: clients.anthropic }),
    fromResponses({ input: clients['openai responses'] }),
  ]
  for (const messages of converted) {
    const { tokens, estimated } = countRequest(gpt4o, { messages })
    assert.ok(tokens > 100 && estimated.some(({ place }) => place.endsWith('tool_calls')), JSON.stringify(messages))
    const { messages: fitting } = fitChat(gpt4o, messages, { maxTokens: tokens })
    assert.deepEqual(fitting, messages)
  }
  // A call of many tokens, which the text of the message does not have.
  const call = { id: '1', name: 'write', args: { text: 'word '.repeat(500) }, type: 'tool_call' }
  const asked = { type: 'ai', data: { content: '', tool_calls: [call] } }
  assert.ok(countRequest(gpt4o, { messages: fromLangChain([asked]) }).tokens > 500)
})

test('messages of @langchain/core', async (t) => {
  const core = await client('@langchain/core/messages')
  if (core === undefined) return t.skip('@langchain/core is not installed here')
  const { AIMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } = core
  const history = [
    new SystemMessage('Be brief.'),
    new HumanMessage({
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', data: 'iVBO', mimeType: 'image/png' },
      ],
    }),
    new AIMessage({ content: '', tool_calls: [{ id: '1', name: 'now', args: { zone: 'UTC' } }] }),
    new ToolMessage({ content: '12:00', tool_call_id: '1', name: 'now' }),
    new FunctionMessage({ name: 'f', content: 'x' }),
    new AIMessage({ content: [{ type: 'text', text: 'Noon.' }] }),
  ]
  const converted = fromLangChain(history)
  assert.deepEqual(converted, [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'function', function: { name: 'now', arguments: '{"zone":"UTC"}' } }],
    },
    { role: 'tool', name: 'now', tool_call_id: '1', content: '12:00' },
    { role: 'function', name: 'f', content: 'x' },
    { role: 'assistant', content: 'Noon.' },
  ])
  assert.deepEqual(fromLangChain(core.mapChatMessagesToStoredMessages(history)), converted)
  // What trimMessages keeps, one exact pass keeps as well.
  const texts = [
    new SystemMessage('x'),
    ...Array.from({ length: 20 }, (_, i) => new (i % 2 ? AIMessage : HumanMessage)(`message ${i}`)),
  ]
  const tokenCounter = (some) => countRequest(gpt4o, { messages: fromLangChain(some) }).tokens
  for (const maxTokens of [60, 100, 130]) {
    const trimmed = await trimMessages(texts, {
      maxTokens,
      tokenCounter,
      includeSystem: true,
      strategy: 'last',
      startOn: 'human',
    })
    const { messages } = fitChat(gpt4o, fromLangChain(texts), { maxTokens, startOn: 'user' })
    assert.deepEqual(messages, fromLangChain(trimmed))
  }
})

test('messages of ai', async (t) => {
  const ai = await client('ai')
  if (ai === undefined) return t.skip('ai is not installed here')
  const ui = [
    {
      id: '1',
      role: 'user',
      parts: [
        { type: 'text', text: 'Look: ' },
        { type: 'file', mediaType: 'image/png', url: 'https://e.org/a.png' },
      ],
    },
    {
      id: '2',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool-now', toolCallId: '1', state: 'output-available', input: {}, output: { time: '12:00' } },
        {
          type: 'dynamic-tool',
          toolName: 'look',
          toolCallId: '2',
          state: 'output-error',
          input: { at: 1 },
          errorText: 'dark',
        },
        { type: 'step-start' },
        { type: 'text', text: 'Noon.' },
      ],
    },
  ]
  const converted = fromAiSdk(ui)
  same(converted, fromAiSdk(await ai.convertToModelMessages(ui)))
  assert.deepEqual(
    converted.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'assistant'],
  )
  const bytes = [
    { type: 'image', image: new Uint8Array([1, 2, 3]) },
    { type: 'file', data: new Uint8Array([1, 2, 3]).buffer, mediaType: 'image/gif' },
  ]
  assert.deepEqual(fromAiSdk([{ role: 'user', content: bytes }])[0].content.map(partOf), [
    'data:image/png;base64,AQID',
    'data:image/gif;base64,AQID',
  ])
})

test('messages of llamaindex', () => {
  const converted = fromLlamaIndex([
    { role: 'memory', content: 'Earlier: rain.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image', data: 'iVBO', mimeType: 'image/png' },
      ],
    },
    { role: 'assistant', content: '', options: { toolCall: [{ id: '1', name: 'now', input: { zone: 'UTC' } }] } },
    { role: 'user', content: '', options: { toolResult: { id: '1', result: { time: 12 }, isError: false } } },
    { role: 'assistant', content: 'Noon.' },
  ])
  assert.deepEqual(
    converted.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant'],
  )
  assert.equal(converted[2].tool_calls[0].function.arguments, '{"zone":"UTC"}')
  assert.deepEqual(converted[3], { role: 'tool', tool_call_id: '1', content: '{"time":12}' })
  const tools = [{ metadata: { name: 'now', description: 'The time', parameters: { type: 'object' } } }]
  assert.deepEqual(adapters.toolsFromLlamaIndex(tools), [{ type: 'function', function: tools[0].metadata }])
})

const PNG = 'data:image/png;base64,iVBO'
const userOf = (...content) => [{ role: 'user', content }]
/** What a template or countChat gets of the first part of a message. */
const shown = ([{ content }]) => (typeof content === 'string' ? content : partOf(content[0]))

test('messages of ai: a file in each form of each version', () => {
  const bytes = new Uint8Array([0x89, 0x50, 0x4e])
  const cases = [
    [PNG, { data: 'iVBO' }],
    [PNG, { data: PNG }],
    [PNG, { data: new URL(PNG) }],
    [PNG, { url: PNG }],
    ['data:image/png;base64,iVBO', { data: bytes }],
    ['data:image/png;base64,iVBO', { data: bytes.buffer }],
    // ai 7
    [PNG, { data: { type: 'url', url: new URL(PNG) } }],
    [PNG, { data: { type: 'data', data: 'iVBO' } }],
    ['file-1', { data: { type: 'reference', reference: { openai: 'file-1' } } }],
    ['file-1', { data: { openai: 'file-1' } }],
    ['file-1', { url: 'https://e.org/a.png', providerReference: { openai: 'file-1' } }],
    // ai 4
    [PNG, { data: 'iVBO', mediaType: undefined, mimeType: 'image/png' }],
  ]
  for (const [url, fields] of cases)
    assert.equal(shown(fromAiSdk(userOf({ type: 'file', mediaType: 'image/png', ...fields }))), url)
  assert.equal(shown(fromAiSdk(userOf({ type: 'image', image: { openai: 'file-1' } }))), 'file-1')
  assert.equal(shown(fromAiSdk(userOf({ type: 'file', mediaType: 'image', data: 'iVBO' }))), PNG)
  for (const data of ['SGkg8J+MjQ==', 'data:text/plain;base64,SGkg8J+MjQ==', { type: 'text', text: 'Hi 🌍' }])
    assert.equal(shown(fromAiSdk(userOf({ type: 'file', mediaType: 'text/plain', data }))), 'Hi 🌍')
  const elsewhere = { type: 'file', mediaType: 'text/plain', data: new URL('https://e.org/a.txt') }
  assert.deepEqual(fromAiSdk(userOf(elsewhere))[0].content, [elsewhere])
  for (const data of [undefined, null, 7])
    assert.throws(() => fromAiSdk(userOf({ type: 'file', mediaType: 'image/png', data })), TYPE)
  const output = (...value) => [
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', output: { type: 'content', value } }] },
  ]
  // The provider for chat completions sends the parts of a result as JSON.
  const part = { type: 'image-data', data: 'iVBO', mediaType: 'image/png' }
  assert.equal(fromAiSdk(output(part))[0].content, JSON.stringify([part]))
})

test('messages of ai: what its provider for chat completions leaves out or writes as JSON', () => {
  const result = (output) =>
    fromAiSdk([{ role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', output }] }])[0].content
  assert.equal(result({ type: 'json', value: 'a' }), '"a"')
  assert.equal(result({ type: 'text', value: 'a' }), 'a')
  const content = [
    { type: 'text', text: 'Hi' },
    { type: 'file', mediaType: 'image/png', data: 'iVBO' },
    { type: 'tool-call', toolCallId: '1', toolName: 'search', input: {}, providerExecuted: true },
    { type: 'tool-result', toolCallId: '1', toolName: 'search', output: { type: 'text', value: 'found' } },
  ]
  const calls = [{ id: '1', type: 'function', function: { name: 'search', arguments: '{}' } }]
  assert.deepEqual(fromAiSdk([{ role: 'assistant', content }]), [
    { role: 'assistant', content: 'Hi', tool_calls: calls },
  ])
  const streaming = { type: 'tool-a', toolCallId: '1', state: 'input-streaming', input: undefined }
  assert.deepEqual(fromAiSdk([{ role: 'assistant', parts: [{ type: 'step-start' }, streaming] }]), [])
})

test('messages of ai 4: invocations, attachments and reasoning', () => {
  const toolInvocations = [{ state: 'result', toolCallId: '1', toolName: 'a', args: { b: 1 }, result: 'c' }]
  const call = { id: '1', type: 'function', function: { name: 'a', arguments: '{"b":1}' } }
  const experimental_attachments = [{ name: 'a.png', contentType: 'image/png', url: PNG }]
  assert.deepEqual(
    fromAiSdk([
      { role: 'user', content: 'Look', experimental_attachments },
      { role: 'assistant', content: 'So', toolInvocations },
      {
        role: 'assistant',
        content: 'x',
        parts: [
          { type: 'reasoning', reasoning: 'hm' },
          { type: 'text', text: 'x' },
        ],
      },
    ]),
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: PNG } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', name: 'a', tool_call_id: '1', content: 'c' },
      { role: 'assistant', content: 'So' },
      { role: 'assistant', content: 'x', reasoning_content: 'hm' },
    ],
  )
})

test('messages of another client are refused, not taken for empty ones', () => {
  const google = [{ role: 'user', parts: [{ text: 'hello' }] }]
  const completions = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: null, tool_calls: [] },
    { role: 'tool', tool_call_id: '1', content: 'b' },
  ]
  for (const call of [
    () => fromAiSdk(google),
    () => fromAiSdk(completions.slice(1, 2)),
    () => fromAiSdk(completions.slice(2)),
    () => fromAnthropic({ messages: google }),
    () => fromLangChain(google),
    () => fromLlamaIndex(google),
    () => fromResponses(/** @type {any} */ (completions)),
    () => fromResponses(/** @type {any} */ ({ messages: completions })),
    // @ts-expect-error
    () => fromResponses(),
  ])
    assert.throws(call, ({ code }) => /^ERR_TOKENLANE_ARGUMENT_(TYPE|VALUE)$/.test(code), String(call))
})

test('messages of LangChain: calls as those of chat completions', () => {
  const tool_calls = [{ id: '1', type: 'function', function: { name: 'a', arguments: '{"city":"Paris"}' } }]
  assert.deepEqual(fromLangChain([{ role: 'assistant', content: '', tool_calls }]), [
    { role: 'assistant', content: null, tool_calls },
  ])
})

test('messages of LangChain: blocks of its packages for Google and AWS, and refusals', () => {
  const tool_calls = [{ id: '1', name: 'now', args: {} }]
  const ai = (content, more) => fromLangChain([{ type: 'ai', data: { content, ...more } }])[0]
  const said = { type: 'text', text: 'Noon.' }
  const plain = ai([said], { tool_calls })
  // The call is also in tool_calls, as for Anthropic.
  assert.deepEqual(ai([said, { type: 'functionCall', functionCall: { name: 'now', args: {} } }], { tool_calls }), plain)
  assert.deepEqual(ai([{ type: 'reasoning_content', redactedContent: 'AAAA' }, said], { tool_calls }), plain)
  const thought = { type: 'reasoning_content', reasoningText: { text: 'Hm.' } }
  assert.equal(ai([thought, said]).reasoning_content, 'Hm.')
  const cached = [said, { type: 'cache_point', cachePoint: { type: 'default' } }, { cachePoint: { type: 'default' } }]
  assert.equal(ai(cached).content, 'Noon.')
  assert.equal(fromLangChain([{ type: 'system', data: { content: cached } }])[0].content, 'Noon.')
  assert.equal(ai([{ type: 'refusal', refusal: 'No.' }]).content, 'No.')
  const drawn = [{ type: 'inlineData', inlineData: { mimeType: 'image/png', data: 'iVBO' } }]
  assert.equal(shown([ai(drawn)]), PNG)
})

test('messages of LangChain and LlamaIndex: null is a missing field, and other values are refused', () => {
  const ai = (data) => fromLangChain([{ type: 'ai', data: { content: 'Noon.', ...data } }])
  assert.deepEqual(ai({ tool_calls: null, additional_kwargs: null }), ai({}))
  const llama = (options) => fromLlamaIndex([{ role: 'assistant', content: 'Noon.', options }])
  assert.deepEqual(llama(null), llama())
  assert.deepEqual(llama({ toolCall: null, toolResult: null }), llama())
  const inline = { type: 'inlineData', inlineData: { mimeType: null, data: 'AA' } }
  assert.deepEqual(ai({ content: [inline] })[0].content, [inline])
  for (const call of [
    () => ai({ tool_calls: 'x' }),
    () => ai({ tool_calls: [null] }),
    () => llama({ toolCall: [null] }),
  ])
    assert.throws(call, { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
})

test('items of @openai/agents', () => {
  const input = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Hi' },
        { type: 'input_image', image: PNG },
      ],
    },
    { type: 'function_call', callId: '1', name: 'a', arguments: '{}', status: 'completed' },
    { type: 'function_call_result', callId: '1', name: 'a', output: { type: 'text', text: 'b' } },
  ]
  assert.deepEqual(fromResponses({ input }), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: { url: PNG } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'function', function: { name: 'a', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: '1', content: 'b' },
  ])
})

test('messages of ai: a file of another realm', () => {
  const data = vm.runInNewContext('new Uint8Array([0x89, 0x50, 0x4e]).buffer')
  assert.equal(shown(fromAiSdk(userOf({ type: 'file', mediaType: 'image/png', data }))), PNG)
})

test('messages of ai: each state of a tool becomes what convertToModelMessages makes of it', async (t) => {
  const states = [
    { state: 'input-streaming', input: undefined },
    { state: 'input-available', input: { a: 1 } },
    { state: 'output-available', input: { a: 1 }, output: { b: 2 } },
    { state: 'output-available', input: { a: 1 }, output: undefined },
    { state: 'output-error', input: { a: 1 }, errorText: 'dark' },
    { state: 'output-denied', input: { a: 1 }, approval: { id: 'x', approved: false, reason: 'No.' } },
    { state: 'output-denied', input: { a: 1 }, approval: { id: 'x', approved: false } },
  ]
  const parts = states.map((fields, i) => ({ type: 'tool-f', toolCallId: `${i}`, ...fields }))
  const messages = [{ id: '1', role: 'assistant', parts }]
  const [{ tool_calls: calls }, ...results] = fromAiSdk(messages)
  assert.deepEqual(
    calls.map(({ id }) => id),
    ['1', '2', '3', '4', '5', '6'],
  )
  assert.deepEqual(
    results.map(({ content }) => content),
    ['{"b":2}', 'null', 'dark', 'No.', 'Tool call execution denied.'],
  )
  const ai = await client('ai')
  if (ai === undefined) return t.skip('ai is not installed here')
  assert.deepEqual(fromAiSdk(await ai.convertToModelMessages(messages)), fromAiSdk(messages))
  const file = { type: 'file', mediaType: 'image/png', url: PNG }
  const seen = [{ id: '1', role: 'user', parts: [file] }]
  assert.deepEqual(fromAiSdk(await ai.convertToModelMessages(seen)), fromAiSdk(seen))
})

test('messages of ai 4, as projects stored them', () => {
  const invocation = { toolCallId: '1', toolName: 'f', args: { a: 1 } }
  const model = [
    { role: 'assistant', content: [{ type: 'tool-call', ...invocation }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'f', result: { b: 2 } }] },
  ]
  const ui = [
    {
      role: 'assistant',
      content: '',
      parts: [{ type: 'tool-invocation', toolInvocation: { ...invocation, state: 'result', result: { b: 2 } } }],
    },
  ]
  const [asked, answered] = fromAiSdk(model)
  assert.equal(asked.tool_calls[0].function.arguments, '{"a":1}')
  assert.equal(answered.content, '{"b":2}')
  assert.deepEqual(fromAiSdk(ui), [asked, answered])
})

test('messages of LangChain: images that a provider has, and what JSON.stringify makes', async (t) => {
  const human = (block) => [{ type: 'human', data: { content: [block] } }]
  const ids = [
    { type: 'image', fileId: 'file-1' },
    { type: 'image', source_type: 'id', id: 'file-1' },
    { type: 'image', source: { type: 'file', file_id: 'file-1' } },
  ]
  for (const block of ids) assert.equal(shown(fromLangChain(human(block))), 'file-1')
  assert.equal(shown(fromLangChain(human({ type: 'image', id: 'block-1', data: 'iVBO' }))), PNG)
  const core = await client('@langchain/core/messages')
  if (core === undefined) return t.skip('@langchain/core is not installed here')
  const history = [
    new core.SystemMessage('Be brief.'),
    new core.HumanMessage('Hi'),
    new core.AIMessage({ content: 'y', tool_calls: [{ id: '1', name: 'f', args: { a: 1 } }] }),
    new core.ToolMessage({ content: '12:00', tool_call_id: '1', name: 'now' }),
    new core.AIMessageChunk('z'),
    new core.ChatMessage('d', 'developer'),
  ]
  assert.deepEqual(fromLangChain(JSON.parse(JSON.stringify(history))), fromLangChain(history))
})

test('messages of Anthropic: documents and results of searches are their texts and images', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }
  const said = [{ type: 'text', text: 'Hi' }]
  const document = (source, fields) =>
    shown(fromAnthropic({ messages: userOf({ type: 'document', source, ...fields }) }))
  assert.equal(
    document({ type: 'text', media_type: 'text/plain', data: 'Hi' }, { title: 'T', context: 'C' }),
    'T\nC\nHi',
  )
  assert.equal(document({ type: 'content', content: 'Hi' }), 'Hi')
  assert.equal(document({ type: 'content', content: said }, { title: null }), 'Hi')
  assert.equal(document({ type: 'content', content: [image, ...said] }), PNG)
  const found = { type: 'search_result', title: 'T', source: 's', content: said }
  assert.equal(shown(fromAnthropic({ messages: userOf(found) })), 'T\ns\nHi')
  const [result] = fromAnthropic({ messages: userOf({ type: 'tool_result', tool_use_id: '1', content: [found] }) })
  assert.equal(result.content, 'T\ns\nHi')
  // Settings alone, which the beta API takes as a message of the system
  assert.deepEqual(fromAnthropic({ messages: [{ role: 'system', output_config: {} }, ...userOf(...said)] }), [
    { role: 'user', content: 'Hi' },
  ])
})

test('what is no message is refused by its place', () => {
  for (const given of [undefined, null, 'x', 7, {}, [null], [7]]) {
    for (const convert of [fromAiSdk, fromLangChain, fromLlamaIndex]) assert.throws(() => convert(given), TYPE)
    assert.throws(() => fromAnthropic({ messages: given }), TYPE)
    if (given !== undefined && given !== null && given !== 'x')
      assert.throws(() => fromResponses({ input: given }), TYPE)
  }
  for (const content of [7, [null], [7]]) {
    for (const convert of [fromAiSdk, fromLlamaIndex]) assert.throws(() => convert([{ role: 'user', content }]), TYPE)
    assert.throws(() => fromAnthropic({ messages: [{ role: 'assistant', content }] }), TYPE)
    assert.throws(() => fromLangChain([{ type: 'ai', data: { content } }]), TYPE)
    assert.throws(() => fromResponses({ input: [{ role: 'user', content }] }), TYPE)
  }
  const circular = {}
  circular.again = circular
  const asked = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: circular }] }
  assert.throws(() => fromAnthropic({ messages: [asked] }), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
  const unknown = { ...TYPE, message: /input\[1\].*an item of the type 'computer_call'/ }
  assert.throws(() => fromResponses({ input: [{ role: 'user', content: 'x' }, { type: 'computer_call' }] }), unknown)
  assert.throws(() => fromLangChain([{ type: 'remove', data: {} }]), TYPE)
})

test('a message of a client with an adapter is refused by the name of the adapter', () => {
  const tokenizer = Tokenizer.forModelSync('gpt-4o')
  for (const [name, messages] of [
    ['fromLangChain', [{ content: 'Hi', getType: () => 'human' }]],
    ['fromAiSdk', [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]],
  ])
    assert.throws(() => tokenizer.countChat(/** @type {any} */ (messages)), { message: new RegExp(`: ${name} of `) })
})
