// The entry point for browsers, which uses WebAssembly.

import './lib/browser/start.mjs'

export * from './index.mjs'
