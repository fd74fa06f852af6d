'use strict'

// Counts the tokens of a conversation for OpenAI's models, by the rules that OpenAI documents for
// chat completions, in "How to count tokens with tiktoken" of the OpenAI cookbook and, for images,
// in the guide "Images and vision". For gpt-oss the text of a conversation is public, and counted.
//
// Each message has three additional tokens, each name one, and the answer starts with three. OpenAI
// verified the rule for gpt-3.5-turbo, gpt-4, gpt-4o and gpt-4o-mini; later models may differ.

const { error, wrongType, wrongValue } = require('../errors.js')
const { checkKnown } = require('../options.js')
const { entriesOf } = require('./entries.js')

const CHAT_ENCODINGS = ['cl100k_base', 'o200k_base']
const OPENAI_OPTIONS = ['tools', 'model', 'imageSize', 'undocumented']
const PER_MESSAGE = 3
const PER_NAME = 1
const PER_ANSWER = 3
const PER_FUNCTION_RESULT = 2

/** Loaded on first use: most programs that load an encoding never render or count chats. */
const later = {
  get chat() {
    return require('./chat.js')
  },
  get harmony() {
    return require('./harmony.js')
  },
  get images() {
    return require('./openai-images.js')
  },
  get tools() {
    return require('./openai-tools.js')
  },
}

/** The chat of gpt-oss. */
class HarmonyChat {
  render(messages, options = {}, trace = undefined) {
    if (options?.chatTemplate !== undefined) return later.chat.chatOf().render(messages, options, trace)
    return later.harmony.render(messages, options, trace)
  }
}

class OpenAiChat {
  #encoding
  #model

  constructor(encoding, model) {
    this.#encoding = encoding
    this.#model = model
  }

  render(messages, options = {}, trace = undefined) {
    if (options?.chatTemplate !== undefined) return later.chat.chatOf().render(messages, options, trace)
    throw error(
      'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
      `${this.#encoding} has no chat template, because OpenAI does not say which text a chat becomes; countChat ` +
        'counts its tokens, and the option chatTemplate renders a template of yours',
    )
  }

  /** `countOf` returns the number of tokens of a text. */
  count(messages, options = {}, countOf) {
    if (!CHAT_ENCODINGS.includes(this.#encoding)) {
      const message = `OpenAI documents no rule for chats in ${this.#encoding}, only in ${CHAT_ENCODINGS.join(' and ')}`
      throw error('ERR_TOKENLANE_CHAT_TEMPLATE_MISSING', message)
    }
    checkKnown(options, OPENAI_OPTIONS)
    const rules = new Rules(this.#encoding, this.#model, options, countOf)
    const { checkMessages, withoutNulls } = later.chat
    const given = checkMessages(messages).map(withoutNulls)
    const counts = given.map((message, i) => rules.message(message, `messages[${i}]`))
    return counts.reduce((a, b) => a + b, PER_ANSWER + rules.tools(options.tools))
  }
}

/** The rules of one call. */
class Rules {
  #encoding
  #model
  #imageSize
  #estimates
  #countOf

  /**
   * @param {string} encoding
   * @param {string | undefined} model
   * @param {import('../..').CountChatOptions} options
   * @param {(text: string) => number} countOf
   */
  constructor(encoding, model, { model: given, imageSize, undocumented: when = 'throw' }, countOf) {
    if (given !== undefined) checkModel(given, encoding)
    if (imageSize !== undefined && typeof imageSize !== 'function')
      throw wrongType('imageSize', 'a function', imageSize)
    if (!['throw', 'estimate'].includes(when)) throw wrongValue('undocumented', "'throw' or 'estimate'", when)
    this.#encoding = encoding
    this.#model = given ?? model
    this.#imageSize = imageSize
    this.#estimates = when === 'estimate'
    this.#countOf = countOf
  }

  message(message, place) {
    if (typeof message.role !== 'string') throw wrongValue(place, 'a message with a role', message)
    // OpenAI's API counted the result of a function two tokens lower than other messages.
    const own = message.role === 'function' ? PER_MESSAGE - PER_FUNCTION_RESULT : PER_MESSAGE
    return entriesOf(message).reduce((sum, [name, value]) => {
      const where = `${place}.${name}`
      if (name === 'tool_calls' || name === 'function_call') return sum + this.#calls(value, where)
      if (name === 'content') return sum + this.#content(value, where)
      if (typeof value !== 'string') throw undocumented(`${where} (it is not text)`)
      return sum + this.#countOf(value) + (name === 'name' ? PER_NAME : 0)
    }, own)
  }

  tools(tools) {
    if (tools === undefined || tools === null) return 0
    if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools)
    return later.tools.countTools(tools, this.#encoding, this.#countOf, this.#note)
  }

  /** Text, or parts of text and images. Adjacent texts are counted together. */
  #content(content, place) {
    if (typeof content === 'string') return this.#countOf(content)
    if (!Array.isArray(content)) throw wrongType(place, 'a string or an array of parts', content)
    let tokens = 0
    let text = ''
    content.forEach((part, i) => {
      if (typeof part?.text === 'string' && isTextType(part.type)) {
        text += part.text
        return
      }
      tokens += this.#countOf(text) + this.#image(part, `${place}[${i}]`)
      text = ''
    })
    return tokens + this.#countOf(text)
  }

  #image(part, place) {
    const { imageOf, countImage } = later.images
    const image = imageOf(part)
    if (image === undefined)
      throw undocumented(`${place} (a part of the type ${JSON.stringify(part?.type)?.slice(0, 100)})`)
    return countImage(image, this.#model, this.#imageSize, place, this.#note)
  }

  /**
   * Calls of the model in earlier answers. OpenAI documents no rule; the estimate counts a call
   * like a message with the name and the arguments.
   */
  #calls(calls, place) {
    const list = Array.isArray(calls) ? calls : [calls]
    if (list.length === 0) return 0
    this.#note(place)
    return list.reduce((sum, call, i) => {
      const { name, arguments: given } = call?.function ?? call?.custom ?? call ?? {}
      const text = given ?? call?.custom?.input ?? ''
      if (typeof name !== 'string' || typeof text !== 'string')
        throw wrongType(`${place}[${i}]`, 'a call with a name and arguments (strings)', call)
      return sum + PER_MESSAGE + this.#countOf(name) + this.#countOf(text)
    }, 0)
  }

  /** Throws for what OpenAI does not document, unless the caller wants estimates. */
  #note = (what) => {
    if (!this.#estimates) throw undocumented(what)
  }
}

const TEXT_TYPES = ['text', 'input_text', 'output_text']
const isTextType = (type) => TEXT_TYPES.includes(type)

const undocumented = (what) =>
  error(
    'ERR_TOKENLANE_CHAT_UNDOCUMENTED',
    `OpenAI does not document how many tokens this takes: ${what}. ` +
      "undocumented: 'estimate' estimates calls, function schemas and images",
  )

function checkModel(model, encoding) {
  const { encodingForModel } = require('../models.js')
  const own = encodingForModel(model)
  if (own !== encoding) throw wrongValue('model', `a model of ${encoding} (this is one of ${own})`, model)
}

/** The chat of a bundled encoding. `model` is the model that it was loaded for, if there is one. */
const openAiChat = (encoding, model) =>
  encoding === 'o200k_harmony' ? new HarmonyChat() : new OpenAiChat(encoding, model)

module.exports = { openAiChat }
