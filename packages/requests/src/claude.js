'use strict'

// Estimates the tokens of a request to Claude, whose tokenizer is not public: Anthropic's API has a
// call that counts. The rule was fitted to the usage of recorded requests; test/requests.test.mjs
// has some of them.
//
//   text       tokens of o200k_base times a factor, which newer models have a larger one of
//   messages   four tokens each, and three for the request
//   tools      a system prompt of Anthropic, and the JSON of each tool
//   a call     and its result take tokens beside their texts
//   images     a token for 750 pixels, by Anthropic's guide "Vision"

const {
  images: { imageOf, sizeOf },
  reading: { placeOf },
} = require('tokenlane/internal/requests.js')

const { jsonText } = require('./json-text.js')
const { givenTokens } = require('./parts.js')

const PER_REQUEST = 3
const PER_MESSAGE = 4
const PER_TOOLS = 315
const PER_TOOL_TOKEN = 1.5
const PER_CALL = 45
const PER_RESULT = 25
const THINKING = 29
const PIXELS_PER_TOKEN = 750
/** Longer sides are scaled to this. */
const MAX_SIDE = 1568
const TOKENS_OF_O200K = 1.1
const TOKENS_OF_NEW_MODELS = 1.4

/** Whether a name is one of a model of Anthropic, also at a gateway: `anthropic/claude-…`. */
const isClaude = (model) => typeof model === 'string' && /(^|[/.])claude-/.test(model)

/** Opus 4.7 and all models from the fifth generation on have a tokenizer with more tokens. */
function factorOf(model) {
  // Gateways write the version as `4.7`.
  const [, major, minor = '0'] = /claude-[a-z]+-(\d)(?:[-.](\d)(?!\d))?/.exec(model) ?? []
  return Number(major) >= 5 || (Number(major) === 4 && Number(minor) >= 7) ? TOKENS_OF_NEW_MODELS : TOKENS_OF_O200K
}

/**
 * Counts messages and tools of chat completions as `{ tokens, estimated }`. `countOf` returns the
 * number of tokens of a text in o200k_base.
 *
 * @param {{ messages: any[], tools?: any[], thinking?: any, model: string }} request checked
 * @param {{ imageSize?: Function, partTokens?: Function }} options
 * @param {(text: string) => number} countOf
 */
function countClaude({ messages, tools, thinking, model }, { imageSize, partTokens }, countOf) {
  const declared = tools ?? []
  const factor = factorOf(model)
  const estimated = declared.length > 0 ? ['messages', 'tools'] : ['messages']
  let words = 0
  let others = PER_REQUEST + (thinking?.type === 'enabled' ? THINKING : 0)
  const said = messages.filter(({ role }) => role !== 'system').length
  others += PER_MESSAGE * said
  messages.forEach((message, i) => {
    const location = placeOf(message, `messages[${i}]`)
    if (message.role === 'tool') others += PER_RESULT
    for (const call of message.tool_calls ?? []) {
      const { name, arguments: input = call.custom?.input } = call.function ?? call.custom ?? call
      words += countOf(name) + countOf(typeof input === 'string' ? input : jsonText(input ?? {}, location))
      others += PER_CALL
    }
    const { content } = message
    const parts = typeof content === 'string' ? [{ text: content }] : (content ?? [])
    parts.forEach((part, j) => {
      if (typeof part === 'string') words += countOf(part)
      else if (typeof part.text === 'string') words += countOf(part.text)
      else others += partOf(part, `${location}.content[${j}]`, { imageSize, partTokens }, estimated)
    })
  })
  if (declared.length > 0) others += PER_TOOLS
  declared.forEach((tool, i) => {
    words += PER_TOOL_TOKEN * countOf(jsonText(tool.function ?? tool, `tools[${i}]`))
  })
  return { tokens: Math.ceil(factor * words + others), estimated }
}

function partOf(part, otherwise, { imageSize, partTokens }, estimated) {
  const location = placeOf(part, otherwise)
  const url = imageOf(part)?.url
  if (typeof url === 'string') {
    const size = sizeOf(url, imageSize, location, (what) => estimated.push(what))
    const scale = Math.min(1, MAX_SIDE / Math.max(size.width, size.height))
    return Math.ceil((size.width * scale * size.height * scale) / PIXELS_PER_TOKEN)
  }
  return givenTokens(part, location, partTokens)
}

module.exports = { countClaude, isClaude }
