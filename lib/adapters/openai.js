'use strict'

// Items of OpenAI's Responses API, and of @openai/agents, which writes their fields in camel case.

const { typeError, wrongValue } = require('../errors.js')
const { checkObject } = require('../options.js')
const { isArray } = require('../realm.js')
const { asText, blocksOf, call, contentOf, image, listOf, result, text } = require('./shared.js')

/**
 * The messages of a request to the Responses API: its `instructions` and its `input`, a text or
 * items. Adjacent calls become one message of the assistant; reasoning goes to the message after
 * it.
 */
function fromResponses(body) {
  checkObject(body, 'body', 'the body of a request to the Responses API (an object with input)')
  const { input, instructions } = body
  if (isArray(body) || body.messages !== undefined)
    throw wrongValue('body', 'the body of a request to the Responses API, with the items in input', body)
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input ?? [], 'input')
  const messages = []
  addTo(messages, instructionsOf(instructions), 'instructions')
  addTo(messages, items, 'input')
  return messages
}

/** A text is a system message. The answers of the API can have items. */
function instructionsOf(instructions) {
  if (instructions === undefined || instructions === null) return []
  return typeof instructions === 'string'
    ? [{ role: 'system', content: instructions }]
    : listOf(instructions, 'instructions')
}

function addTo(messages, items, name) {
  let reasoning = ''
  items.forEach((item, i) => {
    if (item.type === 'reasoning') {
      reasoning = [...blocksOf(item.content), ...blocksOf(item.summary)].map((part) => part.text ?? '').join('\n')
      return
    }
    const message = messageOf(item, `${name}[${i}]`)
    const isOfAssistant = message.role === 'assistant'
    const last = messages.at(-1)
    if (isOfAssistant && message.tool_calls !== undefined && last?.role === 'assistant') {
      last.tool_calls = [...(last.tool_calls ?? []), ...message.tool_calls]
      return
    }
    messages.push(isOfAssistant && reasoning !== '' ? { ...message, reasoning_content: reasoning } : message)
    reasoning = ''
  })
}

/**
 * @param {any} item
 * @param {string} location
 * @returns {any}
 */
function messageOf(item, location) {
  if (typeof item.role === 'string') return { role: item.role, content: contentOf(partsOf(item.content)) }
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
      return {
        role: 'assistant',
        content: null,
        tool_calls: [call(item.call_id ?? item.callId, item.name, item.arguments ?? item.input)],
      }
    case 'function_call_output':
    case 'function_call_result':
    case 'custom_tool_call_output':
      return result(item.call_id ?? item.callId, contentOf(partsOf(item.output)))
    default: {
      const kind = typeof item.type === 'string' ? `an item of the type '${item.type.slice(0, 100)}'` : 'an object'
      throw typeError(
        'ERR_TOKENLANE_ARGUMENT_TYPE',
        `${location} must be a message, a call of a function, its result or reasoning, but it is ${kind}`,
      )
    }
  }
}

function partsOf(content) {
  // A result of @openai/agents may be one part.
  const parts = typeof content?.type === 'string' ? [content] : content
  return blocksOf(parts).map((part) => {
    if (typeof part?.text === 'string') return text(part.text)
    if (part?.type === 'refusal') return text(asText(part.refusal))
    if (part?.type === 'input_image' || part?.type === 'image') return imageOf(part)
    return part
  })
}

function imageOf({ image_url: shown, file_id: file = shown, image: given = file, detail }) {
  const url = shown ?? given?.id ?? given
  return detail === undefined ? image(url) : { type: 'image_url', image_url: { url, detail } }
}

/** The tools of a request to the Responses API, in the form of chat completions. */
function toolsFromResponses(tools) {
  return listOf(tools, 'tools').map((tool) => {
    if (tool.type !== 'function' || tool.function !== undefined) return tool
    const { type, name, description, parameters } = tool
    return { type, function: defined({ name, description, parameters }) }
  })
}

const defined = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

module.exports = { defined, fromResponses, instructionsOf, toolsFromResponses }
