// For browsers, their workers, Deno, Bun and Node, with or without a bundler: the module and the
// encodings are JavaScript, which every bundler finds by a literal path, and are loaded when they
// are needed.

import { setPackedModule, setImports } from './dist/core.mjs'

setPackedModule(() => import('./dist/wasm.mjs'))
setImports({
  cl100k_base: () => import('./dist/cl100k_base.mjs'),
  o200k_base: () => import('./dist/o200k_base.mjs'),
  p50k_base: () => import('./dist/p50k_base.mjs'),
  r50k_base: () => import('./dist/r50k_base.mjs'),
})

export * from './api.mjs'
