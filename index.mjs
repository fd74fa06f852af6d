export {
  Batch,
  DecodeStream,
  Encoding,
  Tokenizer,
  encodingForModel,
  encodings,
  isTokenlaneError,
  limits,
  memory,
  queue,
} from './index.js'
