// Loads the WebAssembly addon and sets the URLs of the bundled encodings, before the rest of the
// package runs.

import native from './native.js'
import { withoutWaiting } from './page.js'
import sources from './sources.js'

// Literal paths, because bundlers find files by the pattern `new URL('…', import.meta.url)`.
sources.ENCODINGS['cl100k_base.tiktoken'] = new URL('../../encodings/cl100k_base.tiktoken', import.meta.url)
sources.ENCODINGS['o200k_base.tiktoken'] = new URL('../../encodings/o200k_base.tiktoken', import.meta.url)
sources.ENCODINGS['p50k_base.tiktoken'] = new URL('../../encodings/p50k_base.tiktoken', import.meta.url)
sources.ENCODINGS['r50k_base.tiktoken'] = new URL('../../encodings/r50k_base.tiktoken', import.meta.url)

if (globalThis.crossOriginIsolated === false) {
  throw sources.unsupported(
    'tokenlane needs memory that threads share, and browsers allow it only on cross-origin isolated pages: send the page and ' +
      'its workers with the headers "Cross-Origin-Opener-Policy: same-origin" and "Cross-Origin-Embedder-Policy: require-corp"',
  )
}
// biome-ignore lint/suspicious/noTsIgnore: expect-error would fail where the package is installed
// @ts-ignore the platform package has no typings and need not be installed here
const { default: binding } = await import('tokenlane-wasm32-wasi')
const isWorker = 'WorkerGlobalScope' in globalThis
Object.assign(native, isWorker ? binding : withoutWaiting(binding))
native.setProcessors(isWorker ? (globalThis.navigator?.hardwareConcurrency ?? 1) : 1)
