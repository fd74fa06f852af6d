// The compiled WebAssembly module of this realm.

import { errors, realm } from 'tokenlane/internal/base.js'
import { fromBase64 } from '../base64.mjs'
import { gunzip, inflated } from './inflate.mjs'

const isBytes = (source) => ArrayBuffer.isView(source) || realm.isArrayBuffer(source)

let compiled
let pending

/**
 * Returns the module of the package or its bytes, or a promise of them; an entry point sets it.
 *
 * @type {() => any}
 */
let load = () => {
  throw errors.error('ERR_TOKENLANE_UNSUPPORTED', 'there is no WebAssembly module: call init() with one')
}

/**
 * Returns the module of the package without waiting, where that is possible.
 *
 * @type {(() => WebAssembly.Module) | undefined}
 */
let loadNow

/** Sets the compiled module, which an edge runtime has from the start. */
export function setModule(module) {
  load = loadNow = () => module
}

/** Sets the module as compressed base64, or a function that imports that. */
export function setPackedModule(packed) {
  if (typeof packed === 'string') loadNow = () => new WebAssembly.Module(gunzip(fromBase64(packed)))
  load = async () => await inflated(fromBase64(typeof packed === 'string' ? packed : (await packed()).base64))
}

/**
 * Compiles the module. `source` is a WebAssembly.Module, its bytes, a Response, a URL, or a promise
 * of one of these; by default that of the package.
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
  if (typeof source === 'string' || source instanceof URL) return await moduleOf(fetched(source))
  // Before a Response, whose class loads fetch in Node.js when it is first named.
  if (isBytes(source)) return await compiling(() => WebAssembly.compile(source))
  if (typeof Response !== 'function' || !(source instanceof Response))
    throw errors.wrongType('source', 'a WebAssembly.Module, its bytes, a Response or a URL', source)
  if (!source.ok) throw errors.error('ERR_TOKENLANE_FILE', `cannot fetch ${source.url}: status ${source.status}`)
  const isStreamed = /^application\/wasm\b/.test(source.headers.get('content-type') ?? '')
  return await compiling(async () =>
    isStreamed && WebAssembly.compileStreaming
      ? WebAssembly.compileStreaming(source)
      : WebAssembly.compile(await source.arrayBuffer()),
  )
}

async function fetched(url) {
  try {
    return await fetch(url)
  } catch (cause) {
    throw errors.error('ERR_TOKENLANE_FILE', `cannot fetch ${url}: ${cause.message}`, { cause })
  }
}

async function compiling(compile) {
  try {
    return await compile()
  } catch (cause) {
    throw notCompiled(cause)
  }
}

/** How engines say that the Content Security Policy of a page forbids WebAssembly. */
const FORBIDDEN = /Content Security Policy|CSP|unsafe-eval|disallowed by embedder/i
const ADVICE = "the Content Security Policy of this page forbids it: add 'wasm-unsafe-eval' to its script-src. "

/** Without WebAssembly, as in Safari's lockdown mode, by a page's policy, or for other bytes. */
function notCompiled(cause) {
  if (errors.isStackOverflow(cause)) return cause
  const reason = `${FORBIDDEN.test(cause.message) ? ADVICE : ''}${cause.message}`
  const message = `the WebAssembly module cannot be compiled here: ${reason}`
  return errors.error('ERR_TOKENLANE_UNSUPPORTED', message, { cause })
}

/** The module. Throws before it is compiled. */
export function wasmModule() {
  if (compiled !== undefined) return compiled
  if (loadNow !== undefined) {
    try {
      return (compiled = loadNow())
    } catch (cause) {
      throw notCompiled(cause)
    }
  }
  const message = 'the WebAssembly module is not compiled yet: await init() or an asynchronous loader first'
  throw errors.error('ERR_TOKENLANE_UNSUPPORTED', message)
}
