'use strict'

const { batchOf } = require('./batch.js')
const { Encoding, Source } = require('./encoding.js')
const { limitTooSmall, typeError, wrongType, wrongValue } = require('./errors.js')
const host = require('./host.js')
const { toIds, toRows } = require('./ids.js')
const { checkInput } = require('./limits.js')
const { inLine } = require('./line.js')
const native = require('./native.js')
const { charactersUpTo } = require('./prefix.js')
const { decodeStream } = require('./stream.js')
const {
  KNOWN,
  ONE_TEXT,
  MANY_TEXTS,
  encodeFlags,
  extraOptions,
  hasWords,
  runOptions,
  decodeFlag,
  addedTokensFlag,
  loadOptions,
  boolean,
  checkKnown,
  splitOptions,
  checkCount,
  checkId,
} = require('./options.js')

// What only some calls need is loaded by the first of them: together it takes as much memory as all the rest.
const later = {
  get changes() {
    return require('./changes.js')
  },
  get chat() {
    return require('./chat/chat.js')
  },
  get openAi() {
    return require('./chat/openai.js')
  },
  get split() {
    return require('./split.js')
  },
}

// The addon writes the ids of one text here; longer ones come in memory of their own. Nobody else sees it.
const scratch = new Uint32Array(4096)

// Two numbers that a call of the addon gives back.
const two = new Uint32Array(2)

// A longer string is cut before it is handed over, where it is known that the rest does not matter.
const LONG = 4096

// Only the loaders below make tokenizers.
const LOADER = Symbol('loader')

// A rendered conversation has all its special tokens in it.
const CHAT_TEXT = { addSpecialTokens: false, specialTokens: 'parse' }
const SPOKEN = { addSpecialTokens: false, specialTokens: 'throw' }
const CHAT_IDS = { ...CHAT_TEXT, truncation: false, padding: false }

class Tokenizer {
  #handle
  #chat

  constructor(handle, loader, chat) {
    if (loader !== LOADER) {
      const message = 'a Tokenizer is made by Tokenizer.fromFile, fromPretrained, fromEncoding or fromBuffer'
      throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)
    }
    this.#handle = handle
    this.#chat = chat
  }

  static async fromFile(file, options) {
    const name = filePath(file)
    const told = loadOptions(options)
    const chat = chatTold(options)
    const handle = inLine((turn) => host.loadFile(turn, name, told))
    return new Tokenizer(...(await Promise.all([handle, LOADER, chat ?? host.beside.chatBeside(name)])))
  }

  static fromFileSync(file, options) {
    const name = filePath(file)
    const told = loadOptions(options)
    const chat = chatTold(options)
    return new Tokenizer(host.loadFileSync(name, told), LOADER, chat ?? host.beside.chatBesideSync(name))
  }

  static async fromPretrained(repo, options) {
    const { request, loading } = host.hubOptions.pretrainedOptions(repo, options)
    return Tokenizer.fromFile(await host.hub.pretrainedFile(request), loading)
  }

  static async fromEncoding(name) {
    const file = encodingFile(name)
    const handle = await inLine((turn) => host.loadEncoding(turn, file, { encoding: name }))
    return new Tokenizer(handle, LOADER, openAiChat(name))
  }

  static fromEncodingSync(name) {
    return new Tokenizer(host.loadEncodingSync(encodingFile(name), { encoding: name }), LOADER, openAiChat(name))
  }

  static async fromBuffer(bytes, options) {
    const told = loadOptions(options)
    const chat = chatTold(options) ?? later.chat.chatOf()
    let source = bytes
    const start = (turn) => native.loadBytes(turn, source, told)
    const onWait = () => (source = copyOfBytes(bytes))
    return new Tokenizer(await inLine(start, { onWait }), LOADER, chat)
  }

  static fromBufferSync(bytes, options) {
    const told = loadOptions(options)
    const chat = chatTold(options) ?? later.chat.chatOf()
    return new Tokenizer(native.loadBytesSync(bytes, told), LOADER, chat)
  }

  encode(text, options) {
    checkInput(text, options?.pair)
    const flags = encodeFlags(options, KNOWN.encode, ONE_TEXT)
    const extra = extraOptions(flags, options)
    const pair = options?.pair
    const found = native.encode(this.#handle, text, pair, flags, extra, scratch)
    const ids = typeof found === 'number' ? scratch.slice(0, found) : new Uint32Array(found)
    // Bytes and arrays can change before another column is asked for; a string cannot.
    return new Encoding(ids, new Source(this.#handle, unchanging(text), unchanging(pair), flags, extra))
  }

  async encodeBatch(texts, options) {
    checkInput(texts, options?.pairs)
    const flags = encodeFlags(options, KNOWN.encodeBatch, MANY_TEXTS)
    const extra = extraOptions(flags, options)
    const { threads, signal } = runOptions(options)
    const handle = this.#handle
    const blocks = await whileTextsAreSafe([texts, options?.pairs], hasWords(flags), signal, (turn, [safe, pairs]) =>
      native.encodeBatch(turn, handle, safe, pairs, flags, extra, threads),
    )
    return batchOf(blocks)
  }

  encodeBatchSync(texts, options) {
    checkInput(texts, options?.pairs)
    const flags = encodeFlags(options, KNOWN.encodeBatchSync, MANY_TEXTS)
    const extra = extraOptions(flags, options)
    const { threads } = runOptions(options)
    return batchOf(native.encodeBatchSync(this.#handle, texts, options?.pairs, flags, extra, threads))
  }

  count(text, options) {
    checkInput(text)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    return native.count(this.#handle, text, flags, extraOptions(flags, options))
  }

  isWithin(text, limit, options) {
    checkInput(text)
    checkCount('limit', limit)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    return native.isWithin(this.#handle, text, limit, flags, extraOptions(flags, options))
  }

  encodeInto(text, ids, options) {
    checkInput(text)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    native.encodeInto(this.#handle, text, ids, flags, extraOptions(flags, options), two)
    return { read: two[0], written: two[1] }
  }

  truncate(text, maxTokens, options) {
    checkInput(text)
    checkCount('maxTokens', maxTokens)
    const flags = encodeFlags(options, KNOWN.count, ONE_TEXT)
    const [length] = this.#longestPrefix(text, maxTokens, flags, extraOptions(flags, options))
    return text instanceof Uint8Array ? text.subarray(0, length) : text.slice(0, length)
  }

  split(text, options) {
    checkSplit(text)
    const { limits, flags, extra } = splitOptions(options)
    const { pieces, failure } = later.split.piecesOf(text, native.split(this.#handle, text, flags, extra, later.split.whole(limits)), limits)
    if (failure !== undefined) throw failure
    return pieces
  }

  async splitAsync(text, options) {
    checkSplit(text)
    const { limits, flags, extra, signal } = splitOptions(options, KNOWN.splitAsync)
    const handle = this.#handle
    const start = (turn) => native.splitAsync(turn, handle, text, flags, extra, later.split.whole(limits))
    const { pieces, failure } = later.split.piecesOf(text, await inLine(start, { signal }), limits)
    if (failure !== undefined) throw failure
    return pieces
  }

  splitStream(options) {
    const { limits, flags, extra } = splitOptions(options)
    const handle = this.#handle
    const split = (text, request) => native.split(handle, text, flags, extra, request)
    return new later.split.Splitter(limits, split).toTransformStream()
  }

  /** The length of a text's longest prefix within a limit, and how many ids that has. */
  #longestPrefix(text, limit, flags, extra) {
    let start = text
    if (typeof text === 'string' && text.length > LONG) {
      const most = native.mostUnits(this.#handle, limit) ?? Infinity
      start = text.slice(0, charactersUpTo(text, most))
    }
    if (!native.longestPrefix(this.#handle, start, limit, flags, extra, two)) {
      throw limitTooSmall(`the special tokens around a text are more than ${limit}`)
    }
    return two
  }

  async countBatch(texts, options) {
    checkInput(texts)
    const flags = encodeFlags(options, KNOWN.countBatch, MANY_TEXTS)
    const extra = extraOptions(flags, options)
    const { threads, signal } = runOptions(options)
    const handle = this.#handle
    return new Uint32Array(
      await whileTextsAreSafe([texts], false, signal, (turn, [safe]) =>
        native.countBatch(turn, handle, safe, flags, extra, threads),
      ),
    )
  }

  applyChatTemplate(messages, options = {}) {
    checkKnown(options, [...later.chat.CHAT_OPTIONS, 'tokenize'])
    const { tokenize, ...rest } = options
    const isTokenized = boolean('tokenize', tokenize, true)
    const text = this.#renderChat(messages, rest)
    return isTokenized ? this.encode(text, CHAT_IDS) : text
  }

  countChat(messages, options = {}) {
    // OpenAI documents how long a chat is and not what text it becomes.
    if (this.#chat.count !== undefined) return this.#chat.count(messages, options, (text) => this.count(text, { specialTokens: 'text' }))
    return this.count(this.#renderChat(messages, options), CHAT_TEXT)
  }

  #renderChat(messages, options) {
    const text = this.#chat.render(messages, options)
    if (options.specialTokens === 'throw') later.chat.checkSpoken(messages, options, (said) => this.count(said, SPOKEN))
    return text
  }

  decode(ids, options) {
    return native.decode(this.#handle, toIds('ids', ids), decodeFlag(options, KNOWN.decode))
  }

  decodeBytes(ids, options) {
    return native.decodeBytes(this.#handle, toIds('ids', ids), decodeFlag(options, KNOWN.decode))
  }

  async decodeBatch(rows, options) {
    const skip = decodeFlag(options, KNOWN.decodeBatch)
    const { threads, signal } = runOptions(options)
    let { ids, rowOffsets } = toRows(rows)
    const start = (turn) => native.decodeBatch(turn, this.#handle, ids, rowOffsets, skip, threads)
    // What waits is decoded as it is now, whatever becomes of the batch meanwhile.
    const onWait = () => ([ids, rowOffsets] = [ids.slice(), rowOffsets.slice()])
    return inLine(start, { signal, onWait })
  }

  decodeStream(options) {
    return decodeStream(this.#handle, decodeFlag(options, KNOWN.decode))
  }

  tokenToId(token) {
    if (typeof token !== 'string') throw wrongType('token', 'a string', token)
    return native.tokenToId(this.#handle, token) ?? undefined
  }

  idToToken(id) {
    checkId('id', id)
    return native.idToToken(this.#handle, id) ?? undefined
  }

  stats() {
    const [tableBytes, cacheBytes, cacheHits, cacheMisses, encodedBytes] = native.stats(this.#handle)
    return { tableBytes, cacheBytes, cacheHits, cacheMisses, encodedBytes }
  }

  vocabSize(options) {
    return native.vocabSize(this.#handle, addedTokensFlag(options))
  }

  with(changes) {
    return new Tokenizer(native.change(this.#handle, later.changes.changesOf(changes)), LOADER, this.#chat)
  }

  toBuffer() {
    return native.toBuffer(this.#handle)
  }

  toJSON() {
    return JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.toBuffer()))
  }
}

function checkSplit(text) {
  checkInput(text)
  if (typeof text !== 'string') throw wrongType('text', 'a string', text)
}

function encodings() {
  return native.encodingNames()
}

function filePath(file) {
  if (typeof file === 'string') {
    if (file.length > MOST_PATH) throw wrongValue('file', 'a path of at most 65,536 characters', file)
    return file
  }
  if (file instanceof URL) return host.fileURLToPath(file)
  throw wrongType('file', 'a path (a string) or a file: URL', file)
}

/** No system takes longer ones. */
const MOST_PATH = 65_536

/** How chats go by what a loader is told; undefined where that is for the files beside the tokenizer to say. */
function chatTold(options) {
  const isTold = options?.chatTemplate !== undefined || options?.config !== undefined
  if (isTold) return later.chat.chatOption(options)
  return options?.encoding === undefined ? undefined : openAiChat(options.encoding)
}

const openAiChat = (name) => new later.openAi.OpenAiChat(name)

function encodingFile(name) {
  if (typeof name !== 'string') throw wrongType('name', 'the name of an encoding (a string)', name)
  return native.encodingFile(name)
}

/** A text, or an array of words, that nobody else can change. */
function unchanging(text) {
  if (Array.isArray(text)) return text.map(unchanging)
  return text instanceof Uint8Array ? text.slice() : text
}

/**
 * Calls `start(turn, lists)` in line, with lists of texts, or of arrays of words. The addon copies the texts when the work
 * starts; if that is not now, the arrays and the bytes in them are copied at once, so that what the caller does to them
 * meanwhile changes nothing. Strings never change and stay V8's until then.
 */
function whileTextsAreSafe(lists, words, signal, start) {
  let safe = lists
  const copy = (text) => (typeof text === 'string' ? text : copyOfBytes(text))
  const copyWords = (list) => (Array.isArray(list) ? list.map(copy) : list)
  const onWait = () => {
    safe = lists.map((list) => (Array.isArray(list) ? list.map(words ? copyWords : copy) : list))
  }
  return inLine((turn) => start(turn, safe), { signal, onWait })
}

/** A copy of bytes that the addon would take; what it would refuse stays as it is, for the addon to refuse. */
function copyOfBytes(bytes) {
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return bytes
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && !buffer.resizable ? Uint8Array.from(bytes) : bytes
}

module.exports = { Tokenizer, encodings }
