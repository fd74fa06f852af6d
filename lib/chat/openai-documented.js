'use strict'

// Counts the tokens of a conversation by the rules alone that OpenAI documents for chat
// completions, in "How to count tokens with tiktoken" of the OpenAI cookbook and, for images, in
// the guide "Images and vision". All else is refused by its location.
//
// Each message has three additional tokens, each name one, and the answer starts with three. OpenAI
// verified the rule for gpt-3.5-turbo, gpt-4, gpt-4o and gpt-4o-mini. It has none for models that
// reason. Its API reports a token less for the answer of these and, from gpt-5 on, two more for
// each earlier answer, in 108 recorded requests to gpt-5 and later, and 27 to o1, o3 and o4.
// packages/requests/prices/openai.json has the constants.

const { entriesOf } = require('@tokenlane/jinja/internal').entries

const { error, wrongValue } = require('../errors.js')
const { countImage, imageOf } = require('./openai-images.js')
const { countTools } = require('./openai-tools.js')
const { countContent } = require('./parts.js')

const PER_MESSAGE = 3
const PER_NAME = 1
const PER_ANSWER = 3
/** Models that reason, and those of them that name the channel of each answer. */
const REASONING = /^(ft:)?(o\d|gpt-[5-9])/
const CHANNELS = /^(ft:)?gpt-[5-9]/
const PER_CHANNEL = 2
const PER_FUNCTION_RESULT = 2
/** Lists that answers of the API have, also where nothing is in them. */
const EMPTY_IN_ANSWERS = ['tool_calls', 'annotations']

/**
 * The number of tokens of messages and tools. `of` has the encoding, the model and the caller's
 * function for the sizes of images; `countOf` returns the number of tokens of a text.
 *
 * @param {object[]} messages
 * @param {any} tools
 * @param {{ encoding: string, model?: string, imageSize?: Function }} of
 * @param {(text: string) => number} countOf
 */
function countDocumented(messages, tools, of, countOf) {
  const rules = new Rules(of, countOf)
  const counts = messages.map((message, i) => rules.message(message, `messages[${i}]`))
  const answer = PER_ANSWER - (REASONING.test(of.model ?? '') ? 1 : 0)
  return counts.reduce((a, b) => a + b, answer + rules.tools(tools))
}

class Rules {
  #of
  #countOf

  constructor(of, countOf) {
    this.#of = of
    this.#countOf = countOf
  }

  message(message, location) {
    if (typeof message.role !== 'string') throw wrongValue(location, 'a message with a role', message)
    // OpenAI's API counted the result of a function two tokens lower than other messages.
    const own = message.role === 'function' ? PER_MESSAGE - PER_FUNCTION_RESULT : PER_MESSAGE
    return entriesOf(message).reduce((sum, [name, value]) => {
      const where = `${location}.${name}`
      if (EMPTY_IN_ANSWERS.includes(name) && Array.isArray(value) && value.length === 0) return sum
      if (name === 'tool_calls' || name === 'function_call') throw undocumented(where)
      if (name === 'content') return sum + this.#content(value, where)
      if (typeof value !== 'string') throw undocumented(`${where} (it is not text)`)
      return sum + this.#countOf(value) + (name === 'name' ? PER_NAME : 0)
    }, own + this.#channel(message))
  }

  #channel({ role, content }) {
    const isAnswer = role === 'assistant' && (content?.length ?? 0) > 0
    return isAnswer && CHANNELS.test(this.#of.model ?? '') ? PER_CHANNEL : 0
  }

  tools(tools) {
    return countTools(tools ?? [], this.#of.encoding, this.#countOf, (what) => {
      throw undocumented(what)
    })
  }

  /** Text, or parts of text and images. */
  #content(content, location) {
    const textIn = (part) => (TEXT_TYPES.includes(part?.type) && typeof part.text === 'string' ? part.text : undefined)
    const countPart = (part, index) => this.#image(part, `${location}[${index}]`)
    return countContent(content, { countOf: this.#countOf, textIn, countPart })
  }

  #image(part, location) {
    const image = imageOf(part)
    if (image === undefined)
      throw undocumented(`${location} (a part of the type ${JSON.stringify(part?.type)?.slice(0, 100)})`)
    const { model, imageSize } = this.#of
    return countImage(image, model, imageSize, location, (what, failure = undocumented(what)) => {
      throw failure
    })
  }
}

const TEXT_TYPES = ['text', 'input_text', 'output_text']

const undocumented = (what) =>
  error(
    'ERR_TOKENLANE_CHAT_UNDOCUMENTED',
    `OpenAI does not document how many tokens this takes: ${what}; countRequest of @tokenlane/requests estimates it`,
  )

module.exports = { countDocumented }
