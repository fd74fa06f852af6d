'use strict'

// What a request with functions counts as. OpenAI does not document it; these are the figures that the community measured:
// functions reach the model as declarations in TypeScript within the system message, and messages have tokens around them.

const AROUND = { message: 3, name: 1, call: 3, request: 3, definitions: 9, chosen: 4, none: 1 }
/** A function's answer has fewer tokens around it; definitions share the system message's. */
const SAVED = { functionAnswer: 2, systemMessage: 4 }

/** How many tokens a request has, by `count`, which counts a text. */
function countRequest({ messages, functions, function_call: chosen }, count) {
  const hasFunctions = functions !== undefined && functions.length > 0
  const system = messages.findIndex((message) => message.role === 'system')
  let tokens = AROUND.request
  for (const [index, message] of messages.entries()) {
    tokens += countMessage(hasFunctions && index === system ? withLineEnd(message) : message, count)
  }
  if (hasFunctions) {
    tokens += count(declarations(functions)) + AROUND.definitions
    if (system !== -1) tokens -= SAVED.systemMessage
  }
  if (chosen === 'none') tokens += AROUND.none
  else if (typeof chosen === 'object' && chosen?.name) tokens += count(chosen.name) + AROUND.chosen
  return tokens
}

const withLineEnd = (message) =>
  message.content && !message.content.endsWith('\n') ? { ...message, content: `${message.content}\n` } : message

function countMessage({ role, content, name, function_call: call }, count) {
  let tokens = AROUND.message
  for (const text of [role, content, name, call?.name, call?.arguments]) tokens += text ? count(text) : 0
  if (name) tokens += AROUND.name
  if (call) tokens += AROUND.call
  return role === 'function' ? tokens - SAVED.functionAnswer : tokens
}

/** The functions as the model sees them. */
function declarations(functions) {
  const one = ({ name, description, parameters }) => {
    const has = Object.keys(parameters?.properties ?? {}).length > 0
    const type = has ? `type ${name} = (_: {\n${members(parameters, 0)}\n}) => any;` : `type ${name} = () => any;`
    return `${description ? `// ${description}\n` : ''}${type}\n`
  }
  return ['namespace functions {', '', ...functions.map(one), '} // namespace functions'].join('\n')
}

/** The properties of an object, one a line; those far inside lose their description. */
function members({ properties = {}, required = [] }, indent) {
  const space = ' '.repeat(indent)
  const lines = Object.entries(properties).map(([name, property]) => {
    const note = property.description && indent < 2 ? `${space}// ${property.description}\n` : ''
    return `${note}${space}${name}${required.includes(name) ? '' : '?'}: ${typeOf(property, indent)},`
  })
  return lines.join('\n')
}

function typeOf(property, indent) {
  const { type, enum: values } = property
  if (type === 'string') return values?.map((value) => JSON.stringify(value)).join(' | ') ?? 'string'
  if (type === 'integer' || type === 'number') return values?.join(' | ') ?? 'number'
  if (type === 'boolean' || type === 'null') return type
  if (type === 'array') return property.items ? `${typeOf(property.items, indent)}[]` : 'any[]'
  if (type === 'object') return `{\n${members(property, indent + 2)}\n${' '.repeat(indent)}}`
  return 'any'
}

module.exports = { countRequest }
