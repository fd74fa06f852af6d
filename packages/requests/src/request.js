'use strict'

// Counts the JSON body of a request: to OpenAI's chat completions, Responses, embeddings and
// completions, to Anthropic's messages, to Gemini, and to servers that render the chat template of
// a model (vLLM, llama.cpp, Ollama).

const {
  conversation: { refuseLangChain },
  errors: { wrongType, wrongValue },
  options: { checkKnown, checkObject },
  reading: { fieldsOf, placeOf },
  realm: { isArray },
  shape: { object },
} = require('tokenlane/internal/requests.js')

const { messagesOfAnthropic, toolsOfAnthropic } = require('./adapters/anthropic.js')
const { messagesOfResponses, toolsOfResponses } = require('./adapters/openai.js')
const { anthropic, chat: ofChat, completions, embeddings, gemini, responses } = require('./shapes.js')
const { VERSIONED, countClaude, isClaude } = require('./claude.js')
const { countGemini } = require('./gemini.js')
const { jsonText, parsed } = require('./json-text.js')
const { OpenAiCounter } = require('./openai.js')
const { Tally } = require('./tally.js')
const { chatFormatOf, hasVocabularyOfGemini, textCounter } = require('./tokenizer.js')

/** The APIs that take texts or ids, with the fields that have them. */
const TEXTS = { 'openai-embeddings': 'input', 'openai-completions': 'prompt' }
const SHAPES = {
  'openai-chat': ofChat,
  'openai-responses': responses,
  anthropic,
  gemini,
  'openai-embeddings': embeddings,
  'openai-completions': completions,
}
const APIS = Object.keys(SHAPES)
/** The fields that are read of a body; those after the first tell the API. */
const READ = [...new Set([...APIS.flatMap((api) => Object.keys(SHAPES[api])), 'encoding_format', 'dimensions'])]
const FIELDS = ['messages', 'contents', 'input', 'instructions', 'prompt', 'previous_response_id', 'conversation']
const OPTIONS = ['api', 'model', 'imageSize', 'partTokens']

/**
 * Counts a body as `{ tokens, estimated, api }`.
 *
 * @param {any} tokenizer
 * @param {any} given the body
 * @param {any} [options]
 */
function countRequest(tokenizer, given, options) {
  const { tokens, tally, api } = measureRequest(tokenizer, given, options)
  return { tokens, estimated: tally.estimated(), api }
}

/**
 * Counts a body as `{ tokens, tally, api }`: the tally has the amounts of its parts.
 *
 * @param {any} tokenizer
 * @param {any} given the body
 * @param {any} options
 */
function measureRequest(tokenizer, given, options = {}) {
  const format = chatFormatOf(tokenizer)
  checkObject(given, 'body', 'the body of a request (an object)')
  checkKnown(options, OPTIONS)
  const body = fieldsOf(given, READ)
  const { api = apiOf(body), ...rest } = options
  if (!FIELDS.some((name) => body[name] !== undefined && body[name] !== null))
    throw wrongValue('body', `the body of a request with ${FIELDS.join(', ')}`, given)
  if (!APIS.includes(api)) throw wrongValue('api', `one of ${APIS.join(', ')}`, api)
  const { model, imageSize, partTokens } = rest
  if (model !== undefined && typeof model !== 'string') throw wrongType('model', 'a string', model)
  for (const [name, value] of Object.entries({ imageSize, partTokens }))
    if (value !== undefined && typeof value !== 'function') throw wrongType(name, 'a function', value)
  if (isArray(body.messages)) body.messages.forEach((message, i) => refuseLangChain(message, `messages[${i}]`))
  object(SHAPES[api])(body, '')
  if (body.messages?.length === 0) throw wrongValue('messages', 'at least one message', body.messages)
  return { ...countBy(api, body, rest, { format, tokenizer }), api }
}

function countBy(api, body, options, { format, tokenizer }) {
  const model = options.model ?? body.model
  const countText = textCounter(tokenizer)
  const openAi = format.kind === 'openai' ? new OpenAiCounter(format, countText) : undefined
  if (Object.hasOwn(TEXTS, api)) {
    const tokens = countTexts(body[TEXTS[api]], countText)
    const tally = new Tally()
    if (openAi?.isOther(model)) tally.note('model', 'text', 'the model is not known to have this encoding')
    return { tokens, tally }
  }
  if (api === 'gemini') {
    const isOther = format.kind !== 'template' || !hasVocabularyOfGemini(tokenizer)
    return countGemini(body, model, { ...options, isOther }, textCounter(tokenizer, { addSpecialTokens: false }))
  }
  if (isClaude(model)) return countClaude({ ...chatOf(api, body), model }, body, options, countText)
  if (openAi === undefined) return rendered(chatOf(api, body), format, tokenizer)
  return api === 'openai-responses' ? openAi.responses(body, options) : openAi.chat(chatOf(api, body), options)
}

/** The API that has the fields of a body. */
function apiOf(body) {
  if (body.messages === undefined && body.contents !== undefined) return 'gemini'
  if (body.messages === undefined && hasTexts(body)) return 'openai-embeddings'
  if (body.messages === undefined && hasPrompt(body)) return 'openai-completions'
  if (body.input !== undefined || body.instructions !== undefined) return 'openai-responses'
  const hasBlocks = (message) => isArray(message?.content) && message.content.some(isBlock)
  const isTool = (tool) => tool?.input_schema !== undefined || matches(VERSIONED, tool?.type)
  const isAnthropic =
    body.system !== undefined ||
    (isArray(body.tools) && body.tools.some(isTool)) ||
    (isArray(body.messages) && body.messages.some(hasBlocks))
  return isAnthropic ? 'anthropic' : 'openai-chat'
}

const matches = (pattern, value) => typeof value === 'string' && pattern.test(value)

/** Whether the input is that of embeddings: texts, ids, or one text for such a model. */
function hasTexts({ input, model, encoding_format: format, dimensions }) {
  if (typeof input === 'string') return format !== undefined || dimensions !== undefined || matches(/embed/i, model)
  return isArray(input) && input.length > 0 && isTextOrIds(input[0])
}

/** Responses have a prompt too, which is an object. */
const hasPrompt = ({ input, prompt }) => input === undefined && (typeof prompt === 'string' || isArray(prompt))
const isTextOrIds = (one) => typeof one === 'string' || typeof one === 'number' || isArray(one)

/** Counts a text, a list of ids, or a list of these. */
function countTexts(given, countText) {
  if (typeof given === 'string') return countText(given)
  const tokensOf = (one) => (typeof one === 'number' ? 1 : typeof one === 'string' ? countText(one) : one.length)
  return given.reduce((sum, one) => sum + tokensOf(one), 0)
}

const BLOCKS = /tool_use$|tool_result$|^(redacted_thinking|search_result|container_upload|compaction)$/

/** Whether a part of a message is a block that only Anthropic's API has. */
function isBlock(block) {
  if (typeof block !== 'object' || block === null) return false
  const { type, thinking } = block
  if (type === 'image' || type === 'document') return Object.hasOwn(block, 'source')
  return type === 'thinking' ? !isArray(thinking) : matches(BLOCKS, type)
}

/** The body in the form of chat completions. */
function chatOf(api, body) {
  if (api === 'openai-chat') return body
  const { tools, ...rest } = body
  const messages = api === 'anthropic' ? messagesOfAnthropic(body) : messagesOfResponses(body)
  if (tools === undefined || tools === null) return { ...rest, messages }
  return {
    ...rest,
    messages,
    tools: api === 'anthropic' ? toolsOfAnthropic(tools) : toolsOfResponses(tools),
  }
}

/**
 * What a server counts that renders the template. As vLLM does, it parses the arguments of calls,
 * which templates expect as objects, and joins the texts of a message.
 */
function rendered(body, format, tokenizer) {
  const { messages, tools, documents } = body
  // A message of harmony has one call.
  const isHarmony = format.kind === 'harmony'
  const tally = new Tally()
  const given = messages.flatMap((message, i) => forTemplate(message, `messages[${i}]`, isHarmony, tally))
  const isContinued = body.continue_final_message === true
  if (isContinued && body.add_generation_prompt === true)
    throw wrongValue('continue_final_message', 'false with add_generation_prompt', true)
  const tokens = tokenizer.countChat(given, {
    tools: tools?.length > 0 ? tools : undefined,
    documents: documents ?? undefined,
    chatTemplate: body.chat_template ?? undefined,
    addGenerationPrompt: body.add_generation_prompt ?? !isContinued,
    continueFinalMessage: isContinued,
    variables: variablesOf(body),
    // Servers encode the whole text; only the library of the harmony format knows what is content.
    content: isHarmony ? 'text' : 'parse',
  })
  return { tokens, tally }
}

function variablesOf({ chat_template_kwargs: variables, reasoning_effort: effort }) {
  const others = variables ?? undefined
  return effort === undefined || effort === null ? others : { reasoning_effort: effort, ...others }
}

function forTemplate(message, otherwise, isHarmony, tally) {
  const location = placeOf(message, otherwise)
  const { content, tool_calls: calls } = message
  const texts = Array.isArray(content)
    ? content.map((part) => (typeof part === 'string' ? part : (part.text ?? part.refusal)))
    : []
  texts.forEach((text, i) => {
    const place = placeOf(content[i], `${location}.content[${i}]`)
    if (typeof text !== 'string') tally.note(place, 'image', 'only its placeholder is counted')
  })
  const isText = texts.every((text) => typeof text === 'string')
  const said = Array.isArray(content) ? { content: isText ? texts.join('\n') : withoutData(content, location) } : {}
  if (!Array.isArray(calls) || calls.length === 0) return [{ ...message, ...said }]
  const made = calls.map((call) =>
    typeof call.function?.arguments === 'string'
      ? { ...call, function: { ...call.function, arguments: parsed(call.function.arguments) } }
      : call,
  )
  if (!isHarmony) return [{ ...message, ...said, tool_calls: made }]
  // The first message keeps the texts.
  return calls.map((call, i) => ({ ...message, ...(i === 0 ? said : { content: null }), tool_calls: [call] }))
}

const DATA = ['url', 'image_url', 'data', 'file_data', 'encrypted_content']

/** A server takes images out of the parts, so a template that prints the parts has no data. */
const withoutData = (parts, location) =>
  JSON.parse(
    jsonText(parts, location, (name, value) => (DATA.includes(name) && typeof value === 'string' ? '' : value)),
  )

module.exports = { countRequest, measureRequest }
