// For Node.js, whose fetch reads no files.

import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

import { setDecompress, setLoader, setPlaces } from './dist/core.mjs'

const read = (name) => readFile(new URL(`./dist/${name}`, import.meta.url))

// Without a stream, whose classes take longer to load than the file takes to be decompressed.
const inflate = promisify(gunzip)
setDecompress((bytes) => inflate(bytes, { chunkSize: 1 << 20 }))
setLoader(() => read('tokenlane.wasm'))
setPlaces({
  'cl100k_base.tiktoken': () => read('cl100k_base.bin'),
  'o200k_base.tiktoken': () => read('o200k_base.bin'),
  'p50k_base.tiktoken': () => read('p50k_base.bin'),
  'r50k_base.tiktoken': () => read('r50k_base.bin'),
})

export {
  Batch,
  DecodeStream,
  Encoding,
  Tokenizer,
  encodingForModel,
  encodings,
  init,
  limits,
  queue,
} from './dist/core.mjs'
