'use strict'

// What the package asks of what it runs on, as a browser has it: no files and no cache folder, but encodings to fetch.

const { error } = require('../errors.js')
const native = require('./native.js')

/** Where the bundled encodings are: start.mjs knows. */
const ENCODINGS = {}

const unsupported = (message) => error('ERR_TOKENLANE_UNSUPPORTED', message)

const refuse = (call, instead) => () => {
  throw unsupported(`a browser has no ${call}: ${instead}`)
}
const noFiles = refuse('files', 'fetch the tokenizer and load it with Tokenizer.fromBuffer')
const noHub = refuse('cache folder for Tokenizer.fromPretrained', 'fetch the tokenizer and load it with Tokenizer.fromBuffer')

async function fetched(file) {
  const response = await fetch(ENCODINGS[file])
  if (!response.ok) throw error('ERR_TOKENLANE_FILE', `cannot fetch ${response.url}: ${response.status} ${response.statusText}`)
  return new Uint8Array(await response.arrayBuffer())
}

module.exports = {
  ENCODINGS,
  unsupported,

  fileURLToPath: noFiles,
  byteLength: (text) => new TextEncoder().encode(text).length,

  loadFile: noFiles,
  loadFileSync: noFiles,
  loadEncoding: async (turn, file, told) => native.loadBytes(turn, await fetched(file), told),
  loadEncodingSync: refuse('way to wait for a file', 'use Tokenizer.fromEncoding'),

  beside: { chatBeside() {} },
  hub: {},
  hubOptions: { pretrainedOptions: noHub },

  /** WebAssembly has addresses of 32 bits. */
  memoryThere: () => 2 ** 32,

  findGc: () => () => {},
}
