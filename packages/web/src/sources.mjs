// Replaces lib/sources.js: there are no files and no cache folder. Encodings are fetched, or given.

import { errors } from 'tokenlane/internal/base.js'
import { fromBase64 } from '../base64.mjs'
import { gunzip, inflated } from './inflate.mjs'
import native from './native.mjs'

const { error, wrongType } = errors

/** By the name of the rank file: the function that imports it as compressed base64. */
const imports = {}

/** Sets where the packed rank files are; an entry point calls it. */
export const setImports = (given) => void Object.assign(imports, given)

/** Promises of the packed rank files that calls in progress gave. */
const given = new Map()

/** Packed rank files that the program contains, as compressed base64 until their first use. */
const contained = new Map()

/** Adds a rank file as compressed base64; the modules of the drop-ins call it. */
export function addFile(file, base64) {
  if (!contained.has(file)) contained.set(file, base64)
}

/** The bytes of a packed rank file that the program contains. */
export function fileBytes(file) {
  const found = contained.get(file)
  if (found === undefined) {
    const message = `this bundle does not contain ${file}: import the module with its ranks, as for the replaced package`
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  const bytes = typeof found === 'string' ? gunzip(fromBase64(found)) : found
  contained.set(file, bytes)
  return bytes
}

const refuse = (feature, alternative) => () => {
  throw error('ERR_TOKENLANE_UNSUPPORTED', `@tokenlane/web has no ${feature}: ${alternative}`)
}
const noFiles = refuse('files', 'fetch the tokenizer and load it with Tokenizer.fromBuffer')
const noHub = refuse(
  'cache folder for Tokenizer.fromPretrained',
  'fetch the tokenizer and load it with Tokenizer.fromBuffer',
)

const isBuffer = (value) => Object.prototype.toString.call(value) === '[object ArrayBuffer]'

/** The bytes of data: a Response, an ArrayBuffer or a view, or a promise of one of these. */
async function bytesOf(data) {
  const value = await data
  if (isBuffer(value)) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  // Last, because Node.js loads its implementation of fetch when the class is first named.
  if (typeof Response === 'function' && value instanceof Response) {
    if (!value.ok)
      throw error('ERR_TOKENLANE_FILE', `cannot fetch ${value.url}: status ${value.status} ${value.statusText}`)
    return new Uint8Array(await value.arrayBuffer())
  }
  throw wrongType('data', 'a Uint8Array, an ArrayBuffer or a Response, or a promise of one', value)
}

/**
 * Runs `load` with data for a rank file. Loads begin in the order of their calls, so that the data
 * of the last call is there until all of them have begun.
 */
export async function withData(file, data, load) {
  const bytes = bytesOf(data).then(inflated)
  // A load that waits in the queue does not look at it yet.
  bytes.catch(() => {})
  given.set(file, bytes)
  try {
    return await load()
  } finally {
    if (given.get(file) === bytes) given.delete(file)
  }
}

const imported = async (file) => await inflated(fromBase64((await imports[file]()).base64))

async function loadEncoding(queueEntry, file, options) {
  try {
    return await native.loadBytes(queueEntry, await (given.get(file) ?? imported(file)), options)
  } finally {
    native.leaveQueue(queueEntry)
  }
}

export const pathOfUrl = noFiles
export const loadFile = noFiles
export const loadFileSync = noFiles
export { loadEncoding }
export const loadEncodingSync = refuse('synchronous access to files', 'use Tokenizer.fromEncoding')
export const hub = {}
export const hubOptions = { pretrainedOptions: noHub }
