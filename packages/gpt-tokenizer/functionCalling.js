'use strict'

const { boundedArray, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { typeError } = require('tokenlane/internal/dropins/errors.js')

// Counts the tokens of a request with functions. OpenAI does not document the format; these
// constants were measured by the community. The model receives functions as TypeScript declarations
// in the system message, and each message has additional tokens.

exports.MESSAGE_TOKEN_OVERHEAD = 3
exports.MESSAGE_NAME_TOKEN_OVERHEAD = 1
exports.FUNCTION_CALL_METADATA_TOKEN_OVERHEAD = 3
exports.COMPLETION_REQUEST_TOKEN_OVERHEAD = 3
exports.FUNCTION_DEFINITION_TOKEN_OVERHEAD = 9
exports.FUNCTION_CALL_NAME_TOKEN_OVERHEAD = 4
exports.FUNCTION_CALL_NONE_TOKEN_OVERHEAD = 1
/** Answers of functions have less overhead. */
exports.FUNCTION_ROLE_TOKEN_DISCOUNT = 2
/** Definitions share the overhead of the system message. */
exports.SYSTEM_FUNCTION_TOKEN_DEDUCTION = 4

function functionOf(value) {
  if (typeof value !== 'function') throw typeError('an argument must be a function')
  return value
}

/** Returns the number of tokens of a request. */
function computeChatCompletionTokenCount({ messages, functions, function_call: chosen }, countStringTokens) {
  const hasFunctions = Boolean(functions) && functions.length > 0
  let tokens = exports.COMPLETION_REQUEST_TOKEN_OVERHEAD
  let hasSystem = false
  for (const message of boundedArray(messages, 'messages')) {
    tokens += countMessageTokens(padSystemMessage(message, hasFunctions, hasSystem), countStringTokens)
    hasSystem ||= message.role === 'system'
  }
  if (hasFunctions) {
    tokens += estimateTokensInFunctions(functions, countStringTokens)
    if (hasSystem) tokens -= exports.SYSTEM_FUNCTION_TOKEN_DEDUCTION
  }
  if (chosen === 'none') tokens += exports.FUNCTION_CALL_NONE_TOKEN_OVERHEAD
  else if (typeof chosen === 'object' && chosen?.name)
    tokens += countStringTokens(chosen.name) + exports.FUNCTION_CALL_NAME_TOKEN_OVERHEAD
  return tokens
}

/** The system message before definitions of functions ends with a line end. */
function padSystemMessage(message, hasFunctions, isSystemPadded) {
  if (!hasFunctions || isSystemPadded || message.role !== 'system') return message
  return message.content && !message.content.endsWith('\n') ? { ...message, content: `${message.content}\n` } : message
}

function countMessageTokens(message, countStringTokens) {
  const { role, content, name, function_call: call } = message
  let tokens = exports.MESSAGE_TOKEN_OVERHEAD
  for (const text of [role, content, name, call?.name, call?.arguments]) tokens += text ? countStringTokens(text) : 0
  if (name) tokens += exports.MESSAGE_NAME_TOKEN_OVERHEAD
  if (call) tokens += exports.FUNCTION_CALL_METADATA_TOKEN_OVERHEAD
  return role === 'function' ? tokens - exports.FUNCTION_ROLE_TOKEN_DISCOUNT : tokens
}

const estimateTokensInFunctions = (functions, countStringTokens) =>
  functionOf(countStringTokens)(formatFunctionDefinitions(functions)) + exports.FUNCTION_DEFINITION_TOKEN_OVERHEAD

/** The TypeScript declarations of functions in the form that the model receives. */
function formatFunctionDefinitions(functions) {
  const one = ({ name, description, parameters }) => {
    primitive(name, 'the name of a function')
    primitive(description, 'a description')
    const has = Object.keys(parameters?.properties ?? {}).length > 0
    const members = has && formatObjectProperties(parameters, 0, formatFunctionType)
    const type = has ? `type ${name} = (_: {\n${members}\n}) => any;` : `type ${name} = () => any;`
    return `${description ? `// ${description}\n` : ''}${type}\n`
  }
  return [
    'namespace functions {',
    '',
    ...boundedArray(functions, 'functions').map(one),
    '} // namespace functions',
  ].join('\n')
}

/** The properties of an object, one in each line. Only the outermost level has descriptions. */
function formatObjectProperties(obj, indent, formatType) {
  const format = functionOf(formatType)
  const space = ' '.repeat(primitive(indent, 'indent'))
  const required = obj.required && boundedArray(obj.required, 'required')
  const lines = Object.entries(obj.properties ?? {}).map(([name, property]) => {
    const { description } = property
    const note = description && indent < 2 ? `${space}// ${primitive(description, 'a description')}\n` : ''
    return `${note}${space}${name}${required?.includes(name) ? '' : '?'}: ${format(property, indent)},`
  })
  return lines.join('\n')
}

function formatFunctionType(param, indent) {
  const { type, enum: listed } = param
  const values = listed && boundedArray(listed, 'enum').map((value) => primitive(value, 'a value of enum'))
  if (type === 'string') return values?.map((value) => JSON.stringify(value)).join(' | ') ?? 'string'
  if (type === 'integer' || type === 'number') return values?.join(' | ') ?? 'number'
  if (type === 'boolean' || type === 'null') return type
  if (type === 'array') return param.items ? `${formatFunctionType(param.items, indent)}[]` : 'any[]'
  if (type !== 'object') return 'any'
  return `{\n${formatObjectProperties(param, indent + 2, formatFunctionType)}\n${' '.repeat(indent)}}`
}

exports.computeChatCompletionTokenCount = computeChatCompletionTokenCount
exports.countMessageTokens = countMessageTokens
exports.estimateTokensInFunctions = estimateTokensInFunctions
exports.formatFunctionDefinitions = formatFunctionDefinitions
exports.formatFunctionType = formatFunctionType
exports.formatObjectProperties = formatObjectProperties
exports.padSystemMessage = padSystemMessage
