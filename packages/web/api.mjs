// What each entry point exports.

export {
  Batch,
  DecodeStream,
  Encoding,
  Tokenizer,
  encodingForModel,
  encodings,
  init,
  isTokenlaneError,
  limits,
  queue,
} from './dist/core.mjs'
