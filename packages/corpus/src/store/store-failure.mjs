// What the clients of stores have in common: one connection for a thread, and their errors.

import { Failure } from 'tokenlane/internal/files.mjs'
import { signalOfRequest, untilLeft, within } from 'tokenlane/internal/corpus.js'
import { error, inputChanged } from '../errors.mjs'
import { idleTimeout } from './ranges.mjs'

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
export function storeFailure(address, { status = 0, name, message, isNoBucket, secrets }) {
  if (isNoBucket)
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such bucket`), { isOfHost: true })
  if (status === 404)
    return Object.assign(new Failure('FILE_NOT_FOUND', `${address}: there is no such object`), { isAbsence: true })
  // The object is not the one that a condition names.
  if (status === 412 || status === 409)
    return Object.assign(inputChanged(address, 'it was written to while it was read'), { isConditionFailed: true })
  const [line] = message.split('\n')
  const reason = [401, 403].includes(status) ? `permission denied (${name})` : `${name}: ${line}`
  const said = secrets.filter(Boolean).reduce((shown, secret) => shown.replaceAll(String(secret), '***'), reason)
  // A store that is down or refuses this role says nothing about the shard.
  const isOfHost = status === 0 || status >= 500 || [401, 403, 408, 429].includes(status)
  const failure = error('ERR_TOKENLANE_CORPUS_STORE', `${address}: ${said.slice(0, MAX_SAID)}`)
  return Object.assign(failure, { isOfHost, isOutOfRange: status === 416 })
}

/** What is missing or wrong in the settings of this machine. */
export const noCredentials = (message) =>
  Object.assign(error('ERR_TOKENLANE_CORPUS_STORE', message), { isOfHost: true })

/** Whether an error was made by this package. */
export const isExplained = (failure) => failure?.code?.startsWith?.('ERR_TOKENLANE_')

/** Returns `connect`, which is called once in a thread, and again after a failure. */
export function once(connect) {
  let client
  return () => {
    client ??= connect()
    client.catch(() => (client = undefined))
    return client
  }
}

/** How often the packages of stores try a request. */
const ATTEMPTS = 6
/** Bytes that a store receives in a millisecond, at least. */
const MIN_RATE = 64

/** Time in milliseconds after which a request, with all its repetitions, has failed. */
export const requestLimit = (bytes, attempts = ATTEMPTS, attempt = idleTimeout()) =>
  attempts * attempt + bytes / MIN_RATE

/**
 * Returns a function that returns the result of `work`, with which `bytes` are sent, and which gets
 * the signal that ends it; `explained` makes the error of a failure, which names the address.
 */
export const sender =
  (explained, limitOf = requestLimit) =>
  async (address, work, bytes = 0) => {
    const late = () => Object.assign(new Error('the store does not answer'), { code: 'ETIMEDOUT' })
    const signal = signalOfRequest()
    try {
      return await within(untilLeft(work(signal)), limitOf(bytes), late)
    } catch (failure) {
      throw signal?.aborted ? signal.reason : await explained(address, failure)
    }
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
