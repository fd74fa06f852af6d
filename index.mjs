export { Batch, DecodeStream, Encoding, Tokenizer, encodings } from './index.js'
