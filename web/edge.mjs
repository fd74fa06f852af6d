// For edge runtimes, which compile no bytes at run time: the module is imported. Encodings are
// given as the option `data`.

// biome-ignore lint/suspicious/noTsIgnore: expect-error would fail where the file was built
// @ts-ignore a module that the bundler of the runtime knows
import module from './dist/tokenlane.wasm'
import { setLoader, setPlaces } from './dist/core.mjs'

const missing = (name) => () => {
  const message = `an edge runtime has no files: import data from 'tokenlane/web/${name}' and call Tokenizer.fromEncoding('${name}', { data })`
  throw Object.assign(new Error(message), { code: 'ERR_TOKENLANE_UNSUPPORTED' })
}

setLoader(Object.assign(() => module, { now: () => module }))
setPlaces({
  'cl100k_base.tiktoken': missing('cl100k_base'),
  'o200k_base.tiktoken': missing('o200k_base'),
  'p50k_base.tiktoken': missing('p50k_base'),
  'r50k_base.tiktoken': missing('r50k_base'),
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
