// Addresses of object stores: s3://bucket/key. A key is taken as it is written, without decoding.

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
 * Throws for a key with `.` or `..` between slashes, also percent-encoded. Stores take them as
 * names, but servers on the way and stores on folders may resolve them.
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

/** Whether an address lies below that of a folder, or is it: compared as they are written. */
export const isBelow = (address, folder) => address.startsWith(folder)
