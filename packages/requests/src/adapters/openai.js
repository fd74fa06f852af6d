'use strict'

// Items of OpenAI's Responses API, and of @openai/agents, which writes their fields in camel case.

const {
  errors: { typeError, wrongValue },
  options: { checkObject },
  reading: { copyOf, fieldsOf, placeOf, placed, withOrigin },
  realm: { isArray },
  shape: { object },
} = require('tokenlane/internal/requests.js')

const { asText, assistant, blocksOf, call, contentOf, image, result, text } = require('./shared.js')
const { responses, responsesTools } = require('../shapes.js')

/**
 * The messages of a request to the Responses API: its `instructions` and its `input`, a text or
 * items. Adjacent calls become one message of the assistant; reasoning goes to the message after
 * it.
 */
function fromResponses(body) {
  checkObject(body, 'body', 'the body of a request to the Responses API (an object with input)')
  const { input, instructions, messages } = fieldsOf(body, ['input', 'instructions', 'messages'])
  if (isArray(body) || messages !== undefined)
    throw wrongValue('body', 'the body of a request to the Responses API, with the items in input', body)
  object({ input: responses.input, instructions: responses.instructions })({ input, instructions }, '')
  return messagesOfResponses({ input, instructions })
}

/** The messages of a body that was checked. Each has the place of what it was made from. */
function messagesOfResponses({ input, instructions }) {
  const items = typeof input === 'string' ? [placed({ role: 'user', content: input }, 'input')] : (input ?? [])
  const messages = []
  addTo(messages, instructionsOf(instructions))
  addTo(messages, items)
  return messages
}

/** A text is a system message. The answers of the API can have items. */
function instructionsOf(instructions) {
  if (typeof instructions !== 'string') return instructions ?? []
  return [placed({ role: 'system', content: instructions }, 'instructions')]
}

function addTo(messages, items) {
  let reasoning = ''
  for (const item of items) {
    if (item.type === 'reasoning') {
      reasoning = [...blocksOf(item.content), ...blocksOf(item.summary)].map((part) => part.text ?? '').join('\n')
      continue
    }
    const message = withOrigin(messageOf(item), item)
    const isOfAssistant = message.role === 'assistant'
    const last = messages.at(-1)
    if (isOfAssistant && message.tool_calls !== undefined && last?.role === 'assistant') {
      last.tool_calls = [...(last.tool_calls ?? []), ...message.tool_calls]
      continue
    }
    if (isOfAssistant && reasoning !== '') message.reasoning_content = reasoning
    messages.push(message)
    reasoning = ''
  }
}

/** @returns {any} */
function messageOf(item) {
  if (typeof item.role === 'string') return { role: item.role, content: contentOf(partsOf(item.content)) }
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
      return assistant({
        parts: [],
        calls: [withOrigin(call(item.call_id ?? item.callId, item.name, item.arguments ?? item.input), item)],
      })
    case 'function_call_output':
    case 'function_call_result':
    case 'custom_tool_call_output':
      return result(item.call_id ?? item.callId, contentOf(partsOf(item.output)))
    default: {
      const kind = typeof item.type === 'string' ? `an item of the type '${item.type.slice(0, 100)}'` : 'an object'
      throw typeError(
        'ERR_TOKENLANE_ARGUMENT_TYPE',
        `${placeOf(item)}${item.type === undefined ? '' : '.type'} must be a message, a call of a function, its result or reasoning, but it is ${kind}`,
      )
    }
  }
}

function partsOf(content) {
  // A result of @openai/agents may be one part.
  const isPart = typeof content === 'object' && content !== null && !isArray(content)
  const parts = isPart ? [content] : content
  return blocksOf(parts).map((part) => {
    if (typeof part?.text === 'string') return text(part.text)
    if (part?.type === 'refusal') return text(asText(part.refusal))
    if (part?.type === 'input_image' || part?.type === 'image') return withOrigin(imageOf(part), part)
    return part
  })
}

function imageOf({ image_url: shown, file_id: file = shown, image: given = file, detail }) {
  const url = shown?.url ?? shown ?? given?.id ?? given
  return detail === undefined ? image(url) : { type: 'image_url', image_url: { url, detail } }
}

/** The tools of a request to the Responses API, in the form of chat completions. */
function toolsFromResponses(tools) {
  const declared = copyOf(tools, 'tools')
  responsesTools(declared, 'tools')
  return toolsOfResponses(declared)
}

/** The tools of a body that was checked. */
function toolsOfResponses(tools) {
  return tools.map((tool) => {
    if (tool.type !== 'function' || tool.function !== undefined) return tool
    const { type, name, description, parameters } = tool
    return withOrigin({ type, function: defined({ name, description, parameters }) }, tool)
  })
}

const defined = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

module.exports = {
  defined,
  fromResponses,
  instructionsOf,
  messagesOfResponses,
  toolsFromResponses,
  toolsOfResponses,
}
