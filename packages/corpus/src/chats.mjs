// Documents that are chats: messages become the text of a chat template, and tokens with a loss
// mask. What renders them is one of the job's options, so that all machines write the same bytes,
// and another template is another job.

import { createHash } from 'node:crypto'

import {
  Failure,
  fileFailure,
  asUtf8Failure,
  checkFinite,
  finiteJson,
  valueAt,
  fieldFailure,
} from 'tokenlane/internal/files.mjs'
import { GENERATION, chatOf, chatOfParts, encodeChat, modules, readRegular } from 'tokenlane/internal/corpus.js'
import { error, wrongValue } from './errors.mjs'
import { joinMask, learnedMask } from './loss-mask.mjs'
import { hasPythonNumbers, parsePythonJson } from './python-json.mjs'
import { hasLossMask } from './tokens.mjs'
import { isObject } from './values.mjs'

/** Maximum size of the templates and tokens in job.json, as characters of JSON. */
const MAX_PARTS = 1 << 19
/** What templates with a date call. */
const CLOCK = 'strftime_now'
const NOT_FINITE = /NaN|Infinity/
/** Maximum number of fields of a message that an error names. */
const MAX_NAMED = 8

/**
 * The options of a job, with what renders its chats.
 *
 * @param {import('tokenlane').Tokenizer} tokenizer
 * @param {import('./options.mjs').Options} options
 * @returns {Promise<import('./options.mjs').Content>}
 */
export async function withChat(tokenizer, { content, template }) {
  if (!hasLossMask(content)) return content
  const own = chatOf(tokenizer)
  const chat =
    template === undefined
      ? usedParts(own.parts, content)
      : { templates: await templateOf(template), tokens: own.tokens ?? {} }
  const complete = { ...content, specialTokens: content.specialTokens ?? /** @type {const} */ ('text'), chat }
  checkChat(complete)
  return complete
}

/**
 * The parts of a chat without templates that rows, which name none, do not use.
 *
 * @param {any} parts
 * @param {import('./options.mjs').Content} content
 * @returns {any}
 */
function usedParts({ templates, ...parts }, { tools }) {
  if (templates === undefined || typeof templates === 'string') return { ...parts, templates }
  const { default: usual, tool_use: withTools } = templates
  const used = tools === undefined || withTools === undefined ? usual : { default: usual, tool_use: withTools }
  return { ...parts, templates: used }
}

async function templateOf(file) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readRegular(file, MAX_PARTS))
  } catch (failure) {
    throw fileFailure(file, asUtf8Failure(failure))
  }
}

/**
 * Throws if the chats of a job cannot be rendered, whatever its rows are.
 *
 * @param {Pick<import('./options.mjs').Content, 'chat' | 'maskBy' | 'date'>} content
 */
export function checkChat({ chat: given, maskBy, date }) {
  /** @type {any} */
  const chat = given
  const sources = chat.isHarmony
    ? []
    : typeof chat.templates === 'string'
      ? [chat.templates]
      : Object.values(chat.templates)
  if (JSON.stringify(chat).length > MAX_PARTS)
    throw error('ERR_TOKENLANE_CHAT_LIMIT', `the chat templates have more than ${MAX_PARTS} characters`)
  const { checkTemplate } = modules.jinja.template
  for (const source of sources) checkTemplate(source)
  if (maskBy === 'generation' && !sources.some((source) => GENERATION.test(source))) {
    const reason = 'the template has no {% generation %} tags, so that it does not say what the assistant writes'
    throw error('ERR_TOKENLANE_CHAT_REFUSED', `${reason}: use maskBy: 'origin' (--mask-by origin)`)
  }
  if (date === undefined && (chat.isHarmony || sources.some((source) => source.includes(CLOCK)))) {
    const must =
      'a day such as 2026-01-31 (--date), because the template writes the date, and a job can run on several days'
    throw wrongValue('date', must, date)
  }
}

/** The SHA-256 of what renders the chats of a job. */
export const hashOfChat = ({ chat }) =>
  chat === undefined ? undefined : createHash('sha256').update(JSON.stringify(chat)).digest('hex')

/**
 * What encodes the chats of a job; `undefined` if its documents are texts.
 *
 * @param {import('tokenlane').Tokenizer} tokenizer
 * @param {import('./options.mjs').Content} content
 */
export const chatsOf = (tokenizer, content) => (hasLossMask(content) ? new Chats(tokenizer, content) : undefined)

/** Encodes the chats of rows. */
export class Chats {
  #tokenizer
  #content
  #chat
  #options

  /**
   * @param {import('tokenlane').Tokenizer} tokenizer
   * @param {import('./options.mjs').Content} content
   */
  constructor(tokenizer, content) {
    const { chat, date, specialTokens } = content
    this.#tokenizer = tokenizer
    this.#content = content
    this.#chat = 'isHarmony' in chat ? new modules.openai.HarmonyChat() : chatOfParts(chat)
    this.#options = { content: specialTokens, ...(date !== undefined && { variables: { [CLOCK]: clockOf(date) } }) }
  }

  /**
   * The document of a row of JSON.
   *
   * @param {any} parsed the value of the row
   * @param {Buffer} bytes of the row
   */
  document(parsed, bytes) {
    const { messages, tools } = this.#content
    const value = hasPythonNumbers(bytes.toString('latin1')) ? parsePythonJson(finiteJson(bytes.toString())) : parsed
    const chat = [valueAt(value, messages), tools === undefined ? undefined : valueAt(value, tools)]
    if (NOT_FINITE.test(bytes.toString('latin1'))) checkFinite(chat)
    return this.#encode(...chat)
  }

  /** The document of a row of Parquet, by the values of its columns. */
  tableDocument(messages, tools) {
    return this.#encode(plain(messages), plain(tools))
  }

  #encode(given, givenTools) {
    const messages = messagesOf(given, this.#content.messages)
    const tools = toolsOf(givenTools, this.#content.tools)
    // Rows without tools share one object of options.
    const options = tools === undefined ? this.#options : { ...this.#options, tools }
    const request = { by: this.#content.maskBy, options }
    const { text, ids, assistantMask, messageIds } = encodeChat(this.#tokenizer, this.#chat, messages, request)
    const isLearned = learnedOf(messages, this.#content)
    const mask = isLearned.includes(false) ? learnedMask(assistantMask, messageIds, isLearned) : assistantMask
    return { text: Buffer.from(text), tokens: joinMask(ids, mask) }
  }
}

/** The messages of a row: an array, or its JSON. */
function messagesOf(given, field) {
  const value = ofJson(given, field)
  if (!Array.isArray(value)) throw fieldFailure(field, 'an array of messages', value)
  const messages = value.map((message, index) => ofShareGpt(message, index, field))
  if (messages.length === 0) throw new Failure('FIELD', `the field '${field}' has no messages`)
  messages.forEach((message, index) => {
    if (isObject(message) && (typeof message.role === 'string' || isObject(message.author))) return
    const names = isObject(message)
      ? `only ${Object.keys(message).slice(0, MAX_NAMED).join(', ') || 'no field'}`
      : 'not an object'
    throw new Failure('FIELD', `message ${index} of the field '${field}' must have a role, but it has ${names}`)
  })
  return messages
}

/** The fields of messages by which people say that they are not learned. */
const FLAGS = ['train', 'training']

/** For each message, whether its tokens are learned if the assistant wrote it. */
function learnedOf(messages, { maskTurns, messages: field }) {
  const lastTurn = messages.findLastIndex(({ role, author }) => !isAssistant(role ?? author?.role)) + 1
  return messages.map((message, index) => {
    const weight = message.weight ?? 1
    const value = Number(isObject(weight) ? weight.value : weight)
    if (value !== 0 && value !== 1)
      throw new Failure('FIELD', `message ${index} of the field '${field}' has a weight that is neither 0 nor 1`)
    return value === 1 && !FLAGS.some((name) => message[name] === false) && (maskTurns !== 'last' || index >= lastTurn)
  })
}

const isAssistant = (role) => role === 'assistant' || role === 'model'

/** The roles of the names in ShareGPT's `from`. */
const SENDERS = new Map(
  Object.entries({
    user: 'human user',
    assistant: 'gpt chatgpt bing bard model assistant function_call',
    system: 'system',
    tool: 'tool function observation function_response',
  }).flatMap(([role, names]) => names.split(' ').map((name) => /** @type {const} */ ([name, role]))),
)

/** A message in the form of ShareGPT, with `from` and `value`, as one with a role and a content. */
function ofShareGpt(message, index, field) {
  if (!isObject(message) || typeof message.from !== 'string' || message.role !== undefined) return message
  const { from, value, ...rest } = message
  const role = SENDERS.get(from)
  if (role === undefined) {
    const known = [...SENDERS.keys()].join(', ')
    throw new Failure('FIELD', `message ${index} of the field '${field}' is from '${from}', which is none of ${known}`)
  }
  return { role, content: value, ...rest }
}

/** The tools of a row: an array, its JSON, or none. */
function toolsOf(given, field) {
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

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A value of a Parquet file as one of JSON: its text is bytes. */
function plain(value) {
  if (value instanceof Uint8Array) {
    try {
      return utf8.decode(value)
    } catch (failure) {
      throw asUtf8Failure(failure)
    }
  }
  if (Array.isArray(value)) return value.map(plain)
  if (isObject(value) && Object.getPrototypeOf(value) === Object.prototype)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

/** The function by which templates write the date: it is always the same day. */
function clockOf(date) {
  const { strftime } = modules.jinja.strftime
  const [year, month, day] = date.split('-').map(Number)
  return (format) => strftime(new Date(year, month - 1, day), String(format))
}
