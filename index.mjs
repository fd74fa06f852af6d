export { Batch, DecodeStream, Encoding, Tokenizer, encodings, limits } from './index.js'
