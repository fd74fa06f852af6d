// What the errors of stores have in common.

import { error, inputChanged } from '../errors.mjs'
import { Failure } from '../../files/failure.mjs'

/** Maximum length of what a store says, in UTF-16 units. */
const MAX_SAID = 300

/**
 * The error for a failed request. The error of an SDK has parts of the request, so it does not
 * become the cause.
 *
 * @param {string} address
 * @param {{ status?: number, name: string, message: string, isNoBucket: boolean,
 *   secrets: (string | undefined)[] }} failure `name` is what the store or the system calls it
 */
export function storeFailure(address, { status, name, message, isNoBucket, secrets }) {
  if (isNoBucket)
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such bucket`), { isOfHost: true })
  if (status === 404)
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such object`), { isAbsence: true })
  if (status === 412 || status === 409)
    return Object.assign(inputChanged(address, 'it was written to while it was read'), { isConditionFailed: true })
  const [line] = message.split('\n')
  const reason = status === 403 || status === 401 ? `permission denied (${name})` : `${name}: ${line}`
  // A store that is down or refuses this role says nothing about the shard.
  const isOfHost = status === undefined || status >= 500 || [401, 403, 408, 429].includes(status)
  const shown = secrets.filter(Boolean).reduce((text, secret) => text.replaceAll(String(secret), '***'), reason)
  return Object.assign(error('ERR_TOKENLANE_CORPUS_STORE', `${address}: ${shown.slice(0, MAX_SAID)}`), {
    isOfHost,
    isOutOfRange: status === 416,
  })
}

/** Like `work`; `undefined` if there is no such object. */
export async function ifThere(work) {
  try {
    return await work()
  } catch (failure) {
    if (failure.isAbsence) return undefined
    throw failure
  }
}

/** Whether `work` wrote an object that it writes only if there is none. */
export async function isWritten(work) {
  try {
    await work()
    return true
  } catch (failure) {
    if (failure.isConditionFailed) return false
    throw failure
  }
}
