'use strict'

// The API of the npm package gpt-tokenizer 4, implemented with tokenlane.

const {
  MAX_IDS,
  counter,
  iterable,
  joined,
  named,
  namesOf,
  primitive,
} = require('tokenlane/internal/dropins/bounded.js')
const { definition, ofRanks, withSpecialTokens } = require('tokenlane/internal/dropins/bundled.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { isId } = require('tokenlane/internal/dropins/special-ids.js')
const { firstOf } = require('tokenlane/internal/dropins/special-tokens.js')
const { chatml, harmony } = require('./internal/chat.js')
const { ALL_SPECIAL_TOKENS } = require('./constants.js')
const { computeChatCompletionTokenCount } = require('./functionCalling.js')
const { functionCallingModels } = require('./internal/models.js')
const { areBundled, linesOf } = require('./internal/ranks.js')
const { DEFAULT_ENCODING, chatModelParams, encodingNames, modelToEncodingMap } = require('./mapping.js')
const special = require('./specialTokens.js')
const { getSpecialTokenRegex } = require('./util.js')

const { EndOfPrompt, EndOfText, FimMiddle, FimPrefix, FimSuffix, ImEnd, ImSep, ImStart } = special

/** The special tokens of encodings for which gpt-tokenizer and tiktoken differ. */
const SPECIAL_TOKENS = {
  cl100k_base: { ...definition('cl100k_base').specialTokens, [ImStart]: 100264, [ImEnd]: 100265, [ImSep]: 100266 },
  o200k_base: {
    [EndOfText]: 199999,
    [FimPrefix]: 200000,
    [FimMiddle]: 200001,
    [FimSuffix]: 200002,
    [ImStart]: 200003,
    [ImEnd]: 200004,
    [ImSep]: 200005,
    [EndOfPrompt]: 200006,
  },
}

/** The numbers of ranks of the bundled files, without loading them. */
const RANKS = { r50k_base: 50_256, p50k_base: 50_280, cl100k_base: 100_256, o200k_base: 199_998 }

/** Codes of the error for a token that does not exist. */
const NO_SUCH_TOKEN = new Set([
  'ERR_TOKENLANE_UNKNOWN_ID',
  'ERR_TOKENLANE_ARGUMENT_VALUE',
  'ERR_TOKENLANE_ARGUMENT_TYPE',
])

/** `decode` takes this many ids from its argument before it decodes them together. */
const IDS_AT_ONCE = 4096
/** Maximum number of messages of a chat, and of its ids. */
const MAX_MESSAGES = 2 ** 20
const MAX_CHAT_IDS = 2 ** 24
/** Maximum number of texts that `decodeAsync` joins, one for each token or character. */
const MAX_ASYNC_TEXTS = 2 ** 24
/** Maximum number of tokens in a row without a text. */
const MAX_SILENT = 2 ** 18

// Makes the constructor private: only the two static functions below know this symbol.
const INTERNAL = Symbol('internal')

class GptEncoding {
  static EndOfPrompt = EndOfPrompt
  static EndOfText = EndOfText
  static FimMiddle = FimMiddle
  static FimPrefix = FimPrefix
  static FimSuffix = FimSuffix

  /** Returns the tokenizer, which the first call loads and not the module's import. */
  #open
  #specialTokens
  #isHarmony

  constructor(params) {
    if (params?.internal !== INTERNAL) {
      throw typeError('GptEncoding has no public constructor; call GptEncoding.getEncodingApi')
    }
    const { encoding, getMergeableRanks, modelName, modelSpec } = params
    if (!encodingNames.includes(encoding))
      throw error(
        'UNKNOWN_ENCODING',
        `Unknown encoding name: ${typeof encoding === 'string' ? encoding : typeof encoding}`,
      )
    const specialTokens = SPECIAL_TOKENS[encoding] ?? definition(encoding).specialTokens
    this.#specialTokens = new Map(Object.entries(specialTokens))
    const { open, ranks } = vocabularyOf(encoding, specialTokens, getMergeableRanks)
    this.#open = open
    this.#isHarmony = encoding === 'o200k_harmony'
    // Fields that are private in the original's typings.
    this.specialTokensEncoder = new Map(this.#specialTokens)
    this.specialTokensSet = new Set(this.#specialTokens.keys())
    this.allSpecialTokenRegex = getSpecialTokenRegex(this.specialTokensSet)
    this.chatFormatter = this.#isHarmony ? 'harmony' : 'chatml'
    this.modelName = modelName
    this.modelSpec = modelSpec
    this.vocabularySize = ranks + this.#specialTokens.size
    for (const name of Object.getOwnPropertyNames(GptEncoding.prototype)) {
      if (name !== 'constructor') this[name] = this[name].bind(this)
    }
    const features = modelSpec?.supported_features
    const callsFunctions = features ? features.includes('function_calling') : functionCallingModels.has(modelName)
    if (callsFunctions)
      this.countChatCompletionTokens = (request) =>
        computeChatCompletionTokenCount(request, (text) => this.#count(text))
  }

  /**
   * @param {string} encodingName
   * @param {(encodingName: string) => readonly (string | readonly number[])[]} [getMergeableRanks]
   */
  static getEncodingApi(encodingName, getMergeableRanks) {
    return new GptEncoding({ internal: INTERNAL, encoding: encodingName, getMergeableRanks })
  }

  /**
   * @param {string} modelName
   * @param {(encodingName: string) => readonly (string | readonly number[])[]} [getMergeableRanks]
   * @param {object} [modelSpec]
   */
  static getEncodingApiForModel(modelName, getMergeableRanks, modelSpec) {
    const isModel = typeof modelName === 'string' && Object.hasOwn(modelToEncodingMap, modelName)
    const encoding = isModel ? modelToEncodingMap[modelName] : DEFAULT_ENCODING
    return new GptEncoding({ internal: INTERNAL, encoding, getMergeableRanks, modelName, modelSpec })
  }

  get #tokenizer() {
    return this.#open()
  }

  encode(lineToEncode, encodeOptions) {
    return Array.from(this.#tokenizer.encode(lineToEncode, this.#policy(lineToEncode, encodeOptions)).ids)
  }

  encodeGenerator(lineToEncode, encodeOptions) {
    const options = this.#policy(lineToEncode, encodeOptions)
    return wordByWord(this.#tokenizer, lineToEncode, options)
  }

  countTokens(input, encodeOptions) {
    if (typeof input === 'string') return this.#tokenizer.count(input, this.#policy(input, encodeOptions))
    return this.encodeChat(input, undefined, encodeOptions).length
  }

  isWithinTokenLimit(input, tokenLimit, encodeOptions) {
    primitive(tokenLimit, 'tokenLimit')
    let count = 0
    if (typeof input === 'string') {
      const options = this.#policy(input, encodeOptions)
      // Stops in a long text as soon as the limit is exceeded. A limit that is not such a number is
      // only compared below.
      if (
        tokenLimit >= 1 &&
        !this.#tokenizer.isWithin(input, Math.min(Math.floor(Number(tokenLimit)), 4294967295), options)
      )
        return false
      count = this.#tokenizer.count(input, options)
      // As in the original, an empty text is within every limit, and every text is if the limit is
      // not a number.
      return count > 0 && count > tokenLimit ? false : count
    }
    const content = (text) => [this.encode(text, encodeOptions)]
    for (const tokens of this.#chat(input, this.modelName, encodeOptions, content)) {
      count += tokens.length
      if (count > tokenLimit) return false
    }
    return count
  }

  /**
   * @param {Iterable<any>} chat
   * @param {string} [model]
   * @param {any} [encodeOptions]
   */
  encodeChat(chat, model = this.modelName, encodeOptions = undefined) {
    return [...this.#chat(chat, model, encodeOptions, (text) => [this.encode(text, encodeOptions)])].flat()
  }

  /** As in the original, contents come word by word. */
  *encodeChatGenerator(chat, model = this.modelName, encodeOptions = undefined) {
    yield* this.#chat(chat, model, encodeOptions, (text) => this.encodeGenerator(text, encodeOptions))
  }

  *#chat(chat, model, encodeOptions, content) {
    if (!model) {
      throw error(
        'ARGUMENT_VALUE',
        'Model name must be provided either during initialization or passed in to the method.',
      )
    }
    const params = Object.hasOwn(chatModelParams, primitive(model, 'model')) ? chatModelParams[model] : undefined
    const hasTokens = this.#isHarmony || (this.#specialTokens.has(ImStart) && this.#specialTokens.has(ImEnd))
    if (params === undefined || !hasTokens) throw error('UNSUPPORTED', `Model '${model}' does not support chat.`)
    if (typeof chat?.[Symbol.iterator] !== 'function') throw typeError('a chat must be an array of messages')
    const write = {
      special: (token) => [this.#specialTokens.get(token)],
      text: (text) => this.encode(text),
      content,
      separator: (text) => (text === '' ? [] : this.encode(text, { allowedSpecial: new Set([ImSep]) })),
    }
    const prime = encodeOptions?.primeWithAssistantResponse ?? 'assistant'
    const messages = counted(chat)
    const count = counter(MAX_CHAT_IDS, 'tokens in the chat')
    for (const tokens of this.#isHarmony ? harmony(messages, prime, write) : chatml(messages, prime, params, write)) {
      count(tokens.length)
      yield tokens
    }
  }

  decode(inputTokensToDecode) {
    const stream = this.#tokenizer.decodeStream()
    const count = counter(MAX_IDS, 'tokens')
    let decoded = ''
    let ids = []
    for (const token of iterable(inputTokensToDecode, 'the tokens')) {
      ids.push(token)
      if (ids.length < IDS_AT_ONCE) continue
      count(IDS_AT_ONCE)
      decoded = joined(decoded, this.#pushed(stream, ids))
      ids = []
    }
    return joined(joined(decoded, this.#pushed(stream, ids)), stream.end())
  }

  /** The text that becomes certain with more tokens, or the original's error. */
  #pushed(stream, ids) {
    try {
      return stream.push(ids)
    } catch (failure) {
      if (!NO_SUCH_TOKEN.has(failure?.code)) throw failure
      const isKnown = (id) => typeof id === 'number' && isId(id) && this.#tokenizer.idToToken(id) !== undefined
      const unknown = named(ids.find((id) => !isKnown(id)))
      throw error('UNKNOWN_ID', `Token ${unknown} is not in the byte pair encoder.`, { cause: failure })
    }
  }

  *decodeGenerator(inputTokensToDecode) {
    const stream = this.#tokenizer.decodeStream()
    let count = silent()
    for (const token of iterable(inputTokensToDecode, 'the tokens')) {
      const text = pushed(stream, token)
      count()
      if (text === '') continue
      count = silent()
      yield text
    }
    const rest = stream.end()
    if (rest !== '') yield rest
  }

  async *decodeAsyncGenerator(inputTokensToDecode) {
    const stream = this.#tokenizer.decodeStream()
    let count = silent()
    for await (const token of iterable(inputTokensToDecode, 'the tokens')) {
      const text = pushed(stream, token)
      count()
      if (text === '') continue
      count = silent()
      yield text
    }
    const rest = stream.end()
    if (rest !== '') yield rest
  }

  async decodeAsync(inputTokensToDecode) {
    const count = counter(MAX_ASYNC_TEXTS, 'tokens')
    let decoded = ''
    let texts = []
    for await (const text of this.decodeAsyncGenerator(inputTokensToDecode)) {
      texts.push(text)
      if (texts.length < IDS_AT_ONCE) continue
      count(IDS_AT_ONCE)
      decoded = joined(decoded, texts.join(''))
      texts = []
    }
    return joined(decoded, texts.join(''))
  }

  /** Returns the cost of `tokenCount` tokens. `modelSpec` has the prices of a million tokens. */
  estimateCost(tokenCount, modelSpec = this.modelSpec) {
    if (!modelSpec) {
      const message = 'Model spec must be provided either during initialization or passed in to the method.'
      throw error('ARGUMENT_VALUE', `${message} (tokenlane has no price list.)`)
    }
    if (!modelSpec.price_data)
      throw error('ARGUMENT_VALUE', `No cost information available for model: ${named(modelSpec.name)}`)
    primitive(tokenCount, 'tokenCount')
    const cost = (price) => price && (primitive(price, 'a price') * tokenCount) / 1e6
    const costs = ({ input, output, cached_input, cached_output }) => ({
      input: cost(input),
      output: cost(output),
      cached_input: cost(cached_input),
      cached_output: cost(cached_output),
    })
    const kinds = ['main', 'batch'].filter((kind) => modelSpec.price_data[kind])
    return Object.fromEntries(kinds.map((kind) => [kind, costs(modelSpec.price_data[kind])]))
  }

  /** Only checks the argument: the size of tokenlane's word cache is fixed. */
  setMergeCacheSize(size) {
    if (typeof size !== 'number' || Number.isNaN(size)) throw typeError('size must be a number')
  }

  /** Does nothing: tokenlane's word cache never changes a result. */
  clearMergeCache() {}

  #count(text) {
    return text ? this.#tokenizer.count(text, { specialTokens: 'text' }) : 0
  }

  /**
   * Throws if the text contains a disallowed special token, and returns the options for tokenlane
   * otherwise.
   */
  #policy(text, options) {
    if (typeof text !== 'string') throw typeError('the text must be a string')
    const { parsed, refused } = options ? this.#sets(options) : { parsed: [], refused: undefined }
    const known = [...this.#specialTokens.keys()]
    const found = firstOf(text, refused ?? known)
    if (found !== undefined) throw error('SPECIAL_TOKEN', `Disallowed special token found: ${found}`)
    const specialTokens = parsed.filter((token) => this.#specialTokens.has(token))
    return { specialTokens: specialTokens.length > 0 ? specialTokens : 'text' }
  }

  /** Returns the special tokens to parse and those to refuse. */
  #sets({ allowedSpecial, disallowedSpecial }) {
    const all = [...this.#specialTokens.keys()]
    const isAll = (set) => set === ALL_SPECIAL_TOKENS || set?.has?.(ALL_SPECIAL_TOKENS)
    if (isAll(allowedSpecial)) {
      if (disallowedSpecial === ALL_SPECIAL_TOKENS) {
        throw error('ARGUMENT_VALUE', 'allowedSpecial and disallowedSpecial cannot both be set to "all".')
      }
      if (!isAll(disallowedSpecial)) {
        const refused = namesOf(disallowedSpecial ?? [])
        return { parsed: all.filter((token) => !refused.has(token)), refused: [] }
      }
      return { parsed: all, refused: [] }
    }
    const allowed = namesOf(allowedSpecial ?? [])
    const parsed = [...allowed]
    // As in the original, a disallowed set without allowedSpecial: 'all' disables the check:
    // special tokens in the text are encoded as ordinary text.
    if (disallowedSpecial && !isAll(disallowedSpecial)) return { parsed, refused: [] }
    return { parsed, refused: all.filter((token) => !allowed.has(token)) }
  }
}

/**
 * The number of ranks of an encoding, or of the caller if those are others, and a function that
 * returns their tokenizer.
 */
function vocabularyOf(encoding, specialTokens, getMergeableRanks) {
  if (getMergeableRanks !== undefined && typeof getMergeableRanks !== 'function')
    throw typeError('getMergeableRanks must be a function that returns ranks')
  const ranks = getMergeableRanks?.(encoding)
  if (ranks === undefined ? getMergeableRanks === undefined : areBundled(ranks, encoding))
    return { ranks: RANKS[definition(encoding).file], open: () => withSpecialTokens(encoding, specialTokens).tokenizer }
  if (!Array.isArray(ranks)) throw typeError('getMergeableRanks must return an array of the tokens by their ranks')
  const { tokenizer } = ofRanks(linesOf(ranks), definition(encoding).pattern, specialTokens)
  return { ranks: tokenizer.vocabSize({ addedTokens: false }), open: () => tokenizer }
}

const silent = () => counter(MAX_SILENT, 'tokens in a row without a text')

function* counted(chat) {
  const count = counter(MAX_MESSAGES, 'messages in the chat')
  for (const message of iterable(chat, 'a chat')) {
    count()
    yield message
  }
}

/**
 * The text that becomes certain with one more token. As in the original, generators skip a token
 * that does not exist; `decode` throws.
 */
function pushed(stream, token) {
  try {
    return stream.push(token)
  } catch (error) {
    if (NO_SUCH_TOKEN.has(error?.code)) return ''
    throw error
  }
}

/** Yields the ids of each word. */
function* wordByWord(tokenizer, text, options) {
  const { ids, wordIds } = tokenizer.encode(text, options)
  let start = 0
  for (let at = 1; at <= ids.length; at++) {
    if (at < ids.length && wordIds[at] === wordIds[start]) continue
    yield Array.from(ids.subarray(start, at))
    start = at
  }
  return ids.length
}

module.exports = { GptEncoding }
