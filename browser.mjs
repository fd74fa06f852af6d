// The package for browsers, over WebAssembly.

import './lib/browser/start.mjs'

export { Batch, DecodeStream, Encoding, Tokenizer, encodings, limits, memory } from './index.js'
