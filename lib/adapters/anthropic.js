'use strict'

// Messages of Anthropic's API.

const {
  asText,
  assistant,
  blocksOf,
  call,
  checkContent,
  contentOf,
  image,
  listOf,
  result,
  text,
} = require('./shared.js')
const { defined } = require('./openai.js')

/** The messages of a request to Anthropic's API: its `system` and its `messages`. */
function fromAnthropic({ system, messages }) {
  const said = contentOf(partsOf(system))
  const first = said === '' ? [] : [{ role: 'system', content: said }]
  return [
    ...first,
    ...listOf(messages).flatMap((message, i) => {
      if (message.role !== 'system') checkContent(message, `messages[${i}]`, 'Anthropic')
      return messagesOf(message)
    }),
  ]
}

/** A message of a user holds results of tools, which are messages of their own, before its text. */
function messagesOf({ role, content }) {
  const blocks = blocksOf(content)
  // It only has settings, such as the format of the answer.
  if (role === 'system' && blocks.length === 0) return []
  if (role === 'assistant') {
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id, name, input }) => call(id, name, input))
    const reasoning = blocks.filter(({ type }) => type === 'thinking').map(({ thinking }) => thinking)
    const parts = partsOf(blocks.filter(({ type }) => !NO_PARTS.includes(type)))
    return [assistant({ parts, calls, reasoning: reasoning.join('\n') })]
  }
  const results = blocks.filter(({ type }) => type === 'tool_result')
  const others = blocks.filter(({ type }) => type !== 'tool_result')
  const messages = results.map((one) => result(one.tool_use_id, contentOf(partsOf(one.content))))
  return others.length === 0 && results.length > 0
    ? messages
    : [...messages, { role, content: contentOf(partsOf(others)) }]
}

/** @type {any} */
const NO_SOURCE = {}
const NO_PARTS = ['tool_use', 'thinking', 'redacted_thinking']

function partsOf(content) {
  return blocksOf(content).flatMap(partOf)
}

/** Documents and results of a search become the texts and images in them. */
function partOf(block) {
  if (typeof block.text === 'string') return [text(block.text)]
  const { type, source } = block
  if (type === 'image') return [image(urlOfSource(source))]
  if (type === 'search_result') return [...lines([block.title, source]), ...partsOf(block.content)]
  if (type === 'document' && (source?.type === 'text' || source?.type === 'content')) {
    const said = source.type === 'text' ? [text(asText(source.data))] : partsOf(source.content)
    return [...lines([block.title, block.context]), ...said]
  }
  return [block]
}

/** The lines that the model reads above a document. */
const lines = (given) => given.filter((one) => typeof one === 'string' && one !== '').map((one) => text(`${one}\n`))

function urlOfSource(source) {
  const { type, url, data, media_type: mediaType, file_id: file } = source ?? NO_SOURCE
  return type === 'base64' ? `data:${mediaType};base64,${data}` : (url ?? file)
}

/** The tools of a request to Anthropic's API, in the form of chat completions. */
function toolsFromAnthropic(tools) {
  return listOf(tools, 'tools').map((tool) => {
    const { name, description, input_schema: parameters } = tool
    return parameters === undefined ? tool : { type: 'function', function: defined({ name, description, parameters }) }
  })
}

module.exports = { fromAnthropic, toolsFromAnthropic }
