'use strict'

// The tokenizer inside a PreTrainedTokenizer, with the calls of @huggingface/tokenizers.

const { bounded, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { Tokenizer: Engine, componentsOf } = require('tokenlane/internal/transformers.js')

// Maximum number of JavaScript numbers in the arrays of one result. Larger arrays can exhaust the
// heap, which ends the process.
const MAX_LISTED = 2 ** 24

const CLEAN_UP = [
  [/ ([.?!,])/g, '$1'],
  [/ ' /g, "'"],
  [/ (n't|'m|'s|'ve|'re)/g, '$1'],
]

/** Removes spaces before punctuation and English contractions, as transformers does. */
const cleanUp = (text) => CLEAN_UP.reduce((cleaned, [pattern, by]) => cleaned.replace(pattern, by), text)

/** Throws if arrays would have too many numbers. */
function checkListed(length) {
  if (length <= MAX_LISTED) return
  throw error(
    'PADDING_TOO_LONG',
    `arrays of ${length} numbers are more than the limit of ${MAX_LISTED}; tensors can have more`,
  )
}

function list(ids) {
  checkListed(ids.length)
  return Array.from(ids)
}

class Backend {
  #engine
  #config
  #settings
  #added

  constructor(engine, config) {
    this.#engine = engine
    this.#config = config
  }

  /** Creates a backend from the object of a tokenizer.json. */
  static fromJson(json, config) {
    if (typeof json !== 'object' || json === null) {
      throw typeError('tokenizerJSON must be the object of a tokenizer.json')
    }
    return new Backend(Engine.fromBufferSync(bytesOf(json)), config)
  }

  /** The tokenizer of tokenlane. */
  get engine() {
    return this.#engine
  }

  /** The tokenizer.json without vocabulary and merges. */
  get settings() {
    if (this.#settings === undefined) {
      const { model, ...rest } = JSON.parse(Buffer.from(componentsOf(this.#engine)).toString())
      this.#settings = { ...rest, model: { ...model, vocab: null, merges: null } }
    }
    return this.#settings
  }

  replacePostProcessor(postProcessor) {
    this.#engine = this.#engine.with({ postProcessor })
    this.#settings = undefined
  }

  encode(text, { text_pair = null, add_special_tokens = true, return_token_type_ids = null } = {}) {
    const encoding = this.encodeOne(text, text_pair, add_special_tokens)
    const result = {
      ids: list(encoding.ids),
      tokens: encoding.tokens,
      attention_mask: new Array(encoding.length).fill(1),
    }
    if (return_token_type_ids) result.token_type_ids = list(encoding.typeIds)
    return result
  }

  /** tokenlane's encoding of one text or pair, without the truncation and padding of the file. */
  encodeOne(text, pair, addSpecialTokens) {
    checkText('text', text)
    if (pair !== null && pair !== undefined) checkText('text_pair', pair)
    return this.#engine.encode(text, {
      pair: pair ?? undefined,
      addSpecialTokens: Boolean(addSpecialTokens),
      truncation: false,
      padding: false,
    })
  }

  tokenize(text, { text_pair = null, add_special_tokens = false } = {}) {
    return this.encodeOne(text, text_pair, add_special_tokens).tokens
  }

  decode(token_ids, { skip_special_tokens = false, clean_up_tokenization_spaces = null } = {}) {
    let text = this.#engine.decode(idsOf(token_ids), { skipSpecialTokens: Boolean(skip_special_tokens) })
    const suffix = this.settings.decoder && this.settings.model.end_of_word_suffix
    if (suffix) {
      text = text.replaceAll(suffix, ' ')
      if (skip_special_tokens) text = text.trim()
    }
    return (clean_up_tokenization_spaces ?? this.#config.clean_up_tokenization_spaces ?? true) ? cleanUp(text) : text
  }

  token_to_id(token) {
    return typeof token === 'string' ? this.#engine.tokenToId(token) : undefined
  }

  id_to_token(id) {
    return this.#engine.idToToken(Number(primitive(id, 'id')))
  }

  get_added_tokens_decoder() {
    // If the ids of the file do not fit, the library assigns consecutive ids, and so does
    // tokenlane.
    const idOf = ({ content, id }) => this.#engine.tokenToId(content) ?? id
    this.#added ??= (this.settings.added_tokens ?? []).map((token) => ({ ...token, id: idOf(token) }))
    return new Map(this.#added.map((token) => [token.id, { ...token }]))
  }

  get_vocab(with_added_tokens = true) {
    const { model, added_tokens: added } = this.#engine.toJSON()
    const pieces = Array.isArray(model.vocab)
      ? model.vocab.map(([piece], id) => [piece, id])
      : Object.entries(model.vocab)
    const contents = new Map(added.map(({ content, id }) => [content, id]))
    const own = pieces.filter(([piece]) => !contents.has(piece))
    const all = with_added_tokens ? [...own, ...contents] : own
    return new Map(all.sort(([, one], [, other]) => one - other))
  }
}

function bytesOf(json) {
  try {
    return Buffer.from(JSON.stringify(json))
  } catch (failure) {
    // A cycle, a bigint, or more text than a string can have.
    throw typeError(`tokenizerJSON must be the object of a tokenizer.json: ${failure.message}`)
  }
}

function checkText(name, text) {
  if (typeof text !== 'string') throw typeError(`${name} must be a string`)
}

/** Ids as numbers. Rows of tensors have bigints. */
function idsOf(ids) {
  const wrong = 'token_ids must be a non-empty array of integers.'
  if (!Array.isArray(ids) || ids.length === 0) throw typeError(wrong)
  const check = (id) => {
    const number = typeof id === 'bigint' ? Number(id) : id
    if (!Number.isInteger(number)) throw typeError(wrong)
    if (number < 0 || number > 0xffffffff) throw error('ARGUMENT_VALUE', `token_ids has ${number}, which is not an id`)
  }
  // Before the length, so that a list of holes is refused at the first one.
  check(ids[0])
  for (const id of bounded(ids)) check(id)
  return Uint32Array.from(ids, Number)
}

module.exports = { Backend, checkListed, checkText, list }
