'use strict'

// Messages of Anthropic's API.

const { asText, assistant, blocksOf, call, contentOf, image, listOf, result, text } = require('./shared.js')
const { defined } = require('./openai.js')

/** The messages of a request to Anthropic's API: its `system` and its `messages`. */
function fromAnthropic({ system, messages }) {
  const said = contentOf(partsOf(system))
  const first = said === '' ? [] : [{ role: 'system', content: said }]
  return [...first, ...listOf(messages).flatMap(messagesOf)]
}

/** A message of a user holds results of tools, which are messages of their own, before its text. */
function messagesOf({ role, content }) {
  const blocks = blocksOf(content)
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
  return blocksOf(content).map((block) => {
    if (typeof block?.text === 'string') return text(block.text)
    if (block?.type === 'image') return image(urlOfSource(block.source))
    if (block?.type === 'document' && block.source?.type === 'text') return text(asText(block.source.data))
    return block
  })
}

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
