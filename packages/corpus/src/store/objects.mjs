// The clients of stores. Each is a module of its own with the interface `Objects` of types.d.ts,
// which is loaded, with the package that it needs, when an address of its scheme is used.

import { error } from '../errors.mjs'
import { partsOf } from './address.mjs'

const CLIENTS = {
  s3: () => import('./s3-client.mjs'),
  gs: () => import('./gcs-client.mjs'),
  az: () => import('./azure-client.mjs'),
  hf: () => import('./hub-client.mjs'),
}

/**
 * The client of an address.
 *
 * @param {string} address
 * @returns {Promise<import('./types.js').Objects>}
 */
export const objectsOf = (address) => CLIENTS[partsOf(address).scheme]()

/** Whether a key is that of a file that is not hidden. Keys of folders end with a slash. */
export const isListed = (key, prefix) => {
  if (key.endsWith('/')) return false
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  return !key
    .slice(folder.length)
    .split('/')
    .some((name) => name.startsWith('.'))
}

/** The error for an address without an object. */
export const noObject = (address) =>
  error('ERR_TOKENLANE_FILE_NOT_FOUND', `${address}: there is no such object, and none below it`)
