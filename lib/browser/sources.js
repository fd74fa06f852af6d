'use strict'

// Replaces ../sources.js in browsers, which have no files and no cache folder. Bundled encodings
// are fetched.

const { error } = require('../errors.js')
const native = require('./native.js')

/** The URLs of the bundled encodings by file name; start.mjs sets them. */
const ENCODINGS = {}

const unsupported = (message) => error('ERR_TOKENLANE_UNSUPPORTED', message)

const refuse = (feature, alternative) => () => {
  throw unsupported(`a browser has no ${feature}: ${alternative}`)
}
const noFiles = refuse('files', 'fetch the tokenizer and load it with Tokenizer.fromBuffer')
const noHub = refuse(
  'cache folder for Tokenizer.fromPretrained',
  'fetch the tokenizer and load it with Tokenizer.fromBuffer',
)

async function fetchEncoding(file) {
  const response = await fetch(ENCODINGS[file])
  if (!response.ok)
    throw error('ERR_TOKENLANE_FILE', `cannot fetch ${response.url}: status ${response.status} ${response.statusText}`)
  return new Uint8Array(await response.arrayBuffer())
}

module.exports = {
  ENCODINGS,
  unsupported,

  pathOfUrl: noFiles,

  loadFile: noFiles,
  loadFileSync: noFiles,
  loadEncoding: async (queueEntry, file, options) => native.loadBytes(queueEntry, await fetchEncoding(file), options),
  loadEncodingSync: refuse('synchronous access to files', 'use Tokenizer.fromEncoding'),

  hub: {},
  hubOptions: { pretrainedOptions: noHub },
}
