export { Batch, DecodeStream, Encoding, Tokenizer, encodings, limits, memory } from './index.js'
