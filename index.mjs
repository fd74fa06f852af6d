export { Batch, Encoding, Tokenizer, encodings } from './index.js'
