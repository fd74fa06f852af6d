'use strict'

// The exports of the entry points of encodings and models: the methods of a GptEncoding, and
// constants.

const constants = require('../constants.js')
const { DEFAULT_ENCODING, modelToEncodingMap } = require('../mapping.js')
const specialTokens = require('../specialTokens.js')
const { WITHOUT_CHAT, functionCallingModels } = require('./models.js')

const METHODS = [
  'clearMergeCache',
  'countTokens',
  'decode',
  'decodeAsyncGenerator',
  'decodeGenerator',
  'encode',
  'encodeGenerator',
  'estimateCost',
  'isWithinTokenLimit',
  'setMergeCacheSize',
  'vocabularySize',
]

/** The names of what an entry point takes from its GptEncoding. */
function namesOf(kind, name) {
  const encoding = kind === 'encoding' ? name : (modelToEncodingMap[name] ?? DEFAULT_ENCODING)
  const names = [...METHODS]
  if (!WITHOUT_CHAT.has(encoding)) names.push('encodeChat', 'encodeChatGenerator')
  if (kind === 'model' && functionCallingModels.has(name)) names.push('countChatCompletionTokens')
  return names.sort()
}

function entry(kind, name) {
  // Not above: tools/model-entries.mjs needs only the names, before the addon is built.
  const { GptEncoding } = require('../GptEncoding.js')
  const api = kind === 'encoding' ? GptEncoding.getEncodingApi(name) : GptEncoding.getEncodingApiForModel(name)
  const own = Object.fromEntries(namesOf(kind, name).map((key) => [key, api[key]]))
  return Object.defineProperties(
    { ...constants, ...specialTokens, ...own, default: api },
    { __esModule: { value: true }, [Symbol.toStringTag]: { value: 'Module' } },
  )
}

module.exports = { entry, namesOf }
