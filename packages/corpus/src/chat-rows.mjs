// The shapes in which rows have chats, as messages with roles; and which of the messages are
// learned.
//
//   messages   [{ role, content }, …], or its JSON
//   ShareGPT   [{ from, value }, …]
//   with the option completion: two of these, or a question and an answer as texts

import { Failure, fieldFailure } from 'tokenlane/internal/files.mjs'
import { LEARNED } from 'tokenlane/internal/corpus.js'
import { parsePythonJson } from './python-json.mjs'
import { isObject } from './values.mjs'

const { ALWAYS, MARKED, NOTHING } = LEARNED
/** Maximum number of fields of a message that an error names. */
const MAX_NAMED = 8
/** The roles of answers. */
const ASSISTANTS = ['assistant', 'model']
/** The roles of messages in ShareGPT. */
const ROLES = Object.fromEntries(
  Object.entries({
    user: 'human user',
    assistant: 'gpt chatgpt bing bard model assistant function_call',
    system: 'system',
    tool: 'tool function observation function_response',
  }).flatMap(([role, names]) => names.split(' ').map((name) => [name, role])),
)
/** Fields of rows of other shapes, and the options that read them. */
const SHAPES = [
  { names: ['conversations'], use: '--messages conversations' },
  { names: ['prompt', 'completion'], use: '--messages prompt --completion completion' },
  { names: ['prompt', 'chosen'], use: '--messages prompt --completion chosen' },
  { names: ['chosen'], use: '--messages chosen' },
  { names: ['messages'], use: '--messages messages' },
]

/**
 * The messages of a row, and the number of those that only lead to its completion.
 *
 * @param {{ messages: any, completion?: any, row?: any }} values of the fields; the row for errors
 * @param {import('./options.mjs').Content} content
 */
export function messagesOf({ messages: given, completion: answer, row }, content) {
  const { messages: field, completion } = content
  if (completion === undefined) return { messages: listOf(given, { field, row }), before: 0 }
  const prompt = listOf(given, { field, row, role: 'user' })
  return { messages: [...prompt, ...listOf(answer, { field: completion, role: 'assistant' })], before: prompt.length }
}

/** Whether a text is JSON of messages. Other texts may start with a bracket, too. */
function hasMessages(text) {
  try {
    const value = JSON.parse(text)
    return Array.isArray(value) && value.length > 0 && value.every(isObject)
  } catch {
    return false
  }
}

/** The messages of a field. With a role, a text that is no JSON of them is one of this role. */
function listOf(given, { field, row = undefined, role = undefined }) {
  if (role !== undefined && typeof given === 'string' && !hasMessages(given)) return [{ role, content: given }]
  const messages = ofJson(given, field)
  if (!Array.isArray(messages)) throw notMessages(field, messages, row, role)
  if (messages.length === 0) throw new Failure('FIELD', `the field '${field}' has no messages`)
  return messages.map((message, index) => withRole(message, index, field))
}

function notMessages(field, value, row, role) {
  const failure = fieldFailure(field, `${role === undefined ? '' : 'a text or '}an array of messages`, value, row)
  const shape = SHAPES.find(({ names }) => isObject(row) && names.every((name) => row[name] !== undefined))
  return value !== undefined || shape === undefined
    ? failure
    : new Failure('FIELD', `${failure.message}; the row has ${shape.names.join(' and ')}: use ${shape.use}`)
}

/** A message with a role. */
function withRole(message, index, field) {
  if (isObject(message) && (typeof message.role === 'string' || isObject(message.author))) return message
  if (!isObject(message) || typeof message.from !== 'string' || message.value === undefined) {
    const fields = isObject(message) ? Object.keys(message).slice(0, MAX_NAMED).join(', ') || 'no field' : undefined
    const names = fields === undefined ? 'not an object' : `only ${fields}`
    throw new Failure('FIELD', `message ${index} of the field '${field}' must have a role, but it has ${names}`)
  }
  const { from, value, ...others } = message
  // Tables have the fields of all their rows, so others may have null for these.
  if (Object.hasOwn(ROLES, from)) return { ...others, role: ROLES[from], content: value }
  const known = `which is none of ${Object.keys(ROLES).join(', ')}`
  throw new Failure('FIELD', `message ${index} of the field '${field}' is from '${from.slice(0, 100)}', ${known}`)
}

/** The tools of a row: an array, its JSON, or none. */
export function toolsOf(given, field) {
  const tools = ofJson(given ?? undefined, field)
  if (tools === undefined || tools === null) return undefined
  if (!Array.isArray(tools)) throw fieldFailure(field, 'an array of tools', tools)
  return tools
}

/** A value that may be JSON in a string, as in tables whose rows have different fields. */
function ofJson(value, field) {
  if (typeof value !== 'string') return value
  try {
    JSON.parse(value)
    return parsePythonJson(value)
  } catch (cause) {
    throw new Failure('FIELD', `the field '${field}' is a string that is not JSON: ${cause.message}`, { cause })
  }
}

/**
 * What is learned of each message; `undefined` if it is what the assistant wrote.
 *
 * @param {{ messages: any[], before: number }} chat
 * @param {import('./options.mjs').Content} content
 */
export function choiceOf({ messages, before }, { messages: field, maskRoles, maskTurns, withoutReasoning }) {
  const flags = messages.map((message, index) => flagOf(message, `message ${index} of the field '${field}'`))
  const isChosen = [maskRoles, maskTurns, withoutReasoning].some((option) => option !== undefined) || before > 0
  if (!isChosen && flags.every((flag) => flag === undefined)) return undefined
  const hasRole = ({ role, author }) => (maskRoles ?? ASSISTANTS).includes(role ?? author?.role)
  const first = maskTurns === 'last' ? messages.findLastIndex((message) => !hasRole(message)) + 1 : 0
  const learned = messages.map((message, index) => {
    if (index < Math.max(before, first)) return NOTHING
    if (flags[index] !== undefined) return flags[index]
    return maskRoles === undefined ? MARKED : hasRole(message) ? ALWAYS : NOTHING
  })
  return { learned, withoutReasoning }
}

/** What the flag of a message says: `train` or `training`, or `weight` as in OpenAI's files. */
function flagOf({ train, training, weight: given }, name) {
  const flag = train ?? training ?? undefined
  if (![undefined, true, false].includes(flag))
    throw new Failure('FIELD', `${name} has a flag train that is neither true nor false`)
  // `1.0` and the numbers of some columns of Parquet are objects.
  const weight = isObject(given) ? given.value : (given ?? 1)
  if (weight !== 0 && weight !== 1) throw new Failure('FIELD', `${name} has a weight that is neither 0 nor 1`)
  return weight === 0 || flag === false ? NOTHING : flag === true ? ALWAYS : undefined
}
