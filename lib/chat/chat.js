'use strict'

// Renders a conversation to text with a chat template, like `apply_chat_template` of transformers.

const { entriesOf } = require('@tokenlane/jinja/internal').entries
const { bare } = require('@tokenlane/jinja/internal').origins

const { error, wrongType, wrongValue } = require('../errors.js')
const { limits } = require('../limits.js')
const { boolean, checkKnown, checkObject } = require('../options.js')
const { checkList, checkMessages, checkVariables } = require('./conversation.js')

/** The options of calls that render a conversation. */
const CHAT_OPTIONS = [
  'tools',
  'documents',
  'chatTemplate',
  'addGenerationPrompt',
  'continueFinalMessage',
  'variables',
  'content',
]
const RESERVED = ['messages', 'tools', 'documents', 'add_generation_prompt']
// The names of the field with the model's reasoning in templates; the first is the current one.
const REASONING = ['reasoning_content', 'thinking', 'reasoning']
/** The tag by which transformers recognizes templates that say what the assistant writes. */
const GENERATION = /{%-?\s*generation\s*-?%}/
const TAG = 'CONTINUE_FINAL_MESSAGE_TAG '
const NO_TEMPLATE =
  'the tokenizer has no chat template: load it from a folder with a tokenizer_config.json or a chat_template.jinja, or give one ' +
  'with the option chatTemplate'

/** A template, or templates by name, and the variables that a tokenizer_config.json defines. */
class TemplateChat {
  #templates
  #tokens

  constructor(templates, tokens, config) {
    this.#templates = templates
    this.#tokens = tokens
    /** What the config says about the tokenizer, for lib/facts.js. */
    this.config = config
  }

  /** The text of the token that ends a sequence, or undefined. */
  get endOfSequence() {
    return this.#tokens.eos_token
  }

  /** The special tokens that templates may write, by name. */
  get tokens() {
    return this.#tokens
  }

  /** The same templates with the special tokens, by name, that the class of a folder has. */
  withTokens(tokens) {
    return new TemplateChat(this.#templates, tokens, { ...this.config, ...tokens })
  }

  /** The templates of another chat with the special tokens of this one. */
  withTemplatesOf(other) {
    return new TemplateChat(other.#templates, this.#tokens, this.config)
  }

  /** All that the text of a conversation depends on besides the call; chatOfParts restores it. */
  get parts() {
    this.#choose(undefined, undefined)
    return { templates: this.#templates, tokens: this.#tokens }
  }

  /**
   * Renders a conversation to text. With a trace, the text knows where its characters come from
   * (see origins.js).
   *
   * @param {InstanceType<(typeof import('@tokenlane/jinja/internal'))['origins']['Trace']>} [trace]
   */
  render(messages, options = {}, trace = undefined) {
    const conversation = checkMessages(messages).map(withReasoning)
    const { tools, documents, chatTemplate, addGenerationPrompt, continueFinalMessage, variables } =
      checkOptions(options)
    const source = this.#choose(chatTemplate, tools)
    const tail = continueFinalMessage === false ? undefined : openEnd(conversation, continueFinalMessage, source)
    const given = {
      messages: conversation,
      tools: tools ?? null,
      documents: documents ?? null,
      add_generation_prompt: addGenerationPrompt,
    }
    const finish = tail === undefined ? undefined : (text) => cutAtTag(text, tail)
    // Loaded on first use: it takes six mebibytes, and most tokenizers never render a chat.
    if (trace !== undefined) trace.hasGenerations = GENERATION.test(source)
    const { renderCost, template } = require('@tokenlane/jinja/internal')
    const request = { tokens: this.#tokens, variables, given, trace }
    return template.render(source, request, finish, new renderCost.RenderCost(limits))
  }

  /**
   * The requested template, or one given by name; without a request, `tool_use` if there are tools
   * and such a template, else the default.
   */
  #choose(wanted, tools) {
    const templates = this.#templates
    if (templates === undefined || typeof templates === 'string') {
      if (wanted === undefined && templates === undefined) throw missing(NO_TEMPLATE)
      return wanted ?? templates
    }
    if (wanted !== undefined) return Object.hasOwn(templates, wanted) ? templates[wanted] : wanted
    if (tools !== undefined && Object.hasOwn(templates, 'tool_use')) return templates.tool_use
    if (Object.hasOwn(templates, 'default')) return templates.default
    const names = Object.keys(templates)
    if (names.length === 0) throw missing(NO_TEMPLATE)
    const others = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
    throw missing(
      `the tokenizer has the chat templates ${names.slice(0, MAX_NAMES).join(', ')}${others}, and none by default: name one with the option chatTemplate`,
    )
  }
}

/** The number of templates that a message names. */
const MAX_NAMES = 20

const missing = (message) => error('ERR_TOKENLANE_CHAT_TEMPLATE_MISSING', message)

/** The chat of a tokenizer whose chat files could not be read. */
class BrokenChat {
  #failure

  constructor(failure) {
    this.#failure = failure
  }

  get tokens() {
    return this.render()
  }

  withTemplatesOf() {
    return this
  }

  get parts() {
    return this.render()
  }

  /** @returns {never} */
  render() {
    const { message } = this.#failure
    throw error(
      'ERR_TOKENLANE_CHAT_TEMPLATE',
      `the chat files in the folder of the tokenizer cannot be used: ${message}`,
      { cause: this.#failure },
    )
  }
}

/** The chat with the parts of another one. */
const chatOfParts = ({ templates, tokens }) => new TemplateChat(templates, tokens, {})

/** The options of a chat that passed the door: checked, and converted. */
class ChatRequest {
  variables
  addGenerationPrompt

  /** @param {any} fields */
  constructor(fields) {
    Object.assign(this, fields)
  }

  /** The same options for another end of the conversation. */
  endingWith(addGenerationPrompt) {
    return new ChatRequest({ ...this, addGenerationPrompt, continueFinalMessage: false })
  }
}

/**
 * Checks the options of a chat, and converts what templates read of them.
 *
 * @returns {any} a ChatRequest
 */
function checkOptions(options) {
  if (options instanceof ChatRequest) return options
  checkKnown(options, CHAT_OPTIONS)
  const { tools, documents, chatTemplate, variables = {}, content = 'text' } = options
  const { addGenerationPrompt, continueFinalMessage: continued } = options
  const continueFinalMessage = continued ?? false
  if (chatTemplate !== undefined && typeof chatTemplate !== 'string')
    throw wrongType('chatTemplate', 'a template or the name of one (a string)', chatTemplate)
  const request = new ChatRequest({
    tools: checkList('tools', tools),
    documents: checkList('documents', documents),
    chatTemplate,
    addGenerationPrompt: boolean('addGenerationPrompt', addGenerationPrompt, false),
    content,
    continueFinalMessage,
    variables: checkVariables(variables),
  })
  const reserved = RESERVED.find((name) => request.variables[name] !== undefined)
  if (reserved !== undefined)
    throw wrongValue('variables', `without ${reserved}, which is an argument or an option of the call`, reserved)
  const expected = "'text', 'parse' or 'throw'"
  if (typeof content !== 'string') throw wrongType('content', expected, content)
  if (!['text', 'parse', 'throw'].includes(content)) throw wrongValue('content', expected, content)
  if (!['boolean', 'string'].includes(typeof continueFinalMessage)) {
    throw wrongType('continueFinalMessage', 'a boolean or the name of a field (a string)', continueFinalMessage)
  }
  if (request.addGenerationPrompt && continueFinalMessage !== false) {
    throw wrongValue(
      'continueFinalMessage',
      'false with addGenerationPrompt, because a message is either continued or started',
      continueFinalMessage,
    )
  }
  return request
}

/** Copies the model's reasoning to all fields by which templates read it. */
function withReasoning(message) {
  const name = REASONING.find((one) => message[one] !== undefined && message[one] !== null)
  if (name === undefined) return message
  const { [name]: reasoning } = message
  return Object.fromEntries([['thinking', reasoning], ...entriesOf(message), ['reasoning_content', reasoning]])
}

/**
 * Appends a tag to the text of the last message, to find its end after rendering. Returns the text
 * without the tag.
 */
function openEnd(messages, field, source) {
  const name = field === true ? 'content' : field
  const last = Object.fromEntries(entriesOf(messages.at(-1)))
  messages[messages.length - 1] = last
  const { [name]: said } = last
  const refuse = (why) => error('ERR_TOKENLANE_CHAT_REFUSED', `the last message cannot be continued: ${why}`)
  if (said === undefined || said === null) throw refuse(`it has no ${name}`)
  const fields = REASONING.includes(name) ? REASONING.filter((one) => last[one] === said) : [name]
  if (!fields.some((one) => source.includes(one))) throw refuse(`the template does not use ${name}`)
  if (typeof said === 'string') {
    for (const one of fields) last[one] = said + TAG
    return said
  }
  const at = Array.isArray(said) ? said.findLastIndex((part) => typeof part?.text === 'string') : -1
  if (at === -1) throw refuse('there is no text in it')
  last[name] = said.with(at, Object.fromEntries([...entriesOf(said[at]), ['text', said[at].text + TAG]]))
  return said[at].text
}

/**
 * The rendered text up to the end of the last message. If the template stripped the space at its
 * end, the result has none either.
 */
function cutAtTag(text, said) {
  const { cut, find, findLast, strip } = require('@tokenlane/jinja/internal').traced
  const at = findLast(text, TAG.trim())
  if (at === -1 || find(text, strip(said, null, true, true)) === -1) {
    throw error(
      'ERR_TOKENLANE_CHAT_REFUSED',
      'the last message cannot be continued: the template does not write it as it is',
    )
  }
  const isWhole = bare(cut(text, at, at + TAG.length)) === TAG
  return isWhole ? cut(text, 0, at) : strip(cut(text, 0, at), null, false, true)
}

/**
 * Creates a chat from the content of a tokenizer_config.json, and from templates by name, which
 * have precedence. Without templates, rendering throws an error that says so.
 */
function chatOf(config = {}, templates = undefined) {
  const facts = Object.entries(config).filter(([name]) => FACT.test(name))
  return new TemplateChat(templates ?? templatesOf(config.chat_template), tokensOf(config), Object.fromEntries(facts))
}

/** The fields of a config that lib/facts.js and @tokenlane/completions read. */
const FACT = /_token$|^model_max_length$|^padding_side$|^response_template$/

function templatesOf(value) {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  const expected = 'a template, or templates by their names'
  if (typeof value !== 'object') throw wrongType('chatTemplate', expected, value)
  const entries = Array.isArray(value) ? value.map((one) => [one?.name, one?.template]) : Object.entries(value)
  const isNamed = ([name, template]) => typeof name === 'string' && typeof template === 'string'
  if (!entries.every(isNamed)) throw wrongType('chatTemplate', expected, value)
  return Object.fromEntries(entries)
}

/** The special tokens of the config, such as bos_token, by name. */
function tokensOf(config) {
  const more = config.extra_special_tokens
  const named = typeof more === 'object' && more !== null && !Array.isArray(more) ? Object.entries(more) : []
  const own = Object.entries(config).filter(([name]) => name.endsWith('_token'))
  const tokens = [...own, ...named].map(([name, token]) => [name, typeof token === 'string' ? token : token?.content])
  return Object.fromEntries(tokens.filter(([, token]) => typeof token === 'string'))
}

/**
 * Checks the chat options of a loader. Returns undefined if there are none.
 *
 * @param {Pick<import('../..').LoadOptions, 'chatTemplate' | 'config'>} [options]
 */
function chatOption({ chatTemplate, config } = {}) {
  if (chatTemplate === undefined && config === undefined) return undefined
  if (config !== undefined) checkObject(config, 'config', 'what a tokenizer_config.json holds (an object)')
  return chatOf(config, chatTemplate === undefined ? undefined : templatesOf(chatTemplate))
}

module.exports = {
  BrokenChat,
  CHAT_OPTIONS,
  GENERATION,
  chatOf,
  chatOfParts,
  chatOption,
  checkOptions,
  cutAtTag,
  openEnd,
  withReasoning,
}
