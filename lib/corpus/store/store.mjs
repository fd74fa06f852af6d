// Opens outputs and inputs on disk or in S3, depending on their names.

import { isAddress } from './address.mjs'
import { LocalInput } from './local-input.mjs'
import { LocalStore } from './local-store.mjs'

/**
 * Opens the output folder of a job. The SDK of S3 is loaded only for addresses.
 *
 * @param {string} place a path, or s3://bucket/prefix
 * @returns {Promise<LocalStore>}
 */
export async function openStore(place) {
  if (!isAddress(place)) return new LocalStore(place)
  const { S3Store } = await import('./s3-store.mjs')
  return /** @type {any} */ (new S3Store(place))
}

/**
 * Opens an input.
 *
 * @param {string} name the name as the user gave it
 * @param {string} [base] the folder that a path is relative to
 * @param {number} [first] the position of the first bytes that will be read
 * @returns {Promise<LocalInput>}
 */
export async function openInput(name, base, first) {
  if (!isAddress(name)) return LocalInput.open(name, base)
  const { S3Input } = await import('./s3-input.mjs')
  return /** @type {any} */ (await S3Input.open(name, first))
}
