'use strict'

// The API of the npm package js-tiktoken 1.0 without ranks, implemented with tokenlane.

const { namesOf, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { ofRanks, withSpecialTokens } = require('tokenlane/internal/dropins/bundled.js')
const { concat } = require('tokenlane/internal/dropins/bytes.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { isId } = require('tokenlane/internal/dropins/special-ids.js')
const { firstOf, sourceOf } = require('tokenlane/internal/dropins/special-tokens.js')
const encodingOfModel = require('@tokenlane/tiktoken/model_to_encoding.json')
const { RankTable, plainRanks } = require('tokenlane/internal/dropins/rank-table.js')
const { BUNDLED } = require('./internal/bundled-ranks.js')

/** For two models, js-tiktoken has another encoding than OpenAI. */
const OTHER_MODELS = { 'davinci-002': 'p50k_base', 'babbage-002': 'r50k_base' }

class Tiktoken {
  static specialTokenRegex = (tokens) => new RegExp(sourceOf([...namesOf(tokens)]), 'g')

  /** The ids of the special tokens. Changes of this field and the next ones have no effect. */
  specialTokens
  /** The bytes of the special tokens, by their ids. */
  inverseSpecialTokens
  patStr
  textEncoder = new TextEncoder()
  textDecoder = new TextDecoder('utf-8')
  #names
  #tokenizer
  /** The ids of special tokens for which the tokenizer has another id. */
  #standIns

  constructor(ranks, extendedSpecialTokens) {
    const { pat_str, special_tokens } = ranks
    this.patStr = pat_str
    this.specialTokens = { ...special_tokens, ...extendedSpecialTokens }
    const { tokenizer, standIns } = opened(ranks, this.specialTokens)
    this.#names = Object.keys(this.specialTokens)
    this.#tokenizer = tokenizer
    this.#standIns = standIns
    const texts = Object.entries(this.specialTokens)
    this.inverseSpecialTokens = Object.fromEntries(texts.map(([text, id]) => [id, this.textEncoder.encode(text)]))
    const bytes = () => new RankTable(() => plainRanks(ranks.bpe_ranks)).entries()
    onFirstUse(this, 'rankMap', () => new Map(Array.from(bytes(), ([token, rank]) => [token.join(), rank])))
    onFirstUse(this, 'textMap', () => new Map(Array.from(bytes(), ([token, rank]) => [rank, token])))
  }

  /**
   * @param {string} text
   * @param {string[] | 'all'} [allowedSpecial]
   * @param {string[] | 'all'} [disallowedSpecial]
   */
  encode(text, allowedSpecial = [], disallowedSpecial = 'all') {
    if (typeof text !== 'string') throw typeError('text must be a string')
    const names = this.#names
    const allowed = allowedSpecial === 'all' ? new Set(names) : setOf('allowedSpecial', allowedSpecial)
    const disallowed =
      disallowedSpecial === 'all'
        ? names.filter((token) => !allowed.has(token))
        : [...setOf('disallowedSpecial', disallowedSpecial)]
    const found = firstOf(text, disallowed)
    if (found !== undefined) {
      throw error('SPECIAL_TOKEN', `The text contains a special token that is not allowed: ${found}`)
    }
    const parsed = names.filter((token) => allowed.has(token))
    const { ids } = this.#tokenizer.encode(text, {
      specialTokens: parsed.length > 0 ? parsed : 'text',
      offsets: false,
    })
    return this.#standIns.size === 0 ? Array.from(ids) : Array.from(ids, (id) => this.#standIns.get(id) ?? id)
  }

  decode(tokens) {
    if (!Array.isArray(tokens) && !ArrayBuffer.isView(tokens)) throw typeError('tokens must be an array of token ids')
    try {
      if (this.#standIns.size === 0) return this.textDecoder.decode(this.#tokenizer.decodeBytes(tokens))
    } catch {}
    // As in the original, values that are not ids are left out. Holes are not visited.
    const parts = [[]]
    for (const id of Object.values(tokens)) {
      const special =
        Object.hasOwn(this.inverseSpecialTokens, String(primitive(id, 'a token'))) && this.inverseSpecialTokens[id]
      if (this.#isId(id)) parts.at(-1).push(id)
      else if (special) parts.push(special, [])
    }
    const bytes = parts.map((part) => (Array.isArray(part) ? this.#tokenizer.decodeBytes(part) : part))
    return this.textDecoder.decode(concat(bytes))
  }

  #isId(id) {
    if (typeof id !== 'number' || !isId(id) || this.#standIns.has(id)) return false
    return this.#tokenizer.idToToken(id) !== undefined
  }
}

/** A tokenizer for ranks; those of this package share a vocabulary. */
function opened(ranks, specialTokens) {
  const name = BUNDLED.get(ranks)
  if (name !== undefined) return withSpecialTokens(name, specialTokens)
  const { bpe_ranks, pat_str } = ranks
  if (typeof bpe_ranks !== 'string') throw typeError('bpe_ranks must be a string with the ranks')
  if (typeof pat_str !== 'string') throw typeError('pat_str must be a string with a regular expression')
  return ofRanks(plainRanks(bpe_ranks), pat_str, specialTokens)
}

/** Defines a field that is computed when it is read first. */
function onFirstUse(object, name, compute) {
  const define = (value) => Object.defineProperty(object, name, { value, writable: true })
  const get = () => define(compute())[name]
  Object.defineProperty(object, name, { get, set: define, enumerable: true, configurable: true })
}

/** The names of an argument, which may be null, as in the original. */
function setOf(name, value) {
  if (value === null) return new Set()
  if (typeof value[Symbol.iterator] !== 'function')
    throw typeError(`${name} must be 'all' or an array of special tokens`)
  return namesOf(value)
}

function getEncodingNameForModel(model) {
  primitive(model, 'model')
  if (Object.hasOwn(OTHER_MODELS, model)) return OTHER_MODELS[model]
  if (!Object.hasOwn(encodingOfModel, model)) throw error('UNKNOWN_MODEL', 'Unknown model')
  return encodingOfModel[model]
}

exports.Tiktoken = Tiktoken
exports.getEncodingNameForModel = getEncodingNameForModel
