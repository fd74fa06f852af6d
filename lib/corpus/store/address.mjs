// Addresses in object stores: s3://bucket/key. A key is used as it is written, without decoding.

import { error, unsupported } from '../errors.mjs'

const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,62}$/i

/** Whether a name is the address of a store, and not a path. */
export const isAddress = (name) => SCHEME.test(name)

/**
 * The bucket and the key of an address.
 *
 * @param {string} address
 * @returns {{ bucket: string, key: string }}
 */
export function partsOf(address) {
  if (!/^s3:\/\//.test(address))
    throw unsupported(`${address.split('://')[0]}://: corpus jobs read and write files, folders and s3://`)
  const rest = address.slice('s3://'.length)
  const slash = rest.indexOf('/')
  const bucket = slash === -1 ? rest : rest.slice(0, slash)
  const key = slash === -1 ? '' : rest.slice(slash + 1)
  if (!BUCKET.test(bucket))
    throw error('ERR_TOKENLANE_ARGUMENT_VALUE', `${address}: s3:// must be followed by the name of a bucket`)
  return { bucket, key }
}

/**
 * Throws if the key of an address has a segment `.` or `..`, also percent-encoded. Stores treat
 * them as names, but proxies, and stores that keep objects in folders, may resolve them.
 */
export function checkKey(address) {
  const { key } = partsOf(address)
  const isDots = (segment) => /^(?:\.|%2e){1,2}$/i.test(segment)
  if (!key.split(/\/|\\|%2f|%5c/i).some(isDots)) return
  throw error('ERR_TOKENLANE_ARGUMENT_VALUE', `${address}: an address may have no '.' or '..' between slashes`)
}

/** The address of a folder: it ends with a slash. */
export function folderAddress(address) {
  checkKey(address)
  const { bucket, key } = partsOf(address)
  return `s3://${bucket}/${key === '' || key.endsWith('/') ? key : `${key}/`}`
}

/** Whether an address is that of a folder or below it. The two texts are compared as they are. */
export const isBelow = (address, folder) => address.startsWith(folder)
