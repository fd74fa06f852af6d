'use strict'

// Counts the JSON body of a request: to OpenAI's chat completions and Responses, to Anthropic's
// messages, and to servers that render the chat template of a model (vLLM, llama.cpp, Ollama).

const { fromAnthropic, fromResponses, toolsFromAnthropic, toolsFromResponses } = require('../adapters/index.js')
const { wrongType, wrongValue } = require('../errors.js')
const { checkKnown, checkObject } = require('../options.js')
const { isArray } = require('../realm.js')
const { countClaude, isClaude } = require('./claude.js')
const { parsed } = require('./json-text.js')

const APIS = ['openai-chat', 'openai-responses', 'anthropic']
const OPTIONS = ['api', 'model', 'imageSize', 'partTokens', 'undocumented']

/**
 * Counts a body as `{ tokens, estimated, api }`. `ways` are those of the tokenizer: its chat, the
 * tokens of a text, and the tokens of messages that its template renders.
 *
 * @param {any} body
 * @param {any} options
 * @param {{ chat: any, countText: (text: string) => number, countMessages: Function }} ways
 */
function countRequest(body, options = {}, ways) {
  checkObject(body, 'body', 'the body of a request (an object)')
  checkKnown(options, OPTIONS)
  const { api = apiOf(body), ...rest } = options
  if (!APIS.includes(api)) throw wrongValue('api', `one of ${APIS.join(', ')}`, api)
  const { imageSize, partTokens } = rest
  for (const [name, value] of Object.entries({ imageSize, partTokens }))
    if (value !== undefined && typeof value !== 'function') throw wrongType(name, 'a function', value)
  return { ...countBy(api, body, rest, ways), api }
}

function countBy(api, body, options, { chat, countText, countMessages }) {
  const model = options.model ?? body.model
  if (isClaude(model)) return countClaude({ ...chatOf(api, body), model }, options, countText)
  if (chat.countRequest === undefined) return rendered(chatOf(api, body), chat, countMessages)
  if (api === 'openai-responses') return chat.countResponses(body, options, countText)
  return chat.countRequest(chatOf(api, body), options, countText)
}

/** The API that has the fields of a body. */
function apiOf(body) {
  if (body.input !== undefined || body.instructions !== undefined) return 'openai-responses'
  const hasBlocks = (message) => Array.isArray(message?.content) && message.content.some(isBlock)
  const isAnthropic =
    body.system !== undefined ||
    body.tools?.some?.((tool) => tool?.input_schema !== undefined || VERSIONED.test(tool?.type)) ||
    (isArray(body.messages) && body.messages.some(hasBlocks))
  return isAnthropic ? 'anthropic' : 'openai-chat'
}

/** Tools of Anthropic, such as `web_search_20250305`. */
const VERSIONED = /_20\d{6}$/
const BLOCKS = /tool_use$|tool_result$|^(redacted_thinking|search_result|container_upload|compaction)$/

/** Whether a part of a message is a block that only Anthropic's API has. */
function isBlock(block) {
  const { type, source, thinking } = block ?? {}
  if (type === 'image' || type === 'document') return typeof source === 'object' && source !== null
  return type === 'thinking' ? typeof thinking === 'string' : BLOCKS.test(type)
}

/** The body in the form of chat completions. */
function chatOf(api, body) {
  if (api === 'openai-chat') return body
  const { tools, ...rest } = body
  const messages = api === 'anthropic' ? fromAnthropic(body) : fromResponses(body)
  if (tools === undefined || tools === null) return { ...rest, messages }
  return { ...rest, messages, tools: api === 'anthropic' ? toolsFromAnthropic(tools) : toolsFromResponses(tools) }
}

/**
 * What a server counts that renders the template. As vLLM does, it parses the arguments of calls,
 * which templates expect as objects, and joins the texts of a message.
 */
function rendered(body, chat, countMessages) {
  const { messages, tools, documents } = body
  if (!isArray(messages)) throw wrongType('messages', 'an array of objects', messages)
  const estimated = []
  const given = messages.flatMap((message, i) => forTemplate(message, `messages[${i}]`, chat, estimated))
  const isContinued = body.continue_final_message === true
  const { tokens } = countMessages(given, {
    tools: tools?.length > 0 ? tools : undefined,
    documents: documents ?? undefined,
    chatTemplate: body.chat_template ?? undefined,
    addGenerationPrompt: body.add_generation_prompt ?? !isContinued,
    continueFinalMessage: isContinued,
    variables: variablesOf(body),
    // Servers encode the whole text; only the library of the harmony format knows what is content.
    content: chat.hasOneCallPerMessage ? 'text' : 'parse',
  })
  return { tokens, estimated }
}

function variablesOf({ chat_template_kwargs: variables, reasoning_effort: effort }) {
  const others = variables ?? undefined
  if (others !== undefined) checkObject(others, 'chat_template_kwargs')
  return effort === undefined || effort === null ? others : { reasoning_effort: effort, ...others }
}

function forTemplate(message, location, chat, estimated) {
  if (typeof message !== 'object' || message === null) throw wrongType(location, 'a message (an object)', message)
  const { content, tool_calls: calls } = message
  const parts = Array.isArray(content) ? content : []
  const isText = parts.every((part) => typeof part?.text === 'string')
  parts.forEach((part, i) => {
    if (typeof part?.text !== 'string') estimated.push(`${location}.content[${i}] (only its placeholder is counted)`)
  })
  const said = Array.isArray(content) && isText ? { content: parts.map(({ text }) => text).join('\n') } : {}
  if (!Array.isArray(calls) || calls.length === 0) return [{ ...message, ...said }]
  const made = calls.map((call) =>
    typeof call?.function?.arguments === 'string'
      ? { ...call, function: { ...call.function, arguments: parsed(call.function.arguments) } }
      : call,
  )
  if (!chat.hasOneCallPerMessage) return [{ ...message, ...said, tool_calls: made }]
  // The first message keeps the texts.
  return calls.map((call, i) => ({ ...message, ...(i === 0 ? said : { content: null }), tool_calls: [call] }))
}

module.exports = { countRequest }
