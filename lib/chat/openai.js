'use strict'

// Counts the tokens of a conversation for OpenAI's models, by the rule that OpenAI documents for
// chat completions: each message has three additional tokens, each name one, and the answer starts
// with three. The rule holds for gpt-3.5-turbo and gpt-4 (cl100k_base), and for gpt-4o, gpt-4.1 and
// later models with o200k_base; newer models may count more tokens.

const { error, wrongType, wrongValue } = require('../errors.js')
const { checkKnown } = require('../options.js')

const ENCODINGS = ['cl100k_base', 'o200k_base']
const PER_MESSAGE = 3
const PER_NAME = 1
const PER_ANSWER = 3

class OpenAiChat {
  #encoding

  constructor(encoding) {
    this.#encoding = encoding
  }

  render() {
    throw error(
      'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
      `${this.#encoding} has no chat template, because OpenAI does not say which text a chat becomes; countChat says how long it is`,
    )
  }

  /** `countOf` returns the number of tokens of a text. */
  count(messages, options = {}, countOf) {
    if (!ENCODINGS.includes(this.#encoding)) {
      const message = `there is no rule for chats in ${this.#encoding}: it is for ${ENCODINGS.join(' and ')}`
      throw error('ERR_TOKENLANE_CHAT_TEMPLATE_MISSING', message)
    }
    checkKnown(options, [])
    // Loaded on first use: most programs that load an encoding never count chats.
    const { checkMessages } = require('./chat.js')
    const counts = checkMessages(messages).map((message, i) => {
      if (message.role === undefined) throw wrongValue(`messages[${i}]`, 'a message with a role', message)
      const parts = Object.entries(message).map(
        ([name, value]) => (name === 'name' ? PER_NAME : 0) + countOf(textOf(value, `messages[${i}].${name}`)),
      )
      return PER_MESSAGE + parts.reduce((a, b) => a + b, 0)
    })
    return PER_ANSWER + counts.reduce((a, b) => a + b, 0)
  }
}

/** The text of a string or of content in parts. */
function textOf(value, name) {
  if (typeof value === 'string') return value
  const isText = Array.isArray(value) && value.every((part) => part?.type === 'text' && typeof part.text === 'string')
  if (!isText) throw wrongType(name, 'text, because the rule is for text only', value)
  return value.map((part) => part.text).join('')
}

module.exports = { OpenAiChat }
