'use strict'

// What is used of a tokenizer: its calls `count` and `countChat`, and how it counts chats.

const {
  errors: { wrongType },
  inputMeter,
  realm: { isRevoked },
} = require('tokenlane/internal/requests.js')

/**
 * A property of tokenizers: `{ kind: 'openai', encoding, model }` for an encoding of OpenAI, whose
 * countChat has the documented rules, and `{ kind: 'harmony' }` for that of gpt-oss. It is missing
 * where a template renders chats.
 */
const CHAT_FORMAT = Symbol.for('tokenlane.chatFormat')
const TEMPLATE = { kind: 'template' }

/** How a tokenizer counts chats. Throws for what is no tokenizer. */
function chatFormatOf(tokenizer) {
  const isTokenizer =
    typeof tokenizer === 'object' &&
    tokenizer !== null &&
    !isRevoked(tokenizer) &&
    typeof tokenizer.count === 'function' &&
    typeof tokenizer.countChat === 'function'
  if (!isTokenizer) throw wrongType('tokenizer', 'one of tokenlane, with count and countChat', tokenizer)
  return tokenizer[CHAT_FORMAT] ?? TEMPLATE
}

/**
 * Counts the texts of one request, in which special tokens are text.
 *
 * @param {any} tokenizer
 * @param {object} [options] further ones of `count`
 */
function textCounter(tokenizer, options) {
  const charge = inputMeter()
  return (text) => {
    charge(text)
    return tokenizer.count(text, { specialTokens: 'text', ...options })
  }
}

/** Gemini's vocabulary has this size; files have it with a few tokens more. */
const GEMINI = 262_144

/** Whether a tokenizer can be that of Gemini; one that does not tell its size can. */
function hasVocabularyOfGemini(tokenizer) {
  if (typeof tokenizer.vocabSize !== 'function') return true
  return Math.abs(tokenizer.vocabSize() - GEMINI) <= 1000
}

module.exports = { chatFormatOf, hasVocabularyOfGemini, textCounter }
