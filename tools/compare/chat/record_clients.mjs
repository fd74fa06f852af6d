// Records the messages that client libraries send and return, as conversations for chat templates:
// each library runs with a `fetch` that answers like the API and keeps what was sent. For
// maintainers; the result is the input of make_chat_cases.py and compare_templates.py.
//
//   cd FOLDER && npm install openai ai @ai-sdk/openai @langchain/openai @langchain/core \
//     @anthropic-ai/sdk zod@3
//   node tools/compare/chat/record_clients.mjs FOLDER > tools/compare/chat/clients.json

import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(path.resolve(process.argv[2], 'package.json'))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const ASKED = '{"city": "Zürich", "days": null, "units": {"temp": "C", "wind": []}}'
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

const call = (id, name, given) => ({ id, type: 'function', function: { name, arguments: given } })
/** An answer of the API of chat completions, with the fields that it has when nothing is said. */
const completion = (message) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_764_000_000,
  model: 'gpt-4o',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, refusal: null, annotations: [], ...message },
      logprobs: null,
      finish_reason: message.tool_calls ? 'tool_calls' : 'stop',
    },
  ],
  usage,
})
const response = (output) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_764_000_000,
  model: 'gpt-4o',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
})
const said = (text) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  encrypted_content: null,
}
const called = (id, name, given) => ({
  id: `fc_${id}`,
  type: 'function_call',
  call_id: id,
  name,
  arguments: given,
  status: 'completed',
})

/** A fetch that gives these answers in turn, and keeps the bodies that were sent. */
function api(answers) {
  const sent = []
  const fetch = async (_url, { body }) => {
    sent.push(JSON.parse(body))
    return new Response(JSON.stringify(answers.shift()), { headers: { 'content-type': 'application/json' } })
  }
  return { sent, fetch }
}

// Warnings would go to the output.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const CLIENTS = {}
const record = (name, messages) => {
  CLIENTS[name] = JSON.parse(JSON.stringify(messages))
}
const system = { role: 'system', content: 'Be brief.' }
const user = { role: 'user', content: 'How is the weather?' }

{
  const { OpenAI } = await load('openai')
  const answers = {
    'one call': [{ tool_calls: [call('call_000001', 'get_weather', ASKED)] }, { content: 'Sunny.' }],
    'two calls': [
      { tool_calls: [call('call_000001', 'get_weather', ASKED), call('call_000002', 'now', '{}')] },
      { content: 'Noon.' },
    ],
    'call of an old function': [{ function_call: { name: 'now', arguments: '{}' } }, { content: 'Noon.' }],
    refusal: [{ refusal: "I'm sorry, I cannot help with that." }, { content: '' }],
    'audio answer': [
      { audio: { id: 'audio_1', data: 'UklGRg==', expires_at: 1_764_000_000, transcript: 'Sunny.' } },
      { content: 'Yes.' },
    ],
    'reasoning of DeepSeek': [
      { content: 'Sunny.', reasoning_content: 'The user asks\nfor the weather.' },
      { content: 'Yes.' },
    ],
    'reasoning of OpenRouter': [
      {
        content: 'Sunny.',
        reasoning: 'Hm.',
        reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: null }],
      },
      { content: 'Yes.' },
    ],
    'nulls of vLLM': [
      {
        content: 'Sunny.',
        tool_calls: [],
        function_call: null,
        audio: null,
        reasoning_content: null,
        annotations: null,
      },
      { content: 'Yes.' },
    ],
    'custom tool': [
      { tool_calls: [{ id: 'call_000001', type: 'custom', custom: { name: 'sql', input: 'select 1' } }] },
      { content: '1' },
    ],
  }
  for (const [name, [first, second]] of Object.entries(answers)) {
    const { sent, fetch } = api([completion(first), completion(second)])
    const client = new OpenAI({ apiKey: 'none', fetch })
    const messages = [system, user]
    const { choices } = await client.chat.completions.create({ model: 'gpt-4o', messages })
    messages.push(choices[0].message)
    for (const { id } of choices[0].message.tool_calls ?? [])
      messages.push({ role: 'tool', tool_call_id: id, content: '22 °C' })
    if (choices[0].message.function_call) messages.push({ role: 'function', name: 'now', content: '12:00' })
    messages.push({ role: 'user', content: 'And tomorrow?' })
    const next = await client.chat.completions.create({ model: 'gpt-4o', messages })
    record(`openai, ${name}`, sent[1].messages)
    record(`openai, ${name}, with its answer`, [...sent[1].messages, next.choices[0].message])
  }
  const { sent, fetch } = api([completion({ content: 'A dot.' })])
  await new OpenAI({ apiKey: 'none', fetch }).chat.completions.create({
    model: 'gpt-4o',
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'user', content: [] },
      { role: 'user', content: '' },
    ],
  })
  record('openai, parts', sent[0].messages)

  const responses = api([
    response([reasoning, called('call_000001', 'get_weather', ASKED), called('call_000002', 'now', '{}')]),
    response([said('Sunny.')]),
  ])
  const client = new OpenAI({ apiKey: 'none', fetch: responses.fetch })
  /** @type {object[]} */
  const input = [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
      ],
    },
  ]
  const first = await client.responses.create({ model: 'gpt-4o', input })
  input.push(...first.output)
  for (const { call_id } of first.output.filter(({ type }) => type === 'function_call'))
    input.push({ type: 'function_call_output', call_id, output: '22 °C' })
  const second = await client.responses.create({ model: 'gpt-4o', input })
  record('openai responses', [...responses.sent[1].input, ...second.output])
  record(
    'openai responses, messages only',
    [...responses.sent[1].input, ...second.output].filter(({ role }) => role !== undefined),
  )
}

{
  const { generateText, convertToModelMessages } = await load('ai')
  const { createOpenAI } = await load('@ai-sdk/openai')
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', image: PNG, mediaType: 'image/png' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: '' },
        { type: 'tool-call', toolCallId: 'call_000001', toolName: 'get_weather', input: JSON.parse(ASKED) },
        { type: 'tool-call', toolCallId: 'call_000002', toolName: 'now', input: {} },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'call_000001',
          toolName: 'get_weather',
          output: { type: 'json', value: { temp: 22.5, wind: null } },
        },
        {
          type: 'tool-result',
          toolCallId: 'call_000002',
          toolName: 'now',
          output: { type: 'error-text', value: 'no clock' },
        },
      ],
    },
    { role: 'assistant', content: 'Sunny.' },
    { role: 'user', content: 'And tomorrow?' },
  ]
  record('ai, ModelMessage', messages)
  const { sent, fetch } = api([completion({ content: 'Rain.' })])
  await generateText({
    model: createOpenAI({ apiKey: 'none', fetch }).chat('gpt-4o'),
    messages,
    allowSystemInMessages: true,
  })
  record('ai, sent to chat completions', sent[0].messages)
  const responses = api([response([said('Rain.')])])
  await generateText({
    model: createOpenAI({ apiKey: 'none', fetch: responses.fetch }).responses('gpt-4o'),
    messages,
    allowSystemInMessages: true,
  })
  record('ai, sent to responses', responses.sent[0].input)
  const ui = [
    {
      id: '1',
      role: 'user',
      parts: [
        { type: 'text', text: 'How is the weather?' },
        { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${PNG}` },
      ],
    },
    {
      id: '2',
      role: 'assistant',
      metadata: null,
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Hm.', state: 'done' },
        {
          type: 'tool-get_weather',
          toolCallId: 'call_000001',
          state: 'output-available',
          input: JSON.parse(ASKED),
          output: '22 °C',
        },
        { type: 'text', text: 'Sunny.', state: 'done' },
      ],
    },
  ]
  record('ai, UIMessage', ui)
  record('ai, UIMessage converted', await convertToModelMessages(ui))
}

{
  const { ChatOpenAI } = await load('@langchain/openai')
  const { AIMessage, HumanMessage, SystemMessage, ToolMessage, FunctionMessage, mapChatMessagesToStoredMessages } =
    await load('@langchain/core/messages')
  const messages = [
    new SystemMessage('Be brief.'),
    new HumanMessage({
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
      name: 'ann',
    }),
    new AIMessage({
      content: '',
      tool_calls: [
        { id: 'call_000001', name: 'get_weather', args: JSON.parse(ASKED), type: 'tool_call' },
        { id: 'call_000002', name: 'now', args: {}, type: 'tool_call' },
      ],
      invalid_tool_calls: [],
    }),
    new ToolMessage({ content: '22 °C', tool_call_id: 'call_000001', name: 'get_weather', status: 'success' }),
    new ToolMessage({ content: [{ type: 'text', text: '12:00' }], tool_call_id: 'call_000002' }),
    new AIMessage({ content: 'Sunny.', additional_kwargs: { reasoning_content: 'Hm.' } }),
    new FunctionMessage({ name: 'now', content: '12:00' }),
    new HumanMessage('And tomorrow?'),
  ]
  const { sent, fetch } = api([completion({ content: 'Rain.' })])
  await new ChatOpenAI({ model: 'gpt-4o', apiKey: 'none', configuration: { fetch } }).invoke(messages)
  record('langchain, sent to chat completions', sent[0].messages)
  record('langchain, stored messages', mapChatMessagesToStoredMessages(messages))
  record(
    'langchain, fields of messages',
    messages.map((one) => ({
      role: one.type,
      content: one.content,
      name: one.name ?? null,
      tool_calls: one.tool_calls ?? null,
      additional_kwargs: one.additional_kwargs,
      tool_call_id: one.tool_call_id ?? null,
    })),
  )
}

{
  const { Anthropic } = await load('@anthropic-ai/sdk')
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'Let me look.', citations: null },
      { type: 'tool_use', id: 'toolu_01', name: 'get_weather', input: JSON.parse(ASKED) },
      { type: 'tool_use', id: 'toolu_02', name: 'now', input: {} },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: null },
  }
  const { sent, fetch } = api([answer, { ...answer, content: [{ type: 'text', text: 'Sunny.', citations: null }] }])
  const client = new Anthropic({ apiKey: 'none', fetch })
  const create = (messages) => client.messages.create({ model: 'claude', max_tokens: 9, messages })
  /** @type {object[]} */
  const messages = [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        { type: 'text', text: 'How is it here?' },
      ],
    },
  ]
  const first = await create(messages)
  messages.push({ role: first.role, content: first.content })
  messages.push({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_01', content: [{ type: 'text', text: '22 °C' }] },
      { type: 'tool_result', tool_use_id: 'toolu_02', is_error: true, content: 'no clock' },
    ],
  })
  const second = await create(messages)
  record('anthropic', sent[1].messages)
  record('anthropic, with its answer', [...sent[1].messages, second])
}

process.stdout.write(`${JSON.stringify(CLIENTS, null, 1)}\n`)
