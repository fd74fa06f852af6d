export { Batch, DecodeStream, Encoding, Tokenizer, encodingForModel, encodings, limits, memory } from './index.js'
