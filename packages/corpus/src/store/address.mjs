// Addresses in stores: s3://bucket/key, gs://bucket/key, az://container/key, and datasets of the
// Hugging Face Hub, hf://datasets/OWNER/NAME@REVISION/path. A key is used as it is written, without
// decoding.

import { error, unsupported } from '../errors.mjs'

const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i
/** What follows the scheme up to the key, and how messages call it. */
const ROOTS = {
  s3: { root: /^[a-z0-9][a-z0-9._-]{1,62}(?=\/|$)/i, name: 'the name of a bucket' },
  gs: { root: /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](?=\/|$)/, name: 'the name of a bucket' },
  az: { root: /^(?:[a-z0-9](?:-?[a-z0-9]){2,62}|\$root|\$web)(?=\/|$)/, name: 'the name of a container' },
  hf: {
    root: /^datasets\/\w[\w.-]{0,95}\/\w[\w.-]{0,95}(?:@(?:refs\/(?:convert|pr)\/[\w.-]+|[\w.%~+-]{1,255}))?(?=\/|$)/,
    name: 'datasets/OWNER/NAME or datasets/OWNER/NAME@REVISION',
  },
}

/** Whether a name is the address of a store, and not a path. */
export const isAddress = (name) => SCHEME.test(name)

/**
 * The parts of an address. The bucket of a dataset is its repository with its revision.
 *
 * @param {string} address
 * @returns {{ scheme: string, bucket: string, key: string }}
 */
export function partsOf(address) {
  const scheme = address.split('://')[0]
  if (!Object.hasOwn(ROOTS, scheme))
    throw unsupported(
      `${scheme}://: corpus jobs read and write files, folders, s3://, gs:// and az://, and read hf://datasets/`,
    )
  const rest = address.slice(scheme.length + '://'.length)
  const { root, name } = ROOTS[scheme]
  const bucket = root.exec(rest)?.[0]
  if (bucket === undefined)
    throw error('ERR_TOKENLANE_ARGUMENT_VALUE', `${address}: ${scheme}:// must be followed by ${name}`)
  return { scheme, bucket, key: rest.slice(bucket.length + 1) }
}

/** The address of a key in the bucket of another address. */
export function addressOf(address, key) {
  const { scheme, bucket } = partsOf(address)
  return `${scheme}://${bucket}/${key}`
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
  const { key } = partsOf(address)
  return addressOf(address, key === '' || key.endsWith('/') ? key : `${key}/`)
}

/** An address without the revision of a dataset. */
export const withoutRevision = (address) => {
  const { scheme, bucket, key } = partsOf(address)
  return scheme === 'hf' ? `${scheme}://${bucket.split('@')[0]}/${key}` : address
}

/**
 * Whether an address is that of a folder or below it. The two texts are compared as they are; a
 * dataset without a revision stands for all of its revisions.
 */
export const isBelow = (address, folder) => address.startsWith(folder) || withoutRevision(address).startsWith(folder)
