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
