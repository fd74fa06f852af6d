'use strict'

// The host functions of the package in a browser, which has no files and no cache folder. Bundled
// encodings are fetched.

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

/** Calls back in a later turn of the event loop. A timer would wait for some milliseconds. */
function nextTurn(callback) {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    port1.close()
    callback()
  }
  port2.postMessage(undefined)
}

module.exports = {
  ENCODINGS,
  unsupported,

  fileURLToPath: noFiles,
  nextTurn,
  byteLength: (text) => new TextEncoder().encode(text).length,

  loadFile: noFiles,
  loadFileSync: noFiles,
  loadEncoding: async (turn, file, options) => native.loadBytes(turn, await fetchEncoding(file), options),
  loadEncodingSync: refuse('synchronous access to files', 'use Tokenizer.fromEncoding'),

  beside: { chatBeside() {} },
  hub: {},
  hubOptions: { pretrainedOptions: noHub },

  /** The address space of WebAssembly has 32 bits. */
  systemMemory: () => 2 ** 32,

  /** Unknown. */
  heapBytes: () => Infinity,

  findGc: () => () => {},
}
