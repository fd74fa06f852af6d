'use strict'

// The API of the npm package js-tiktoken 1.0 without ranks, implemented with tokenlane.

const { namesOf } = require('../bounded.js')
const { withSpecialTokens } = require('../bundled.js')
const { error, typeError } = require('../errors.js')
const { firstOf } = require('../special-tokens.js')
const encodingOfModel = require('../tiktoken/model_to_encoding.json')
const { plainRanks } = require('../tiktoken/ranks.js')
const { Tokenizer } = require('../../lib/tokenizer.js')
const { BUNDLED } = require('./bundled-ranks.js')

/** For two models, js-tiktoken has another encoding than OpenAI. */
const OTHER_MODELS = { 'davinci-002': 'p50k_base', 'babbage-002': 'r50k_base' }

const utf8 = new TextDecoder()

class Tiktoken {
  #tokenizer
  #specialTokens

  constructor(ranks, extendedSpecialTokens) {
    const { pat_str, special_tokens, bpe_ranks } = ranks
    this.#specialTokens = { ...special_tokens, ...extendedSpecialTokens }
    const name = BUNDLED.get(ranks)
    if (name !== undefined) {
      this.#tokenizer = withSpecialTokens(name, this.#specialTokens)
      return
    }
    if (typeof bpe_ranks !== 'string') throw typeError('bpe_ranks must be a string with the ranks')
    if (typeof pat_str !== 'string') throw typeError('pat_str must be a string with a regular expression')
    const bytes = Buffer.from(plainRanks(bpe_ranks))
    this.#tokenizer = Tokenizer.fromBufferSync(bytes, { pattern: pat_str, specialTokens: this.#specialTokens })
  }

  /**
   * @param {string} text
   * @param {string[] | 'all'} [allowedSpecial]
   * @param {string[] | 'all'} [disallowedSpecial]
   */
  encode(text, allowedSpecial = [], disallowedSpecial = 'all') {
    if (typeof text !== 'string') throw typeError('text must be a string')
    const names = Object.keys(this.#specialTokens)
    const allowed = namesOf(allowedSpecial === 'all' ? names : allowedSpecial)
    const disallowed =
      disallowedSpecial === 'all' ? names.filter((token) => !allowed.has(token)) : [...namesOf(disallowedSpecial)]
    const found = firstOf(text, disallowed)
    if (found !== undefined) {
      throw error('SPECIAL_TOKEN', `The text contains a special token that is not allowed: ${found}`)
    }
    const parsed = names.filter((token) => allowed.has(token))
    return Array.from(
      this.#tokenizer.encode(text, { specialTokens: parsed.length > 0 ? parsed : 'text', offsets: false }).ids,
    )
  }

  decode(tokens) {
    if (!Array.isArray(tokens) && !ArrayBuffer.isView(tokens)) throw typeError('tokens must be an array of token ids')
    try {
      return utf8.decode(this.#tokenizer.decodeBytes(tokens))
    } catch {
      // As in the original, values that are not ids are left out. Holes are not visited.
      const ids = Object.values(tokens).filter((id) => this.#isId(id))
      return utf8.decode(this.#tokenizer.decodeBytes(ids))
    }
  }

  #isId(id) {
    return typeof id === 'number' && id >>> 0 === id && this.#tokenizer.idToToken(id) !== undefined
  }
}

function getEncodingNameForModel(model) {
  if (Object.hasOwn(OTHER_MODELS, model)) return OTHER_MODELS[model]
  if (!Object.hasOwn(encodingOfModel, model)) throw error('UNKNOWN_MODEL', 'Unknown model')
  return encodingOfModel[model]
}

exports.Tiktoken = Tiktoken
exports.getEncodingNameForModel = getEncodingNameForModel
