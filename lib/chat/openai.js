'use strict'

// The chats of the bundled encodings: harmony for gpt-oss, whose text is public, and numbers of
// tokens for OpenAI's other models (openai-estimate.js, openai-documented.js).

const { error, wrongType, wrongValue } = require('../errors.js')
const { later } = require('../later.js')
const { boolean, checkKnown } = require('../options.js')

const CHAT_ENCODINGS = ['cl100k_base', 'o200k_base']
const OPENAI_OPTIONS = ['tools', 'model', 'imageSize', 'partTokens', 'undocumented', 'detail']
/** What countChat does with other tokenizers too, and always with these. */
const ALWAYS = { addGenerationPrompt: true, content: 'text' }

/** Loaded on first use: most programs that load an encoding never render or count chats. */
const modules = later({
  chat: () => require('./chat.js'),
  shapes: () => require('../adapters/shapes.js'),
  conversation: () => require('./conversation.js'),
  harmony: () => require('./harmony.js'),
  documented: () => require('./openai-documented.js'),
  estimate: () => require('./openai-estimate.js'),
  reading: () => require('../reading.js'),
})

/** The chat of gpt-oss. */
class HarmonyChat {
  hasOneCallPerMessage = true
  parts = { isHarmony: true }

  render(messages, options = {}, trace = undefined) {
    if (options?.chatTemplate !== undefined) return modules.chat.chatOf().render(messages, options, trace)
    return modules.harmony.render(messages, options, trace)
  }
}

class OpenAiChat {
  #encoding
  #model

  constructor(encoding, model) {
    this.#encoding = encoding
    this.#model = model
  }

  get parts() {
    return this.render([])
  }

  render(messages, options = {}, trace = undefined) {
    if (options?.chatTemplate !== undefined) return modules.chat.chatOf().render(messages, options, trace)
    throw error(
      'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
      `${this.#encoding} has no chat template, because OpenAI does not say which text a chat becomes; countChat ` +
        'counts its tokens, and the option chatTemplate renders a template of yours',
    )
  }

  /**
   * Counts messages and tools as `{ tokens, estimated }`. `countOf` returns the number of tokens of
   * a text.
   */
  count(messages, options = {}, countOf) {
    checkKnown(options, [...OPENAI_OPTIONS, ...Object.keys(ALWAYS)])
    for (const [name, value] of Object.entries(ALWAYS)) {
      if (options[name] !== undefined && options[name] !== value)
        throw wrongValue(name, `${JSON.stringify(value)}, which holds for OpenAI's API`, options[name])
    }
    const { withoutNulls } = modules.conversation
    const { of, isStrict } = this.#rules(options)
    const checked = modules.conversation.checkMessages(messages)
    refuseAiSdk(checked)
    modules.shapes.chatMessages(checked, 'messages')
    const given = checked.map(withoutNulls)
    const tools = modules.conversation.checkList('tools', options.tools)
    modules.shapes.chatTools(tools, 'tools')
    boolean('detail', options.detail, false)
    if (isStrict) return { tokens: modules.documented.countDocumented(given, tools, of, countOf), estimated: [] }
    return this.#estimated(of, countOf, (estimate) => estimate.chat({ messages: given, tools }))
  }

  /** Counts the body of a request to chat completions. */
  countRequest(body, options, countOf) {
    const { withoutNulls } = modules.conversation
    const of = this.#rulesOf(body, options)
    refuseAiSdk(body.messages)
    const messages = body.messages.map((message) => modules.reading.made(withoutNulls(message), message))
    return this.#estimated(of, countOf, (estimate) => estimate.chat({ ...body, messages }))
  }

  /** Counts the body of a request to the Responses API. */
  countResponses(body, options, countOf) {
    const of = this.#rulesOf(body, options)
    return this.#estimated(of, countOf, (estimate) => estimate.responses(body))
  }

  #rulesOf({ model: named }, options) {
    const model = options.model ?? this.#modelOf(named)
    const { of } = this.#rules({ ...options, model })
    return { ...of, isOther: model === undefined && typeof named === 'string' }
  }

  /** The model that a body names, without a gateway's prefix, if it has this encoding. */
  #modelOf(named) {
    if (typeof named !== 'string') return undefined
    const { findEncoding } = require('../models.js')
    return [named, named.slice(named.lastIndexOf('/') + 1)].find((name) => findEncoding(name) === this.#encoding)
  }

  /** Whether a body names a model that is not known to have this encoding. */
  isOther(named) {
    return typeof named === 'string' && this.#modelOf(named) === undefined
  }

  #estimated(of, countOf, run) {
    const { RenderCost, within } = require('@tokenlane/jinja/internal').renderCost
    const { limits } = require('../limits.js')
    const estimate = new modules.estimate.Estimate(of, countOf)
    try {
      const tokens = within(new RenderCost(limits), () => run(estimate))
      return { tokens, estimated: [...new Set(estimate.estimated)] }
    } catch (failure) {
      // The module with the errors of limits has the whole template engine.
      return require('@tokenlane/jinja/internal').template.guarded(() => {
        throw failure
      }, 'failed')
    }
  }

  /** @param {any} options */
  #rules({ model: given, imageSize, partTokens, undocumented = 'estimate' }) {
    if (!CHAT_ENCODINGS.includes(this.#encoding)) {
      const message = `OpenAI documents no rule for chats in ${this.#encoding}, only in ${CHAT_ENCODINGS.join(' and ')}`
      throw error('ERR_TOKENLANE_CHAT_TEMPLATE_MISSING', message)
    }
    if (given !== undefined) checkModel(given, this.#encoding)
    for (const [name, value] of Object.entries({ imageSize, partTokens }))
      if (value !== undefined && typeof value !== 'function') throw wrongType(name, 'a function', value)
    if (!['throw', 'estimate'].includes(undocumented))
      throw wrongValue('undocumented', "'throw' or 'estimate'", undocumented)
    const of = { encoding: this.#encoding, model: given ?? this.#model, imageSize, partTokens }
    return { of, isStrict: undocumented === 'throw' }
  }
}

/** Messages without a content, and with parts as the AI SDK has them, would be counted as JSON. */
function refuseAiSdk(messages) {
  const ofUi = messages.findIndex(
    ({ content, parts }) => content === undefined && Array.isArray(parts) && typeof parts[0]?.type === 'string',
  )
  if (ofUi !== -1) throw modules.conversation.ofClient(`messages[${ofUi}]`, 'the AI SDK', 'fromAiSdk')
}

function checkModel(model, encoding) {
  const { encodingForModel } = require('../models.js')
  const own = encodingForModel(model)
  if (own !== encoding) throw wrongValue('model', `a model of ${encoding} (this is one of ${own})`, model)
}

/** The chat of a bundled encoding. `model` is the model that it was loaded for, if there is one. */
const openAiChat = (encoding, model) =>
  encoding === 'o200k_harmony' ? new HarmonyChat() : new OpenAiChat(encoding, model)

module.exports = { HarmonyChat, openAiChat }
