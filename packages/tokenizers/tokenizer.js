'use strict'

// Tokenizer of the npm package tokenizers. It is mutable, but tokenlane's tokenizer is not. A
// change therefore replaces the inner tokenizer by a derived one that shares the vocabulary.
// Truncation and padding become options of the calls.

const { bounded, boundedArray } = require('tokenlane/internal/dropins/bounded.js')
const fs = require('node:fs')

const { notCovered, typeError } = require('tokenlane/internal/dropins/errors.js')
const { AddedToken } = require('./added-token.js')
const { Decoder, Model, Normalizer, PreTokenizer, Processor } = require('./components.js')
const { Encoding } = require('./encoding.js')
const { postProcess } = require('./post-process.js')
const settings = require('./settings.js')
const { trained } = require('./train.js')
const { Tokenizer: Engine } = require('tokenlane/internal/tokenizers.js')

class Tokenizer {
  #tokenizer
  /** The JSON form of the tokenizer, created on first use. */
  #json
  #truncation
  #padding
  #running = 0
  /**
   * Tokens that were added since the file was read. A token that lost its id to a later one is no
   * longer in the file, but still counts as added.
   */
  #added = new Set()

  constructor(model) {
    if (model instanceof Engine) {
      this.#tokenizer = model
      return
    }
    if (!(model instanceof Model)) throw typeError('model must be a Model')
    this.#load({ version: '1.0', added_tokens: [], model: model.json })
  }

  static fromString(s) {
    if (typeof s !== 'string') throw typeError('s must be a string')
    return new Tokenizer(Engine.fromBufferSync(Buffer.from(s)))
  }

  static fromFile(file) {
    if (typeof file !== 'string') throw typeError('file must be a string with a path')
    return new Tokenizer(Engine.fromFileSync(file))
  }

  #load(json) {
    this.#tokenizer = Engine.fromBufferSync(json)
    this.#json = undefined
    this.#added.clear()
  }

  get #parts() {
    return (this.#json ??= this.#tokenizer.toJSON())
  }

  #change(changes) {
    this.#tokenizer = this.#tokenizer.with(changes)
    this.#json = undefined
  }

  #set(name, Kind, component) {
    if (!(component instanceof Kind)) throw typeError(`the argument must be a ${Kind.name}`)
    this.#change({ [name]: component.json })
  }

  #get(name, Kind) {
    const json = this.#parts[name]
    return json ? new Kind(json) : null
  }

  setPreTokenizer(preTokenizer) {
    this.#set('preTokenizer', PreTokenizer, preTokenizer)
  }

  setDecoder(decoder) {
    this.#set('decoder', Decoder, decoder)
  }

  setModel(model) {
    if (!(model instanceof Model)) throw typeError('model must be a Model')
    this.#load({ ...this.#parts, model: model.json })
  }

  setPostProcessor(postProcessor) {
    this.#set('postProcessor', Processor, postProcessor)
  }

  setNormalizer(normalizer) {
    this.#set('normalizer', Normalizer, normalizer)
  }

  getDecoder() {
    return this.#get('decoder', Decoder)
  }

  getNormalizer() {
    return this.#get('normalizer', Normalizer)
  }

  getPreTokenizer() {
    return this.#get('pre_tokenizer', PreTokenizer)
  }

  getPostProcessor() {
    return this.#get('post_processor', Processor)
  }

  setTruncation(maxLength, options) {
    this.#truncation = settings.truncation(maxLength, options)
  }

  disableTruncation() {
    this.#truncation = false
  }

  setPadding(options) {
    // Without options the original disables padding.
    this.#padding = options === undefined || options === null ? false : settings.padding(options)
  }

  disablePadding() {
    this.#padding = false
  }

  addTokens(tokens) {
    return this.addAddedTokens(boundedArray(tokens, 'tokens').map((token) => new AddedToken(token, false)))
  }

  addSpecialTokens(tokens) {
    this.addAddedTokens(boundedArray(tokens, 'tokens').map((token) => new AddedToken(token, true)))
  }

  addAddedTokens(tokens) {
    const known = new Map(this.#parts.added_tokens.map((token) => [token.content, token]))
    const added = []
    for (const token of boundedArray(tokens, 'tokens').map(AddedToken.settings)) {
      const { content, special, singleWord, lstrip, rstrip, normalized } = token
      const json = { special, single_word: singleWord, lstrip, rstrip, normalized }
      const before = known.get(content)
      if (content === '' || (before && Object.keys(json).every((name) => before[name] === json[name]))) continue
      known.set(content, json)
      this.#added.add(content)
      added.push(token)
    }
    if (added.length > 0) this.#change({ addedTokens: added })
    return added.length
  }

  getVocab(withAddedTokens = true) {
    const { added_tokens: added, model } = this.#parts
    const vocab = Array.isArray(model.vocab)
      ? Object.fromEntries(model.vocab.map(([piece], id) => [piece, id]))
      : { ...model.vocab }
    if (withAddedTokens ?? true) {
      for (const { content, id } of added) vocab[content] = id
      for (const content of this.#added) vocab[content] = this.tokenToId(content)
    }
    return vocab
  }

  getVocabSize(withAddedTokens = true) {
    return this.#tokenizer.vocabSize({ addedTokens: withAddedTokens ?? true })
  }

  idToToken(id) {
    return this.#tokenizer.idToToken(id) ?? null
  }

  tokenToId(token) {
    return this.#tokenizer.tokenToId(token) ?? null
  }

  async encode(sentence, pair, encodeOptions) {
    const { isPretokenized, addSpecialTokens } = encodeOptions ?? {}
    const text = input('sentence', sentence, isPretokenized)
    const second = pair === null || pair === undefined ? undefined : input('pair', pair, isPretokenized)
    return this.#encodeOne(text, second, { addSpecialTokens: addSpecialTokens ?? true })
  }

  async encodeBatch(sentences, encodeOptions) {
    if (!Array.isArray(sentences)) throw typeError('sentences must be an array')
    const { isPretokenized, addSpecialTokens } = encodeOptions ?? {}
    const inputs = bounded(sentences).map((sentence, index) => pairOf(`sentences[${index}]`, sentence, isPretokenized))
    const options = { addSpecialTokens: addSpecialTokens ?? true }
    const isUniform = new Set(inputs.map((one) => `${one.length} ${one.map(Array.isArray)}`)).size <= 1
    if (!isUniform) return this.#encodeMixed(inputs, options)
    const pairs = inputs[0]?.length === 2 ? inputs.map(([, second]) => second) : undefined
    const all = { ...options, ...this.#limits(), pairs, pretokenized: Array.isArray(inputs[0]?.[0]) }
    const batch = await this.#run(
      this.#tokenizer.encodeBatch(
        inputs.map(([first]) => first),
        all,
      ),
    )
    return inputs.map(([first, second], index) => {
      const ids = batch.row(index)
      return this.#encodeOne(first, second, options, ids)
    })
  }

  /**
   * Encodes a batch that has both single texts and pairs, or both texts and word lists. tokenlane's
   * batch calls need rows of one kind, so each row is encoded alone.
   */
  #encodeMixed(inputs, options) {
    const encodings = inputs.map(([first, second]) => this.#encodeOne(first, second, { ...options, padding: false }))
    if (!this.#padding) return encodings
    const { to, multipleOf, padId, padTypeId, padToken, direction } = this.#padding
    const longest =
      to === 'longest' ? encodings.reduce((most, encoding) => Math.max(most, encoding.getLength()), 0) : to
    const length = Math.ceil(longest / multipleOf) * multipleOf
    for (const encoding of encodings) encoding.pad(length, { padId, padTypeId, padToken, direction })
    return encodings
  }

  /**
   * Returns one encoding. With `ids` (a row of a batch) nothing is encoded now: the other columns
   * are computed on first use, padded to the length of `ids`.
   */
  #encodeOne(text, pair, more, ids = undefined) {
    const tokenizer = this.#tokenizer
    const limits = this.#limits()
    const options = { offsets: 'codepoint', ...limits, ...more, pair, pretokenized: Array.isArray(text) }
    if (ids === undefined) {
      const encoding = callWithOriginalMessages(() => tokenizer.encode(text, options))
      return new Encoding(() => encoding, encoding.ids)
    }
    const padding = limits.padding && { ...limits.padding, to: ids.length }
    const encoded = () => {
      const encoding = tokenizer.encode(text, { ...options, padding })
      if (encoding.ids.length === ids.length) return encoding
      // The padding of the file, which is only known from its JSON.
      const ofFile = settings.paddingOfFile(tokenizer.toJSON().padding)
      return tokenizer.encode(text, { ...options, padding: { ...ofFile, to: ids.length } })
    }
    return new Encoding(encoded, ids)
  }

  #limits() {
    return { truncation: this.#truncation, padding: this.#padding }
  }

  async decode(ids, skipSpecialTokens) {
    return this.#tokenizer.decode(ids, { skipSpecialTokens: skipSpecialTokens ?? false })
  }

  async decodeBatch(ids, skipSpecialTokens) {
    return this.#run(this.#tokenizer.decodeBatch(ids, { skipSpecialTokens: skipSpecialTokens ?? false }))
  }

  async #run(task) {
    this.#running += 1
    try {
      return await task
    } catch (failure) {
      throw settings.withOriginalMessage(failure)
    } finally {
      this.#running -= 1
    }
  }

  runningTasks() {
    return this.#running
  }

  postProcess(encoding, pair, _addSpecialTokens) {
    if (this.#parts.post_processor) throw notCovered('postProcess for a tokenizer that has a post-processor')
    return postProcess(encoding, pair ?? undefined, this.#truncation, this.#padding)
  }

  save(path, pretty) {
    // Node 20 aborts the process if the path is neither a string nor a buffer.
    if (typeof path !== 'string') throw typeError('path must be a string')
    fs.writeFileSync(path, JSON.stringify(this.#tokenizer.with(this.#limits()).toJSON(), null, pretty ? 2 : undefined))
  }

  train(files) {
    if (!Array.isArray(files) || bounded(files).some((file) => typeof file !== 'string'))
      throw typeError('files must be an array of paths')
    this.#tokenizer = Engine.fromBufferSync(trained(this.#parts, files))
    this.#json = undefined
    this.#added.clear()
  }
}

function callWithOriginalMessages(call) {
  try {
    return call()
  } catch (failure) {
    throw settings.withOriginalMessage(failure)
  }
}

/** Checks one input: a string, or with `isPretokenized` also an array of words. */
function input(name, value, isPretokenized) {
  if (typeof value === 'string') return value
  if (isPretokenized && Array.isArray(value) && bounded(value).every((word) => typeof word === 'string')) return value
  throw typeError(`${name} must be a string${isPretokenized ? ' or an array of words' : ''}`)
}

/** Checks one row of a batch and returns its one or two inputs. */
function pairOf(name, value, isPretokenized) {
  const isPair = Array.isArray(value) && value.length === 2 && (!isPretokenized || value.every(Array.isArray))
  return (isPair ? value : [value]).map((one) => input(name, one, isPretokenized))
}

module.exports = { Tokenizer }
