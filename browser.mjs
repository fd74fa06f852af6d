// The entry point for browsers, which uses WebAssembly.

import './lib/browser/start.mjs'

export {
  Batch,
  DecodeStream,
  Encoding,
  Tokenizer,
  encodingForModel,
  encodings,
  limits,
  memory,
  queue,
} from './index.js'
