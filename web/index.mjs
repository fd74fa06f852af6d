// For browsers, their workers, Deno and Bun, with or without a bundler: files are fetched from the
// place of this module. Literal paths, because bundlers find files by the pattern
// `new URL('…', import.meta.url)`.

import { setLoader, setPlaces } from './dist/core.mjs'

setLoader(() => fetch(new URL('./dist/tokenlane.wasm', import.meta.url)))
setPlaces({
  'cl100k_base.tiktoken': () => fetch(new URL('./dist/cl100k_base.bin', import.meta.url)),
  'o200k_base.tiktoken': () => fetch(new URL('./dist/o200k_base.bin', import.meta.url)),
  'p50k_base.tiktoken': () => fetch(new URL('./dist/p50k_base.bin', import.meta.url)),
  'r50k_base.tiktoken': () => fetch(new URL('./dist/r50k_base.bin', import.meta.url)),
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
