'use strict'

// Messages of Anthropic's API.

const {
  options: { checkObject },
  reading: { copyOf, fieldsOf, placed, withOrigin },
  shape: { object },
} = require('tokenlane/internal/requests.js')

const { defined } = require('./openai.js')
const { asText, assistant, blocksOf, call, contentOf, image, result, text } = require('./shared.js')
const { anthropic, anthropicTools } = require('../shapes.js')

/** The messages of a request to Anthropic's API: its `system` and its `messages`. */
function fromAnthropic(request) {
  checkObject(request, 'body', "the body of a request to Anthropic's API (an object)")
  const { system, messages } = anthropic
  const body = fieldsOf(request, ['system', 'messages'])
  object({ system, messages })(body, '')
  return messagesOfAnthropic(body)
}

/** The messages of a body that was checked. Each has the place of what it was made from. */
function messagesOfAnthropic({ system, messages }) {
  const said = contentOf(partsOf(system))
  const first = said === '' ? [] : [placed({ role: 'system', content: said }, 'system')]
  return [...first, ...messages.flatMap((message) => messagesOf(message))]
}

/** A message of a user holds results of tools, which are messages of their own, before its text. */
function messagesOf(message) {
  const { role, content } = message
  const blocks = blocksOf(content)
  // It only has settings, such as the format of the answer.
  if (role === 'system' && blocks.length === 0) return []
  if (role === 'assistant') {
    const calls = blocks
      .filter(({ type }) => type === 'tool_use')
      .map((block) => withOrigin(call(block.id, block.name, block.input), block))
    const reasoning = blocks.filter(({ type }) => type === 'thinking').map(({ thinking }) => thinking)
    const parts = partsOf(blocks.filter(({ type }) => !NO_PARTS.includes(type)))
    return [withOrigin(assistant({ parts, calls, reasoning: reasoning.join('\n') }), message)]
  }
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const others = blocks.filter(({ type }) => type !== 'tool_result')
  const messages = results.map((block) =>
    withOrigin(result(block.tool_use_id, contentOf(partsOf(block.content))), block),
  )
  return others.length === 0 && results.length > 0
    ? messages
    : [...messages, withOrigin({ role, content: contentOf(partsOf(others)) }, message)]
}

const NO_PARTS = ['tool_use', 'thinking', 'redacted_thinking']

function partsOf(content) {
  return blocksOf(content).flatMap((block) => partOf(block))
}

/** Documents and results of a search become the texts and images in them. */
function partOf(block) {
  if (typeof block.text === 'string') return [text(block.text)]
  const { type, source } = block
  if (type === 'image') return [withOrigin(image(urlOfSource(source)), block)]
  if (type === 'search_result') return [...lines([block.title, source]), ...partsOf(block.content)]
  if (type === 'document' && (source.type === 'text' || source.type === 'content')) {
    const said = source.type === 'text' ? [text(asText(source.data))] : partsOf(source.content)
    return [...lines([block.title, block.context]), ...said]
  }
  return [block]
}

/** The lines that the model reads above a document. */
const lines = (given) => given.filter((one) => typeof one === 'string' && one !== '').map((one) => text(`${one}\n`))

function urlOfSource({ type, url, data, media_type: mediaType, file_id: file }) {
  return type === 'base64' ? `data:${mediaType};base64,${data}` : (url ?? file)
}

/** The tools of a request to Anthropic's API, in the form of chat completions. */
function toolsFromAnthropic(tools) {
  const declared = copyOf(tools, 'tools')
  anthropicTools(declared, 'tools')
  return toolsOfAnthropic(declared)
}

/** The tools of a body that was checked. */
function toolsOfAnthropic(tools) {
  return tools.map((tool) => {
    const { name, description, input_schema: parameters } = tool
    if (parameters === undefined) return tool
    return withOrigin({ type: 'function', function: defined({ name, description, parameters }) }, tool)
  })
}

module.exports = { fromAnthropic, messagesOfAnthropic, toolsFromAnthropic, toolsOfAnthropic }
