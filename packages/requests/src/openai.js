'use strict'

// Counts chats and bodies of requests with an encoding of OpenAI: by estimates, where OpenAI
// documents nothing.

const {
  conversation: { refuseAiSdk, withoutNulls },
  errors: { wrongType },
  models: { findEncoding },
  openAi: { OPENAI_OPTIONS, openAiChatOf, openAiRules },
  options: { checkKnown },
  reading: { withOrigin },
  withinChatLimits,
} = require('tokenlane/internal/requests.js')

const { Estimate } = require('./openai-estimate.js')

class OpenAiCounter {
  #format
  #countOf

  /**
   * `countOf` returns the number of tokens of a text.
   *
   * @param {{ encoding: string, model?: string }} format
   * @param {(text: string) => number} countOf
   */
  constructor(format, countOf) {
    this.#format = format
    this.#countOf = countOf
  }

  /** Counts messages with the options of fitChat. */
  messages(messages, options) {
    checkKnown(options, [...OPENAI_OPTIONS, 'partTokens'])
    const rules = this.#rules(options)
    const chat = openAiChatOf(messages, options)
    return this.#estimated(rules, (estimate) => estimate.chat(chat)).tokens
  }

  /** Counts the body of a request to chat completions. */
  chat(body, options) {
    const rules = this.#rulesOfBody(body, options)
    refuseAiSdk(body.messages)
    const messages = body.messages.map((message) => withOrigin(withoutNulls(message), message))
    return this.#estimated(rules, (estimate) => estimate.chat({ ...body, messages }))
  }

  /** Counts the body of a request to the Responses API. */
  responses(body, options) {
    const rules = this.#rulesOfBody(body, options)
    return this.#estimated(rules, (estimate) => estimate.responses(body))
  }

  /** Whether a body names a model that is not known to have this encoding. */
  isOther(named) {
    return typeof named === 'string' && this.#modelOf(named) === undefined
  }

  /** The model that a body names, without a gateway's prefix, if it has this encoding. */
  #modelOf(named) {
    if (typeof named !== 'string') return undefined
    const { encoding } = this.#format
    return [named, named.slice(named.lastIndexOf('/') + 1)].find((name) => findEncoding(name) === encoding)
  }

  #rules(options) {
    const { partTokens } = options
    if (partTokens !== undefined && typeof partTokens !== 'function')
      throw wrongType('partTokens', 'a function', partTokens)
    return { ...openAiRules(this.#format, options), partTokens }
  }

  #rulesOfBody({ model: named }, options) {
    const model = options.model ?? this.#modelOf(named)
    return { ...this.#rules({ ...options, model }), isOther: model === undefined && typeof named === 'string' }
  }

  #estimated(rules, run) {
    const estimate = new Estimate(rules, this.#countOf)
    const tokens = withinChatLimits(() => run(estimate))
    return { tokens, tally: estimate.tally }
  }
}

module.exports = { OpenAiCounter }
