'use strict'

// The arguments and options of the loaders (loaders.js).

const { wrongType, wrongValue } = require('./errors.js')
const native = require('./native.js')
const { KNOWN, boolean, loadOptions } = require('./options.js')
const { isUint8Array, isUrl } = require('./realm.js')
const sources = require('./sources.js')

// Loaded on first use.
const later = {
  get chat() {
    return require('./chat/chat.js')
  },
  get metadata() {
    return require('./model/gguf/metadata.js')
  },
  get rankFiles() {
    return require('./model/rank-files.js')
  },
  get openAi() {
    return require('./chat/openai.js')
  },
  get models() {
    return require('./models.js')
  },
}

function filePath(file) {
  if (typeof file === 'string') {
    if (file.length > MAX_PATH) throw wrongValue('file', 'a path of at most 65,536 characters', file)
    return file
  }
  if (isUrl(file)) return sources.pathOfUrl('file', file)
  throw wrongType('file', 'a path (a string) or a file: URL', file)
}

/** No system supports longer paths. */
const MAX_PATH = 65_536

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
  if (isGiven) return later.chat.chatOption(options)
  return options?.encoding === undefined ? undefined : later.openAi.openAiChat(options.encoding)
}

/** The metadata of a GGUF file, or undefined for other bytes. */
function ggufValues(bytes) {
  // The first letter of the format, before a module is loaded.
  if (!isUint8Array(bytes) || bytes[0] !== 0x47 || !later.metadata.isGguf(bytes)) return undefined
  return later.metadata.valuesOf(bytes)
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
  const { ofRanks, rankOptions } = later.rankFiles
  return { options: rankOptions(ranks.name), finished: (handle) => ofRanks(handle, ranks.name, ranks.config) }
}

function encodingFile(name) {
  if (typeof name !== 'string') throw wrongType('name', 'the name of an encoding (a string)', name)
  try {
    return native.encodingFile(name)
  } catch (error) {
    if (later.models.findEncoding(name) !== undefined) error.message += `; it is a model: Tokenizer.forModel('${name}')`
    throw error
  }
}

module.exports = {
  chatOfOptions,
  defaultOf,
  encodingFile,
  filePath,
  folderOptions,
  ggufValues,
  ranksOf,
  withoutConfigs,
}
