'use strict'

// Tokenizer of the npm package tokenizers. It holds a tokenizer.json; whatever changes a part of it has the tokenizer made
// anew when it is next needed. Truncation and padding are options of the calls: to set them costs nothing.

const fs = require('node:fs')

const { error, notCovered, typeError } = require('../errors.js')
const { AddedToken } = require('./added-token.js')
const { Decoder, Normalizer, PreTokenizer, Processor } = require('./components.js')
const { Encoding } = require('./encoding.js')
const { Model } = require('./models.js')
const { postProcess } = require('./post-process.js')
const settings = require('./settings.js')
const { Tokenizer: Engine } = require('../../lib/tokenizer.js')

class Tokenizer {
  #engine
  /** The file as it was read, until something asks for its parts. */
  #bytes
  #json
  #truncation
  #padding
  #running = 0

  constructor(model) {
    if (model instanceof Buffer) {
      this.#bytes = model
      this.#engine = Engine.fromBufferSync(model)
      return
    }
    if (!(model instanceof Model)) throw typeError('model must be a Model')
    const parts = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null }
    this.#json = { version: '1.0', truncation: null, padding: null, added_tokens: [], ...parts, model: model.json }
  }

  static fromString(s) {
    if (typeof s !== 'string') throw typeError('s must be a string')
    return new Tokenizer(Buffer.from(s))
  }

  static fromFile(file) {
    if (typeof file !== 'string') throw typeError('file must be a path, as a string')
    return new Tokenizer(readFile(file))
  }

  get #tokenizer() {
    this.#engine ??= Engine.fromBufferSync(Buffer.from(JSON.stringify(this.#json)))
    return this.#engine
  }

  get #parts() {
    this.#json ??= JSON.parse(this.#bytes.toString())
    this.#bytes = undefined
    return this.#json
  }

  /** Changes a part of the file. */
  #set(name, Kind, component) {
    if (!(component instanceof Kind)) throw typeError(`a ${Kind.name} is needed`)
    this.#parts[name] = component.json
    this.#engine = undefined
  }

  #get(name, Kind) {
    const json = this.#parts[name]
    return json ? new Kind(json) : null
  }

  setPreTokenizer(preTokenizer) {
    this.#set('pre_tokenizer', PreTokenizer, preTokenizer)
  }

  setDecoder(decoder) {
    this.#set('decoder', Decoder, decoder)
  }

  setModel(model) {
    this.#set('model', Model, model)
  }

  setPostProcessor(postProcessor) {
    this.#set('post_processor', Processor, postProcessor)
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
    this.#padding = settings.padding(options)
  }

  disablePadding() {
    this.#padding = false
  }

  addTokens(tokens) {
    return this.addAddedTokens(tokens.map((token) => new AddedToken(token, false)))
  }

  addSpecialTokens(tokens) {
    this.addAddedTokens(tokens.map((token) => new AddedToken(token, true)))
  }

  /** As Hugging Face's library numbers them: by the model's own id where it has the token, else behind the last. */
  addAddedTokens(tokens) {
    const { added_tokens: added, model } = this.#parts
    const size = Object.keys(model.vocab).length
    let count = 0
    for (const token of tokens) {
      const content = token.getContent()
      const before = added.findIndex((other) => other.content === content)
      const last = added.reduce((most, other) => Math.max(most, other.id), -1)
      const next = last >= size || size === 0 ? last + 1 : size
      const json = AddedToken.json(token, before === -1 ? (model.vocab[content] ?? next) : added[before].id)
      if (content === '' || (before !== -1 && same(added[before], json))) continue
      if (before === -1) added.push(json)
      else added[before] = json
      count += 1
    }
    this.#engine = undefined
    return count
  }

  getVocab(withAddedTokens = true) {
    const { added_tokens: added, model } = this.#parts
    const vocab = { ...model.vocab }
    if (withAddedTokens ?? true) for (const { content, id } of added) vocab[content] = id
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
    const inputs = sentences.map((sentence, index) => pairOf(`sentences[${index}]`, sentence, isPretokenized))
    const options = { addSpecialTokens: addSpecialTokens ?? true }
    const isUniform = new Set(inputs.map((one) => `${one.length} ${one.map(Array.isArray)}`)).size <= 1
    if (!isUniform) return this.#encodeMixed(inputs, options)
    const pairs = inputs[0]?.length === 2 ? inputs.map(([, second]) => second) : undefined
    const all = { ...options, ...this.#limits(), pairs, pretokenized: Array.isArray(inputs[0]?.[0]) }
    const batch = await this.#run(this.#tokenizer.encodeBatch(inputs.map(([first]) => first), all))
    return inputs.map(([first, second], index) => {
      const ids = batch.row(index)
      return this.#encodeOne(first, second, options, ids)
    })
  }

  /** Single texts beside pairs: tokenlane takes only one kind at a time. */
  #encodeMixed(inputs, options) {
    const encodings = inputs.map(([first, second]) => this.#encodeOne(first, second, { ...options, padding: false }))
    if (!this.#padding) return encodings
    const { to, multipleOf, padId, padTypeId, padToken, direction } = this.#padding
    const longest = to === 'longest' ? Math.max(...encodings.map((encoding) => encoding.getLength())) : to
    const length = Math.ceil(longest / multipleOf) * multipleOf
    for (const encoding of encodings) encoding.pad(length, { padId, padTypeId, padToken, direction })
    return encodings
  }

  /** One encoding. Of a batch the ids are known, and with them how far it was padded; the rest is computed when asked for. */
  #encodeOne(text, pair, more, ids = undefined) {
    const tokenizer = this.#tokenizer
    const limits = this.#limits()
    const options = { offsets: 'codepoint', ...limits, ...more, pair, pretokenized: Array.isArray(text) }
    if (ids === undefined) {
      const encoding = inTheirWords(() => tokenizer.encode(text, options))
      return new Encoding(() => encoding, encoding.ids)
    }
    const padding = limits.padding && { ...limits.padding, to: ids.length }
    return new Encoding(() => tokenizer.encode(text, { ...options, padding }), ids)
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
      throw settings.inTheirWords(failure)
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
    const truncation = settings.truncationJson(this.#truncation) ?? this.#parts.truncation
    const padding = settings.paddingJson(this.#padding) ?? this.#parts.padding
    const json = { ...this.#parts }
    if (this.#truncation !== undefined) json.truncation = truncation
    if (this.#padding !== undefined) json.padding = padding
    fs.writeFileSync(path, JSON.stringify(json, null, pretty ? 2 : undefined))
  }

  train() {
    throw notCovered('training')
  }
}

function inTheirWords(call) {
  try {
    return call()
  } catch (failure) {
    throw settings.inTheirWords(failure)
  }
}

function readFile(file) {
  try {
    return fs.readFileSync(file)
  } catch (cause) {
    throw error('FILE', `Error loading from file: ${cause.message}`, { cause })
  }
}

function same(a, b) {
  return Object.keys(b).every((name) => a[name] === b[name])
}

/** A text, or words where the caller says so. */
function input(name, value, isPretokenized) {
  if (typeof value === 'string') return value
  if (isPretokenized && Array.isArray(value) && value.every((word) => typeof word === 'string')) return value
  throw typeError(`${name} must be a string${isPretokenized ? ' or an array of words' : ''}`)
}

/** A text, or two; each is words where the caller says so. */
function pairOf(name, value, isPretokenized) {
  const isPair = Array.isArray(value) && value.length === 2 && (!isPretokenized || value.every(Array.isArray))
  return (isPair ? value : [value]).map((one) => input(name, one, isPretokenized))
}

module.exports = { Tokenizer }
