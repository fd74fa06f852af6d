'use strict'

// Counts the tokens of a request with functions. OpenAI does not document the format; these
// constants were measured by the community. The model receives functions as TypeScript declarations
// in the system message, and each message has additional tokens.

const OVERHEAD = { message: 3, name: 1, call: 3, request: 3, definitions: 9, chosen: 4, none: 1 }
/**
 * Answers of functions have less overhead; definitions share the overhead of the system message.
 */
const SAVED = { functionAnswer: 2, systemMessage: 4 }

/** Returns the number of tokens of a request. `count` returns the number of tokens of a text. */
function countRequest({ messages, functions, function_call: chosen }, count) {
  const hasFunctions = functions !== undefined && functions.length > 0
  const system = messages.findIndex((message) => message.role === 'system')
  let tokens = OVERHEAD.request
  for (const [index, message] of messages.entries()) {
    tokens += countMessage(hasFunctions && index === system ? withLineEnd(message) : message, count)
  }
  if (hasFunctions) {
    tokens += count(declarations(functions)) + OVERHEAD.definitions
    if (system !== -1) tokens -= SAVED.systemMessage
  }
  if (chosen === 'none') tokens += OVERHEAD.none
  else if (typeof chosen === 'object' && chosen?.name) tokens += count(chosen.name) + OVERHEAD.chosen
  return tokens
}

const withLineEnd = (message) =>
  message.content && !message.content.endsWith('\n') ? { ...message, content: `${message.content}\n` } : message

function countMessage({ role, content, name, function_call: call }, count) {
  let tokens = OVERHEAD.message
  for (const text of [role, content, name, call?.name, call?.arguments]) tokens += text ? count(text) : 0
  if (name) tokens += OVERHEAD.name
  if (call) tokens += OVERHEAD.call
  return role === 'function' ? tokens - SAVED.functionAnswer : tokens
}

/** The TypeScript declarations of functions in the form that the model receives. */
function declarations(functions) {
  const one = ({ name, description, parameters }) => {
    const has = Object.keys(parameters?.properties ?? {}).length > 0
    const type = has ? `type ${name} = (_: {\n${members(parameters, 0)}\n}) => any;` : `type ${name} = () => any;`
    return `${description ? `// ${description}\n` : ''}${type}\n`
  }
  return ['namespace functions {', '', ...functions.map(one), '} // namespace functions'].join('\n')
}

/** The properties of an object, one in each line. Only the outermost level has descriptions. */
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
