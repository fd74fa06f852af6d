'use strict'

// The API of the npm package tiktoken 1.0, implemented with tokenlane.

const { MAX_IDS, listOf, namesOf, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { definition, ofRanks, ranksOf, withSpecialTokens } = require('tokenlane/internal/dropins/bundled.js')
const { binaryOf, ofBinary, utf8Of } = require('tokenlane/internal/dropins/bytes.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { isId } = require('tokenlane/internal/dropins/special-ids.js')
const { firstOf } = require('tokenlane/internal/dropins/special-tokens.js')
const encodingOfModel = require('./model_to_encoding.json')
const { RankTable, plainRanks } = require('tokenlane/internal/dropins/rank-table.js')
const { completions, stableLength } = require('./internal/unstable.js')
const { isUint32Array, isUint8Array } = require('tokenlane/internal/base.js').realm

const ENCODINGS = ['gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base']

// Marks constructor calls from get_encoding; only those create encoders with a name.
const NAMED = Symbol('named')

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

class Tiktoken {
  #tokenizer
  #name
  #specialTokens
  /** The ids of special tokens for which the tokenizer has another id. */
  #standIns
  #ranks

  constructor(tiktoken_bfe, special_tokens, pat_str) {
    if (tiktoken_bfe === NAMED) {
      const name = special_tokens
      this.#name = name
      this.#take({ ...definition(name).specialTokens, ...pat_str }, (own) => withSpecialTokens(name, own))
      this.#ranks = new RankTable(() => ranksOf(name))
      return
    }
    if (typeof tiktoken_bfe !== 'string') throw typeError('tiktoken_bfe must be a string with the ranks')
    if (typeof pat_str !== 'string') throw typeError('pat_str must be a string with a regular expression')
    const ranks = plainRanks(tiktoken_bfe)
    this.#take({ ...special_tokens }, (own) => ofRanks(ranks, pat_str, own))
    this.#ranks = new RankTable(() => ranks)
  }

  #take(specialTokens, create) {
    const wrong = Object.entries(specialTokens).find(([, id]) => typeof id === 'number' && !isId(id))
    if (wrong !== undefined) {
      const [token, id] = wrong
      throw error(
        'ARGUMENT_VALUE',
        `the id of ${JSON.stringify(token)} must be an integer from 0 to ${2 ** 32 - 1}, not ${id}`,
      )
    }
    const { tokenizer, standIns } = create(specialTokens)
    this.#specialTokens = new Map(Object.entries(specialTokens))
    this.#tokenizer = tokenizer
    this.#standIns = standIns
  }

  get name() {
    this.#open()
    return this.#name
  }

  encode(text, allowed_special, disallowed_special) {
    return this.#given(this.#encode(text, allowed_special, disallowed_special).ids)
  }

  encode_ordinary(text) {
    return this.#open().encode(checkText(text), { specialTokens: 'text' }).ids
  }

  encode_with_unstable(text, allowed_special, disallowed_special) {
    const { ids, wordIds } = this.#encode(text, allowed_special, disallowed_special)
    // A special token at the end is stable. Only ordinary tokens have ranks.
    const isSpecial = ids.length === 0 || this.#ranks.token(ids.at(-1)) === undefined
    const stable = isSpecial ? ids.length : stableLength(ids, wordIds, this.#ranks)
    const encode = (rest) => this.#tokenizer.encode(rest, { specialTokens: 'text' }).ids
    const others = completions(ids.subarray(stable), this.#ranks, encode)
    return [Array.from(this.#given(ids.subarray(0, stable))), others]
  }

  encode_single_token(bytes) {
    this.#open()
    if (typeof bytes !== 'string' && !isUint8Array(bytes)) throw typeError('bytes must be a string or a Uint8Array')
    const key = typeof bytes === 'string' ? utf8Of(bytes) : bytes
    const id = this.#ranks.id(binaryOf(key)) ?? this.#specialTokens.get(utf8.decode(key))
    if (id === undefined) throw error('NO_SUCH_TOKEN', `no token has these bytes: ${[...key].join(' ')}`)
    return id
  }

  decode(tokens) {
    const tokenizer = this.#open()
    const ids = isUint32Array(tokens) ? tokens : idsOf(tokens)
    if (this.#standIns.size > 0) this.#checkNoStandIn(ids)
    return tokenizer.decodeBytes(ids)
  }

  decode_single_token_bytes(token) {
    const tokenizer = this.#open()
    this.#checkNoStandIn([token])
    return tokenizer.decodeBytes([token])
  }

  token_byte_values() {
    this.#open()
    return this.#ranks.sorted.map((token) => [...ofBinary(token)])
  }

  free() {
    this.#tokenizer = undefined
    this.#ranks = undefined
  }

  /** Returns the tokenizer, or throws if `free` was called. */
  #open() {
    if (this.#tokenizer === undefined) throw error('DISPOSED', 'the encoder was freed')
    return this.#tokenizer
  }

  /** Replaces stand-ins by the ids that the caller has given. */
  #given(ids) {
    const standIns = this.#standIns
    return standIns.size === 0 ? ids : ids.map((id) => standIns.get(id) ?? id)
  }

  #checkNoStandIn(ids) {
    const unknown = ids.find((id) => this.#standIns.has(id))
    if (unknown !== undefined) throw error('UNKNOWN_ID', `${unknown} is not the id of a token`)
  }

  #encode(text, allowed_special, disallowed_special) {
    const tokenizer = this.#open()
    checkText(text)
    const allowed = this.#tokenSet('allowed_special', allowed_special ?? [])
    const disallowed =
      (disallowed_special ?? 'all') === 'all'
        ? [...this.#specialTokens.keys()].filter((token) => !allowed.has(token))
        : [...this.#tokenSet('disallowed_special', disallowed_special)]
    const found = firstOf(text, disallowed)
    if (found !== undefined) {
      throw error('SPECIAL_TOKEN', `The text contains a special token that is not allowed: ${found}`)
    }
    const parsed = [...allowed].filter((token) => this.#specialTokens.has(token))
    return tokenizer.encode(text, { specialTokens: parsed.length > 0 ? parsed : 'text', offsets: false })
  }

  /** The set of special tokens for an argument that is 'all' or an array. */
  #tokenSet(name, value) {
    if (value === 'all') return new Set(this.#specialTokens.keys())
    if (!Array.isArray(value)) {
      throw Object.assign(new Error(`Invalid value for ${name}`), { code: 'ERR_TOKENLANE_ARGUMENT_VALUE' })
    }
    return namesOf(value)
  }
}

if (Symbol.dispose !== undefined) Tiktoken.prototype[Symbol.dispose] = Tiktoken.prototype.free

/** Numbers that are not ids become ids as in a typed array, as in the original. */
function idsOf(tokens) {
  if (typeof tokens !== 'object' || tokens === null) throw typeError('tokens must be an array of token ids')
  const isIterable = typeof tokens[Symbol.iterator] === 'function'
  const list = isIterable ? listOf(tokens, MAX_IDS, 'tokens') : tokens
  if (list.length > MAX_IDS) throw error('TEXT_TOO_LONG', `there are more than ${MAX_IDS} tokens`)
  try {
    return Uint32Array.from(list, (token) => primitive(token, 'a token'))
  } catch (failure) {
    throw typeError(`tokens must be numbers: ${failure.message}`)
  }
}

function checkText(text) {
  if (typeof text !== 'string') throw typeError('text must be a string')
  return text
}

function get_encoding(encoding, extend_special_tokens) {
  if (!ENCODINGS.includes(encoding)) throw error('UNKNOWN_ENCODING', 'Invalid encoding')
  return new Tiktoken(NAMED, encoding, extend_special_tokens)
}

function get_encoding_name_for_model(model) {
  const isModel = typeof model === 'string' && Object.hasOwn(encodingOfModel, model)
  const encoding = isModel ? encodingOfModel[model] : undefined
  if (encoding === undefined)
    throw error('UNKNOWN_MODEL', `Invalid model: ${typeof model === 'string' ? model : typeof model}`)
  return encoding
}

function encoding_for_model(model, extend_special_tokens) {
  return get_encoding(get_encoding_name_for_model(model), extend_special_tokens)
}

exports.get_encoding = get_encoding
exports.encoding_for_model = encoding_for_model
exports.get_encoding_name_for_model = get_encoding_name_for_model
exports.Tiktoken = Tiktoken
