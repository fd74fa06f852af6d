// Edge runtimes have no files, and a bundle with all encodings would be too large for them.

import { setImports } from './dist/core.mjs'

const missing = (name) => () => {
  const message = `an edge runtime has no files: import data from '@tokenlane/web/${name}' and call Tokenizer.fromEncoding('${name}', { data })`
  throw Object.assign(new Error(message), { code: 'ERR_TOKENLANE_UNSUPPORTED' })
}

const names = ['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base']
setImports(Object.fromEntries(names.map((name) => [name, missing(name)])))
