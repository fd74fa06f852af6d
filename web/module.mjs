// The compiled WebAssembly module of this realm.

import errors from '../lib/errors.js'

let compiled
let pending

/**
 * Where the module comes from if the program gave none; an entry point sets it.
 *
 * @type {(() => any) & { now?: () => WebAssembly.Module }}
 */
let load = () => {
  throw errors.error('ERR_TOKENLANE_UNSUPPORTED', 'there is no WebAssembly module: call init() with one')
}

/** Sets the function that returns the module, its bytes or a Response, or a promise of them. */
export function setLoader(loader) {
  load = loader
}

/**
 * Compiles the module. `source` is a WebAssembly.Module, its bytes, a Response, a URL, or a promise
 * of one of these; by default the file beside this one.
 */
export async function init(source = undefined) {
  if (compiled !== undefined) return
  if (source === undefined) {
    pending ??= compile(load()).finally(() => (pending = undefined))
    await pending
  } else compiled = await moduleOf(source)
}

async function compile(source) {
  compiled = await moduleOf(source)
}

async function moduleOf(given) {
  const source = await given
  // A module of another realm is one too: Vercel's runtime has its own.
  if (Object.prototype.toString.call(source) === '[object WebAssembly.Module]') return source
  if (typeof source === 'string' || source instanceof URL) return await moduleOf(fetch(source))
  // Before a Response, whose class loads fetch in Node.js when it is first named.
  if (ArrayBuffer.isView(source)) return await WebAssembly.compile(/** @type {BufferSource} */ (source))
  if (typeof Response === 'function' && source instanceof Response) {
    if (!source.ok) throw errors.error('ERR_TOKENLANE_FILE', `cannot fetch ${source.url}: status ${source.status}`)
    if (/^application\/wasm\b/.test(source.headers.get('content-type') ?? '') && WebAssembly.compileStreaming)
      return await WebAssembly.compileStreaming(source)
    return await WebAssembly.compile(await source.arrayBuffer())
  }
  return await WebAssembly.compile(source)
}

/** The module. Throws before it is compiled. */
export function wasmModule() {
  if (compiled !== undefined) return compiled
  // An edge runtime has the module from the start.
  const given = load.now?.()
  if (given !== undefined) return (compiled = given)
  const message = 'the WebAssembly module is not compiled yet: await init() or an asynchronous loader first'
  throw errors.error('ERR_TOKENLANE_UNSUPPORTED', message)
}
