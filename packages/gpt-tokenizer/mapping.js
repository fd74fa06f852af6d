'use strict'

// The encoding of each model, and the models that support chats. A model that is not listed uses
// the newest encoding.

const { chatModels } = require('./internal/models.js')
const { modelsMap_exports: encodings } = require('./modelsMap.js')
const { ImSep } = require('./specialTokens.js')

const ENCODINGS = ['gpt2', 'p50k_base', 'r50k_base', 'p50k_edit', 'cl100k_base', 'o200k_base', 'o200k_harmony']

exports.cl100k_base = 'cl100k_base'
exports.gpt2 = 'gpt2'
exports.p50k_base = 'p50k_base'
exports.p50k_edit = 'p50k_edit'
exports.r50k_base = 'r50k_base'
exports.o200k_base = 'o200k_base'
exports.o200k_harmony = 'o200k_harmony'
exports.DEFAULT_ENCODING = 'o200k_base'
exports.encodingNames = ENCODINGS

exports.modelToEncodingMap = Object.fromEntries(
  Object.entries(encodings).flatMap(([encoding, names]) => names.map((name) => [name, encoding])),
)

exports.chatModelParams = Object.fromEntries(
  chatModels.map((name) => [
    name,
    name.startsWith('gpt-3.5')
      ? { messageSeparator: '\n', roleSeparator: '\n' }
      : { messageSeparator: '', roleSeparator: ImSep },
  ]),
)
