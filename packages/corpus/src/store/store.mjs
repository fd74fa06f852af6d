// Opens outputs and inputs on disk or in a store, depending on their names. The interfaces are in
// types.d.ts.

import { folderAddress, isAddress } from './address.mjs'
import { LocalInput } from './local-input.mjs'

/**
 * Opens the output folder of a job. What stores need is loaded only for addresses.
 *
 * @param {string} place a path or an address
 * @param {import('./allowed.mjs').Allowed} [allowed] what a worker may use; then the folder must
 *   exist
 * @returns {Promise<import('./types.js').Store>}
 */
export async function openStore(place, allowed) {
  if (!isAddress(place)) {
    const { LocalStore } = await import('./local-store.mjs')
    return allowed === undefined ? new LocalStore(place) : LocalStore.open(place, allowed)
  }
  allowed?.checkAddress(folderAddress(place))
  const { ObjectStore } = await import('./object-store.mjs')
  return ObjectStore.open(place)
}

/**
 * Opens an input.
 *
 * @param {string} name the name as the user gave it
 * @param {import('./allowed.mjs').Origin} [origin]
 * @param {number} [first] the position of the first bytes that will be read
 * @returns {Promise<import('./types.js').OpenInput>}
 */
export async function openInput(name, origin = {}, first = 0) {
  if (!isAddress(name)) return LocalInput.open(name, origin)
  origin.allowed?.checkAddress(name)
  const { ObjectInput } = await import('./object-input.mjs')
  return ObjectInput.open(name, first)
}
