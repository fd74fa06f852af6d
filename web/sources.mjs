// Replaces lib/sources.js: there are no files and no cache folder. Encodings are fetched, or given.

import errors from '../lib/errors.js'
import { damaged, gunzip } from './inflate.mjs'
import native from './native.mjs'

const { error, wrongType } = errors

/** By the name of the rank file: the function that returns its packed form. */
const places = {}

/** Sets where the packed rank files are; an entry point calls it. */
export const setPlaces = (given) => void Object.assign(places, given)

/** The packed rank files that calls in progress gave. */
const given = new Map()

const refuse = (feature, alternative) => () => {
  throw error('ERR_TOKENLANE_UNSUPPORTED', `tokenlane/web has no ${feature}: ${alternative}`)
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
 * Decompresses gzip. An entry point may set it.
 *
 * @type {((bytes: Uint8Array) => Promise<Uint8Array>) | undefined}
 */
let decompress

export const setDecompress = (given) => void (decompress = given)

/** Bytes that may be compressed with gzip. */
async function inflated(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  if (decompress === undefined && typeof DecompressionStream !== 'function') return gunzip(bytes)
  try {
    if (decompress !== undefined) return await decompress(bytes)
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    return new Uint8Array(await new Response(stream).arrayBuffer())
  } catch (cause) {
    throw damaged(cause)
  }
}

/** Runs `load` with data for a rank file. */
export async function withData(file, data, load) {
  const bytes = await inflated(await bytesOf(data))
  given.set(file, bytes)
  try {
    return await load()
  } finally {
    if (given.get(file) === bytes) given.delete(file)
  }
}

async function loadEncoding(queueEntry, file, options) {
  try {
    const bytes = given.get(file) ?? (await inflated(await bytesOf(places[file]())))
    return await native.loadBytes(queueEntry, bytes, options)
  } finally {
    native.leaveQueue(queueEntry)
  }
}

export const pathOfUrl = noFiles
export const loadFile = noFiles
export const loadFileSync = noFiles
export { loadEncoding }
export const loadEncodingSync = refuse('synchronous access to files', 'use Tokenizer.fromEncoding')
export const chatFiles = { loadChat() {} }
export const hub = {}
export const hubOptions = { pretrainedOptions: noHub }
