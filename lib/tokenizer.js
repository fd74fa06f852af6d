'use strict'

const { batchOf } = require('./batch.js')
const { SHORT_TEXT_UNITS, encodeOne } = require('./encoding.js')
const { limitTooSmall, typeError, wrongType, wrongValue } = require('./errors.js')
const { toIds, toRows } = require('./ids.js')
const { later } = require('./later.js')
const { checkInput, inputMeter } = require('./limits.js')
const { enqueue } = require('./queue.js')
const loaders = require('./loaders.js')
const native = require('./native.js')
const { isArray, isUint32Array, isUint8Array } = require('./realm.js')
const { run, runNow } = require('./steps.js')
const { decodeStream } = require('./stream.js')
const { BatchTexts, copyTexts, unproxied } = require('./texts.js')
const {
  KNOWN,
  ONE_TEXT,
  PART,
  MANY_TEXTS,
  encodeFlags,
  extraOptions,
  hasWords,
  runOptions,
  decodeFlag,
  addedTokensFlag,
  countsAs,
  signalOption,
  splitOptions,
  checkCount,
  checkId,
} = require('./options.js')

// Modules that only some calls need load on first use: together they need as much memory as all
// others.
const modules = later({
  facts: () => require('./facts.js'),
  calls: () => require('./chat/calls.js'),
  iterables: () => require('./iterables.js'),
  live: () => require('./live.js'),
  changes: () => require('./changes.js'),
  apply: () => require('./chat/apply.js'),
  print: () => require('./print.js'),
  markdown: () => require('./markdown.js'),
  split: () => require('./split.js'),
})

const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const CHAT_FORMAT = Symbol.for('tokenlane.chatFormat')
const RESPONSE_TEMPLATE = Symbol.for('tokenlane.responseTemplate')

// The fastest call for a string shorter than SHORT_TEXT_UNITS. It returns undefined if the general
// call has to be made.
const countShort = native.countShort ?? (() => undefined)

// The addon writes results of two numbers to this buffer.
const two = new Uint32Array(2)

// A call that needs only the start of a string gets this many UTF-16 units of a much longer one:
// the section of crates/core/src/split/section.rs.
const MIN_START_UNITS = 4100
const START_UNITS_PER_ID = 32
/** The addon's answer if it needs more of the text. */
const DEPENDS_ON_MORE = 2

// Makes the constructor private: only the loaders below create tokenizers.
const LOADER = Symbol('loader')

/**
 * structuredClone and postMessage would copy a Tokenizer as an empty object. They copy its own
 * fields, and an error shows the field that they cannot copy: this function.
 */
const cannotBeCloned = () => 'load the Tokenizer in each worker by the same name: they share its memory. It'

/**
 * What a tokenizer consists of. Internal, for lib/internals.js and lib/chat.
 *
 * @type {(tokenizer: Tokenizer) => import('./loaders.js').Parts}
 */
let partsOf

class Tokenizer {
  static {
    partsOf = (tokenizer) => ({ handle: tokenizer.#handle, chat: tokenizer.#chat, source: tokenizer.#source })
  }

  #handle
  #chat
  /** Where it was loaded from, and what it equals. */
  #source

  /**
   * @param {import('./loaders.js').Parts} parts
   * @param {symbol} loader
   */
  constructor(parts, loader) {
    if (loader !== LOADER) {
      const message =
        'Tokenizer has no public constructor; call Tokenizer.fromFile, fromPretrained, forModel, fromEncoding or fromBuffer'
      throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)
    }
    this.#handle = parts.handle
    this.#chat = parts.chat
    this.#source = parts.source
    this.clone = cannotBeCloned
  }

  /** Throws if a method was taken from its tokenizer, as in `texts.map(tokenizer.count)`. */
  static #check(self, method) {
    if (typeof self === 'object' && self !== null && #handle in self) return
    const message = `${method} was called without its tokenizer: write (text) => tokenizer.${method}(text), or tokenizer.${method}.bind(tokenizer)`
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)
  }

  static async fromFile(file, options) {
    return new Tokenizer(await run(loaders.fromFile(file, options)), LOADER)
  }

  static fromFileSync(file, options) {
    return new Tokenizer(runNow(loaders.fromFile(file, options)), LOADER)
  }

  static async fromPretrained(repo, options) {
    return new Tokenizer(await run(loaders.fromPretrained(repo, options)), LOADER)
  }

  static async fromEncoding(name, options) {
    return new Tokenizer(await run(loaders.fromEncoding(name, KNOWN.loadEncoding, options)), LOADER)
  }

  static fromEncodingSync(name, options) {
    return new Tokenizer(runNow(loaders.fromEncoding(name, KNOWN.loadEncodingSync, options)), LOADER)
  }

  static async forModel(name, options) {
    return new Tokenizer(await run(loaders.forModel(name, KNOWN.loadEncoding, options)), LOADER)
  }

  static forModelSync(name, options) {
    return new Tokenizer(runNow(loaders.forModel(name, KNOWN.loadEncodingSync, options)), LOADER)
  }

  static async fromBuffer(bytes, options) {
    return new Tokenizer(await run(loaders.fromBuffer(bytes, options)), LOADER)
  }

  static fromBufferSync(bytes, options) {
    return new Tokenizer(runNow(loaders.fromBuffer(bytes, options)), LOADER)
  }

  encode(text, options) {
    Tokenizer.#check(this, 'encode')
    const flags = encodeFlags(options, KNOWN.encode, ONE_TEXT)
    if (typeof text !== 'string') checkOneText(text, hasWords(flags))
    checkInput(text, options?.pair)
    const extra = extraOptions(flags, options, this)
    return encodeOne(this.#handle, text, options?.pair, flags, extra)
  }

  async encodeBatch(texts, options) {
    Tokenizer.#check(this, 'encodeBatch')
    const flags = encodeFlags(options, KNOWN.encodeBatch, MANY_TEXTS)
    checkInput(texts, options?.pairs)
    const extra = extraOptions(flags, options, this)
    const { threads, signal } = runOptions(options)
    const handle = this.#handle
    const parts = await enqueueTexts([texts, options?.pairs], hasWords(flags), signal, (queueEntry) =>
      native.encodeBatch(queueEntry, handle, flags, extra, threads),
    )
    return batchOf(parts)
  }

  encodeBatchSync(texts, options) {
    Tokenizer.#check(this, 'encodeBatchSync')
    const flags = encodeFlags(options, KNOWN.encodeBatchSync, MANY_TEXTS)
    checkInput(texts, options?.pairs)
    const extra = extraOptions(flags, options, this)
    const { threads } = runOptions(options)
    const [first, second] = [unproxied('texts', texts), unproxied('pairs', options?.pairs)]
    return batchOf(native.encodeBatchSync(this.#handle, first, second, flags, extra, threads))
  }

  count(text, options) {
    Tokenizer.#check(this, 'count')
    if (typeof text !== 'string') checkOneText(text)
    checkInput(text)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    const extra = extraOptions(flags, options)
    const isShort = typeof text === 'string' && text.length < SHORT_TEXT_UNITS && extra === undefined
    return (
      (isShort ? countShort(this.#handle, text, flags) : undefined) ?? native.count(this.#handle, text, flags, extra)
    )
  }

  isWithin(text, limit, options) {
    Tokenizer.#check(this, 'isWithin')
    if (typeof text !== 'string') checkOneText(text)
    checkInput(text)
    checkCount('limit', limit)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    return native.isWithin(this.#handle, text, limit, flags, extraOptions(flags, options))
  }

  encodeInto(text, ids, options) {
    Tokenizer.#check(this, 'encodeInto')
    if (typeof text !== 'string') checkOneText(text)
    checkInput(text)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    const extra = extraOptions(flags, options)
    const start = startOf(text, isUint32Array(ids) ? ids.length : 0)
    if (start === text || !native.encodeInto(this.#handle, start, ids, flags | PART, extra, two))
      native.encodeInto(this.#handle, text, ids, flags, extra, two)
    return { read: two[0], written: two[1] }
  }

  truncate(text, maxTokens, options) {
    Tokenizer.#check(this, 'truncate')
    if (typeof text !== 'string') checkOneText(text)
    checkInput(text)
    checkCount('maxTokens', maxTokens)
    const flags = encodeFlags(options, KNOWN.truncate, ONE_TEXT)
    const extra = extraOptions(flags, options)
    const direction = options?.direction
    if (direction !== undefined && direction !== 'right') return truncateFrom(this, text, maxTokens, options)
    const start = startOf(text, maxTokens)
    let reason =
      start === text ? DEPENDS_ON_MORE : native.truncate(this.#handle, start, maxTokens, flags | PART, extra, two)
    if (reason === DEPENDS_ON_MORE) reason = native.truncate(this.#handle, text, maxTokens, flags, extra, two)
    if (reason !== null) throw limitTooSmall(`the special tokens around a text are more than ${maxTokens}`)
    const length = two[0]
    return isUint8Array(text) ? text.subarray(0, length) : text.slice(0, length)
  }

  split(text, options) {
    Tokenizer.#check(this, 'split')
    checkSplit(text)
    if (isOfBlocks(options)) return modules.markdown.splitBlocks(this, text, options)
    const { limits, flags, extra } = splitOptions(options)
    const { pieces, failure } = modules.split.piecesOf(
      text,
      native.split(this.#handle, text, flags, extra, modules.split.whole(limits)),
      limits,
    )
    if (failure !== undefined) throw failure
    return pieces
  }

  async splitAsync(text, options) {
    Tokenizer.#check(this, 'splitAsync')
    checkSplit(text)
    if (isOfBlocks(options)) return await modules.markdown.splitBlocksAsync(this, text, options)
    const { limits, flags, extra, signal } = splitOptions(options, KNOWN.splitAsync)
    const handle = this.#handle
    const start = (queueEntry) => native.splitAsync(queueEntry, handle, text, flags, extra, modules.split.whole(limits))
    const { pieces, failure } = modules.split.piecesOf(text, await enqueue(start, { signal }), limits)
    if (failure !== undefined) throw failure
    return pieces
  }

  splitStream(...args) {
    Tokenizer.#check(this, 'splitStream')
    const { isSource, ofTexts, resultsOf, transformStream } = modules.iterables
    const [source, options] = isSource(args[0]) ? args : [undefined, args[0]]
    const work = ofTexts(this.#splitter(options))
    const signal = signalOption(options.signal)
    return source === undefined ? transformStream(work, signal) : resultsOf(work, source, signal)
  }

  #splitter(options) {
    if (isOfBlocks(options)) return new modules.markdown.BlockSplitter(this, options, KNOWN.splitAsync)
    const { limits, flags, extra } = splitOptions(options, KNOWN.splitAsync)
    const handle = this.#handle
    const split = (text, request) => native.split(handle, text, flags, extra, request)
    return new modules.split.Splitter(limits, split)
  }

  live(text = '', options = undefined) {
    Tokenizer.#check(this, 'live')
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    return modules.live.liveText(this.#handle, text, flags, extraOptions(flags, options))
  }

  encodeChunks(...args) {
    Tokenizer.#check(this, 'encodeChunks')
    const { isSource, ofTexts, resultsOf, transformStream } = modules.iterables
    const [source, options = {}] = isSource(args[0]) ? args : [undefined, args[0]]
    const flags = encodeFlags(options, KNOWN.encodeChunks, ONE_TEXT)
    const encoder = { handle: this.#handle, flags, extra: extraOptions(flags, options) }
    const work = ofTexts(new modules.live.ChunkEncoder(encoder))
    const signal = signalOption(options.signal)
    return source === undefined ? transformStream(work, signal) : resultsOf(work, source, signal)
  }

  encodeStream(texts, options = {}) {
    Tokenizer.#check(this, 'encodeStream')
    return modules.iterables.inBatches(texts, options, KNOWN.encodeStream, (...batch) => this.encodeBatch(...batch))
  }

  countStream(texts, options = {}) {
    Tokenizer.#check(this, 'countStream')
    return modules.iterables.inBatches(texts, options, KNOWN.countStream, (...batch) => this.countBatch(...batch))
  }

  async countBatch(texts, options) {
    Tokenizer.#check(this, 'countBatch')
    checkInput(texts)
    const flags = encodeFlags(options, KNOWN.countBatch, MANY_TEXTS)
    const extra = extraOptions(flags, options)
    const { threads, signal } = runOptions(options)
    const result = countsAs(options)
    const handle = this.#handle
    return result(
      await enqueueTexts([texts], false, signal, (queueEntry) =>
        native.countBatch(queueEntry, handle, flags, extra, threads),
      ),
    )
  }

  countBatchSync(texts, options) {
    Tokenizer.#check(this, 'countBatchSync')
    checkInput(texts)
    const flags = encodeFlags(options, KNOWN.countBatchSync, MANY_TEXTS)
    const { threads } = runOptions(options)
    const result = countsAs(options)
    const list = unproxied('texts', texts)
    return result(native.countBatchSync(this.#handle, list, flags, extraOptions(flags, options), threads))
  }

  applyChatTemplate(messages, options = {}) {
    Tokenizer.#check(this, 'applyChatTemplate')
    return modules.apply.applyChat(this.#chat, messages, options, this.#chatCalls)
  }

  countChat(messages, options = {}) {
    Tokenizer.#check(this, 'countChat')
    // OpenAI documents the number of tokens of a chat, but not its text.
    if (this.#chat.count !== undefined) return this.#chat.count(messages, options, this.#countText)
    return modules.apply.countChat(this.#chat, messages, options, this.#chatCalls)
  }

  /** For @tokenlane/requests: how chats are counted, if not by a template. */
  get [CHAT_FORMAT]() {
    return this.#chat?.format
  }

  /** How transformers reads answers, of the config, for `@tokenlane/completions`. */
  get [RESPONSE_TEMPLATE]() {
    return this.#chat?.config?.response_template
  }

  /** Counts the texts of one chat, in which special tokens are text. */
  get #countText() {
    const charge = inputMeter()
    return (text) => {
      charge(text)
      return this.count(text, { specialTokens: 'text' })
    }
  }

  get #chatCalls() {
    return modules.calls.chatCalls(this, partsOf)
  }

  decode(ids, options) {
    Tokenizer.#check(this, 'decode')
    return native.decode(this.#handle, toIds('ids', ids), decodeFlag(options, KNOWN.decode))
  }

  decodeBytes(ids, options) {
    Tokenizer.#check(this, 'decodeBytes')
    return native.decodeBytes(this.#handle, toIds('ids', ids), decodeFlag(options, KNOWN.decode))
  }

  async decodeBatch(rows, options) {
    Tokenizer.#check(this, 'decodeBatch')
    const skip = decodeFlag(options, KNOWN.decodeBatch)
    const { threads, signal } = runOptions(options)
    let { ids, rowOffsets } = toRows(rows)
    const start = (queueEntry) => native.decodeBatch(queueEntry, this.#handle, ids, rowOffsets, skip, threads)
    // A queued call decodes the ids of now, even if the batch changes.
    const onWait = () => ([ids, rowOffsets] = [ids.slice(), rowOffsets.slice()])
    return await enqueue(start, { signal, onWait })
  }

  decodeWithOffsets(ids, options) {
    Tokenizer.#check(this, 'decodeWithOffsets')
    const list = toIds('ids', ids)
    decodeFlag(options, KNOWN.decode)
    return require('./decode-offsets.js').decodeWithOffsets(this, list, options)
  }

  decodeStream(...args) {
    Tokenizer.#check(this, 'decodeStream')
    const { isSource, ofIds, resultsOf } = modules.iterables
    if (!isSource(args[0])) return decodeStream(this.#handle, decodeFlag(args[0], KNOWN.decode))
    const [ids, options = {}] = args
    const stream = decodeStream(this.#handle, decodeFlag(options, KNOWN.decodeStream))
    return resultsOf(ofIds(stream), ids, signalOption(options.signal))
  }

  tokenToId(token) {
    Tokenizer.#check(this, 'tokenToId')
    if (typeof token !== 'string') throw wrongType('token', 'a string', token)
    return native.tokenToId(this.#handle, token) ?? undefined
  }

  idToToken(id) {
    Tokenizer.#check(this, 'idToToken')
    checkId('id', id)
    return native.idToToken(this.#handle, id) ?? undefined
  }

  get source() {
    return { ...this.#source }
  }

  get #facts() {
    return modules.facts.factsOf(this, this.#handle, this.#chat?.config)
  }

  get specialTokens() {
    return new Map(this.#facts.specialTokens)
  }

  get bosId() {
    return this.#facts.bosId
  }

  get eosId() {
    return this.#facts.eosId
  }

  get padId() {
    return this.#facts.padId
  }

  get unkId() {
    return this.#facts.unkId
  }

  get modelMaxLength() {
    return this.#facts.modelMaxLength
  }

  get maxId() {
    const id = native.maxId(this.#handle)
    return id < 0 ? undefined : id
  }

  tokens() {
    Tokenizer.#check(this, 'tokens')
    return modules.facts.tokensOf(this, native.maxId(this.#handle))
  }

  stats() {
    const [tableBytes, cacheBytes, cacheHits, cacheMisses, encodedBytes] = native.stats(this.#handle)
    return { tableBytes, cacheBytes, cacheHits, cacheMisses, encodedBytes }
  }

  vocabSize(options) {
    return native.vocabSize(this.#handle, addedTokensFlag(options))
  }

  with(changes) {
    const { splitsSpecialTokens } = this.#source
    const source = splitsSpecialTokens ? { splitsSpecialTokens } : {}
    const changed = native.change(this.#handle, modules.changes.changesOf(changes, this))
    return new Tokenizer({ handle: changed, chat: this.#chat, source }, LOADER)
  }

  toBuffer() {
    return native.toBuffer(this.#handle)
  }

  /** @param {import('./print.js').InspectArguments} args */
  [INSPECT](...args) {
    if (!(#handle in this)) return 'Tokenizer.prototype'
    return modules.print.printTokenizer(this, this.#source, ...args)
  }

  toJSON() {
    return JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.toBuffer()))
  }
}

/** The end of a text, for the direction 'left'. */
function truncateFrom(tokenizer, text, maxTokens, { direction, ...counting }) {
  if (direction !== 'left') throw wrongValue('direction', "'left' or 'right'", direction)
  return require('./truncate-left.js').truncateLeft(tokenizer, text, maxTokens, counting)
}

function checkSplit(text) {
  checkInput(text)
  if (typeof text !== 'string') throw wrongType('text', 'a string', text)
}

/**
 * The start of a long string that is almost always enough for a number of ids, so that the rest is
 * not copied.
 */
function startOf(text, ids) {
  const units = MIN_START_UNITS + START_UNITS_PER_ID * ids
  return typeof text === 'string' && text.length > 2 * units ? text.slice(0, units) : text
}

function encodings() {
  return native.encodingNames()
}

/** Whether pieces end at paragraphs or at blocks of code or Markdown, which JavaScript finds. */
const isOfBlocks = (options) => ['paragraph', 'markdown', 'code'].includes(options?.boundary)

/** Throws for an array of texts, which is an argument of other calls. */
function checkOneText(text, hasWords = false) {
  if (hasWords || !isArray(text)) return
  throw wrongType('text', 'a string or a Uint8Array of UTF-8 (encodeBatch and countBatch take arrays of texts)', text)
}

/**
 * Queues `start(queueEntry)`, which is called when the texts are copied. If the call has to wait,
 * for a permit or for the end of copying, later changes of the texts have no effect.
 */
function enqueueTexts(lists, words, signal, start) {
  const texts = new BatchTexts(lists, words)
  const copyAndStart = (queueEntry) => copyTexts(queueEntry, texts)?.then(() => start(queueEntry)) ?? start(queueEntry)
  return enqueue(copyAndStart, { signal, onWait: () => texts.snapshot() })
}

module.exports = { Tokenizer, encodings, partsOf }
