// Loads the addon as WebAssembly, and says where the bundled encodings are. Runs before the rest of the package.

import host from './host.js'
import native from './native.js'
import { withoutWaiting } from './page.js'

// Written out, so that bundlers find the files.
host.ENCODINGS['cl100k_base.tiktoken'] = new URL('../../encodings/cl100k_base.tiktoken', import.meta.url)
host.ENCODINGS['o200k_base.tiktoken'] = new URL('../../encodings/o200k_base.tiktoken', import.meta.url)
host.ENCODINGS['p50k_base.tiktoken'] = new URL('../../encodings/p50k_base.tiktoken', import.meta.url)
host.ENCODINGS['r50k_base.tiktoken'] = new URL('../../encodings/r50k_base.tiktoken', import.meta.url)

if (globalThis.crossOriginIsolated === false) {
  throw host.unsupported(
    'tokenlane shares memory between threads, which a browser allows to pages that are isolated from other origins: send them and ' +
      'their workers with the headers "Cross-Origin-Opener-Policy: same-origin" and "Cross-Origin-Embedder-Policy: require-corp"',
  )
}
const { default: binding } = await import('tokenlane-wasm32-wasi')
const isWorker = typeof WorkerGlobalScope !== 'undefined'
Object.assign(native, isWorker ? binding : withoutWaiting(binding))
native.setProcessors(isWorker ? (globalThis.navigator?.hardwareConcurrency ?? 1) : 1)
