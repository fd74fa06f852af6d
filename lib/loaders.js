'use strict'

// The loaders of lib/tokenizer.js. Each returns what a Tokenizer consists of: the handle of the
// addon, its chat, and where it comes from.

const { wrongType, wrongValue } = require('./errors.js')
const { later } = require('./later.js')
const native = require('./native.js')
const { KNOWN, boolean, checkKnown, defaultSpecialTokens, loadOptions, signalOption } = require('./options.js')
const { enqueue } = require('./queue.js')
const { isPlainObject, isRevoked, isUint8Array, isUrl } = require('./realm.js')
const sources = require('./sources.js')
const { step } = require('./steps.js')
const { copyOfBytes } = require('./texts.js')

// Loaded on first use.
const modules = later({
  changes: () => require('./changes.js'),
  chat: () => require('./chat/chat.js'),
  gguf: () => require('./model/gguf/load.js'),
  metadata: () => require('./model/gguf/metadata.js'),
  models: () => require('./models.js'),
  openAi: () => require('./chat/openai.js'),
  rankFiles: () => require('./model/rank-files.js'),
})

/** No system supports longer paths. */
const MAX_PATH = 65_536

/**
 * What a Tokenizer consists of.
 *
 * @typedef {{ handle: any, chat: any, source: any }} Parts `source` says where it was loaded
 *   from, and what it equals
 */

/** @typedef {Generator<any, Parts, any>} Loading work of lib/steps.js */

/**
 * @param {any} file
 * @param {any} options
 * @returns {Loading}
 */
function* fromFile(file, options) {
  const path = filePath(file)
  try {
    return withDefault(yield* ofLocation(path, options), defaultOf(options))
  } catch (failure) {
    if (failure.code === 'ERR_TOKENLANE_FILE_NOT_FOUND') failure.message += hintFor(path)
    throw failure
  }
}

/** How to load what people take for the path of a file. */
function hintFor(path) {
  if (/^https?:\/\/|^hf:/.test(path))
    return '; this is no path: Tokenizer.fromPretrained loads from the Hugging Face Hub, fromBuffer what you download'
  if (modules.models.findEncoding(path) !== undefined) return `; it is a model: Tokenizer.forModel('${path}')`
  const isFileName = /^\.|\.(?:json|model|gguf|tiktoken|txt|bin)$/.test(path)
  return (isFileName ? undefined : modules.models.hintForOther(path)) ?? ''
}

/**
 * Its download takes steps that no synchronous call has.
 *
 * @param {any} repo
 * @param {any} options
 * @returns {Loading}
 */
function* fromPretrained(repo, options) {
  const { request, loading } = sources.hubOptions.pretrainedOptions(repo, options)
  const file = yield step(undefined, () => sources.hub.pretrainedFile(request))
  // The folder has the configs; a file that the caller names is loaded alone.
  const location = request.file === undefined ? sources.folderOf(file) : file
  return withDefault(yield* ofLocation(location, loading, repo), defaultOf(loading))
}

/** A path has one line and no JSON in it. */
const PATH = /^[^\n{]+$/

/**
 * The bytes of a file's content, which may be its text, or a parsed tokenizer.json.
 *
 * @param {any} content
 */
function bytesOfContent(content) {
  if (isUint8Array(content)) return content
  if (typeof content === 'string') {
    if (PATH.test(content.slice(0, MAX_PATH)))
      throw wrongValue('bytes', 'the content of a file (Tokenizer.fromFile takes its path)', content)
    return new TextEncoder().encode(content)
  }
  if (typeof content === 'object' && content !== null && !isRevoked(content) && isPlainObject(content)) {
    try {
      return new TextEncoder().encode(JSON.stringify(content))
    } catch (cause) {
      throw wrongValue(
        'bytes',
        `an object that JSON can hold (${cause instanceof Error ? cause.message : 'it throws'})`,
        content,
      )
    }
  }
  throw wrongType('bytes', 'a Uint8Array, or a tokenizer.json as text or as a parsed object', content)
}

/**
 * @param {any} content
 * @param {any} options
 * @returns {Loading}
 */
function* fromBuffer(content, options) {
  const resolved = loadOptions(options)
  const bytes = bytesOfContent(content)
  const gguf = yield* ggufMetadata(bytes)
  if (gguf !== undefined) return withDefault(yield* ofGguf(gguf, options), defaultOf(options))
  const chat = chatOfOptions(options) ?? modules.chat.chatOf()
  const handle = yield loadBytes(bytes, resolved)
  return withDefault({ handle, chat, source: {} }, defaultOf(options))
}

/** Loads bytes, which the caller may change while the call waits. */
function loadBytes(bytes, options) {
  let source = bytes
  const onWait = () => (source = copyOfBytes(bytes))
  return step(
    () => native.loadBytesSync(bytes, options),
    () => enqueue((queueEntry) => native.loadBytes(queueEntry, source, options), { onWait }),
  )
}

/**
 * @param {any} name
 * @param {string[]} known names of options
 * @param {any} options
 * @returns {Loading}
 */
function* fromEncoding(name, known, options = {}) {
  checkKnown(options, known)
  return yield* ofEncoding(name, options)
}

/**
 * @param {any} name
 * @param {string[]} known names of options
 * @param {any} options
 * @returns {Loading}
 */
function* forModel(name, known, options = {}) {
  checkKnown(options, known)
  return yield* ofEncoding(modules.models.encodingForModel(name), options, name)
}

/** `repository` is the name of the repository on the hub that a folder is a copy of. */
function* ofLocation(name, options, repository = undefined) {
  const { configs, ...resolved } = folderOptions(options)
  const chat = chatOfOptions(options)
  const gguf = yield* ofGgufFile(name, options)
  if (gguf !== undefined) return gguf
  function* loaded(found) {
    const { file, bytes } = found
    const ranks = ranksOf(found, resolved)
    const own = ranks?.options ?? resolved
    const handle = yield bytes === undefined
      ? step(
          () => sources.loadFileSync(file, own),
          () => enqueue((queueEntry) => sources.loadFile(queueEntry, file, own)),
        )
      : loadBytes(bytes, resolved)
    const isWhole = chat !== undefined && (options.config !== undefined || options.encoding !== undefined)
    const chats = isWhole ? chat : withTemplates(yield* sources.chatFiles.chatBeside(file), chat)
    return ofFolder(ranks?.finished(handle) ?? handle, chats, name, originOf(found, ranks, options), repository)
  }
  try {
    return yield* loaded({ file: name })
  } catch (failure) {
    if (!sources.modelFolder?.needsFolder(name, failure)) throw failure
    return yield* loaded(yield* sources.modelFolder.modelOf(name, configs))
  }
}

/** The chat of a folder with the templates of the options, if they have any. */
const withTemplates = (chat, given) => (given === undefined ? chat : (chat?.withTemplatesOf(given) ?? given))

/**
 * What was found in a folder. Ranks that are read as the caller says have no class, and a config of
 * the caller names the special tokens itself.
 */
const originOf = (found, ranks, options) => ({
  ...found,
  source: found.ranks !== undefined && ranks === undefined ? undefined : found.source,
  namesTokens: options?.config === undefined,
})

/** The tokenizer of a file that was found in a folder, changed as the configs beside it say. */
function ofFolder(handle, chat, from, found, repository = from) {
  const { configs, failure, source: known } = found
  const chatWith = (specials) => (specials && found.namesTokens ? (chat.withTokens?.(specials) ?? chat) : chat)
  if (failure !== undefined) return { handle, chat, source: { from, note: withoutConfigs(failure) } }
  if (configs === undefined) {
    // A class may name tokens that a file alone does not have.
    const isThere = ([name, token]) => native.tokenToId(handle, token) !== null || Object.hasOwn(chat.tokens, name)
    const specials = found.specials && chat.withTokens && Object.entries(found.specials).filter(isThere)
    return { handle, chat: chatWith(specials && Object.fromEntries(specials)), source: { from, ...known } }
  }
  try {
    const { handle: changed, specials, ...source } = sources.fromConfigs(handle, configs, repository)
    return { handle: changed, chat: chatWith(specials), source: { from, ...source } }
  } catch (failure) {
    if (failure.code === 'ERR_TOKENLANE_OUT_OF_MEMORY') throw failure
    return { handle, chat, source: { from, note: withoutConfigs(failure) } }
  }
}

/** The tokenizer of a GGUF file; undefined for other files. */
function* ofGgufFile(file, options) {
  try {
    const gguf = sources.ggufFile && (yield* sources.ggufFile.ggufOf(file))
    return gguf === undefined ? undefined : yield* ofGguf(gguf, options, { from: file })
  } catch (failure) {
    throw named(file, failure)
  }
}

/** Codes of errors about the content of a GGUF file. */
const CONTENT = /^ERR_TOKENLANE_(?:GGUF|UNSUPPORTED|TOO_LARGE|MERGE|SHAPE|DUPLICATE_ID|PATTERN)$/

/** Adds the name of the file to an error about its content. */
function named(file, failure) {
  if (CONTENT.test(failure.code)) failure.message = `${file}: ${failure.message}`
  return failure
}

/** The tokenizer of the metadata of a GGUF file. */
function* ofGguf(metadata, options, source = {}) {
  const { bytes, chat, note } = yield* modules.gguf.ggufTokenizer(metadata, options)
  const handle = yield step(
    () => native.loadBytesSync(bytes, {}),
    () => enqueue((queueEntry) => native.loadBytes(queueEntry, bytes, {})),
  )
  return { handle, chat, source: note === undefined ? source : { ...source, note } }
}

/** `model` is the model that the encoding is loaded for, if there is one. */
function* ofEncoding(name, { signal, specialTokens }, model = undefined) {
  signalOption(signal)
  defaultSpecialTokens(specialTokens)
  const [file, options] = [encodingFile(name), { encoding: name }]
  const handle = yield step(
    () => sources.loadEncodingSync(file, options),
    () => enqueue((queueEntry) => sources.loadEncoding(queueEntry, file, options), { signal }),
  )
  return withDefault({ handle, chat: modules.openAi.openAiChat(name, model), source: { from: name } }, specialTokens)
}

/** A tokenizer with another treatment of special tokens by default. */
function withDefault(parts, specialTokens) {
  if (specialTokens === undefined) return parts
  return { ...parts, handle: native.change(parts.handle, modules.changes.changesOf({ specialTokens })) }
}

function filePath(file) {
  if (typeof file === 'string') {
    if (file.length > MAX_PATH) throw wrongValue('file', 'a path of at most 65,536 characters', file)
    return file
  }
  if (isUrl(file)) return sources.pathOfUrl('file', file)
  throw wrongType('file', 'a path (a string) or a file: URL', file)
}

/** The options of a loader of files and folders. */
function folderOptions(options) {
  const resolved = loadOptions(options, KNOWN.loadFolder)
  return { ...resolved, configs: boolean('configs', options?.configs, true) }
}

const withoutConfigs = (failure) => `the file alone, because its configs cannot be used: ${failure.message}`

/** The default of all calls for special tokens that a loader's options give, or undefined. */
const defaultOf = (options) => (typeof options?.specialTokens === 'string' ? options.specialTokens : undefined)

/** The chat of a loader's options, or undefined if the files in its folder define it. */
function chatOfOptions(options) {
  const isGiven = options?.chatTemplate !== undefined || options?.config !== undefined
  if (isGiven) return modules.chat.chatOption(options)
  return options?.encoding === undefined ? undefined : modules.openAi.openAiChat(options.encoding)
}

/** The metadata of a GGUF file, or undefined for other bytes. */
function* ggufMetadata(bytes) {
  // The first letter of the format, before a module is loaded.
  if (!isUint8Array(bytes) || bytes[0] !== 0x47 || !modules.metadata.isGguf(bytes)) return undefined
  return yield* modules.metadata.wholeMetadata(bytes)
}

/**
 * How a rank file that was found in a folder is loaded, and what is made of it; undefined for other
 * files, and if the caller says how it is read.
 *
 * @param {any} found in a folder
 * @param {{ encoding?: any, pattern?: any }} options of the caller
 */
function ranksOf({ ranks }, { encoding, pattern }) {
  if (ranks === undefined || encoding !== undefined || pattern !== undefined) return undefined
  const { ofRanks, rankOptions } = modules.rankFiles
  return { options: rankOptions(ranks.name), finished: (handle) => ofRanks(handle, ranks.name, ranks.config) }
}

function encodingFile(name) {
  if (typeof name !== 'string') throw wrongType('name', 'the name of an encoding (a string)', name)
  try {
    return native.encodingFile(name)
  } catch (error) {
    if (modules.models.findEncoding(name) !== undefined)
      error.message += `; it is a model: Tokenizer.forModel('${name}')`
    throw error
  }
}

module.exports = { forModel, fromBuffer, fromEncoding, fromFile, fromPretrained }
