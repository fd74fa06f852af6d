// Documents that are chats: messages become the text of a chat template, and tokens with a loss
// mask. What renders them is one of the job's options, so that all machines write the same bytes,
// and another template is another job.

import { createHash } from 'node:crypto'

import { fileFailure, asUtf8Failure, checkFinite, finiteJson, valueAt } from 'tokenlane/internal/files.mjs'
import { GENERATION, chatOf, chatOfParts, encodeChat, modules, readRegular } from 'tokenlane/internal/corpus.js'
import { choiceOf, messagesOf, toolsOf } from './chat-rows.mjs'
import { error, wrongValue } from './errors.mjs'
import { joinMask } from './loss-mask.mjs'
import { hasPythonNumbers, parsePythonJson } from './python-json.mjs'
import { hasLossMask } from './tokens.mjs'
import { isObject } from './values.mjs'

/** Maximum size of the templates and tokens in job.json, as characters of JSON. */
const MAX_PARTS = 1 << 19
/** What templates with a date call. */
const CLOCK = 'strftime_now'
const NOT_FINITE = /NaN|Infinity/

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
    const row = hasPythonNumbers(bytes.toString('latin1')) ? parsePythonJson(finiteJson(bytes.toString())) : parsed
    const [messages, completion, tools] = ['messages', 'completion', 'tools'].map((name) => {
      const field = this.#content[name]
      return field === undefined ? undefined : valueAt(row, field)
    })
    if (NOT_FINITE.test(bytes.toString('latin1'))) checkFinite([messages, completion, tools])
    return this.#encode({ messages, completion, tools, row })
  }

  /**
   * The document of a row of Parquet, by the values of its columns.
   *
   * @param {{ messages: any, completion: any, tools: any }} values
   */
  tableDocument(values) {
    return this.#encode(/** @type {any} */ (plain(values)))
  }

  /** @param {{ messages: any, completion: any, tools: any, row?: any }} values */
  #encode(values) {
    const chat = messagesOf(values, this.#content)
    const { messages } = chat
    const tools = toolsOf(values.tools, this.#content.tools)
    // Rows without tools share one object of options.
    const options = tools === undefined ? this.#options : { ...this.#options, tools }
    const request = { by: this.#content.maskBy, options, choice: choiceOf(chat, this.#content) }
    const { text, ids, assistantMask } = encodeChat(this.#tokenizer, this.#chat, messages, request)
    return { text: Buffer.from(text), tokens: joinMask(ids, assistantMask) }
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
