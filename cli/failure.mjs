// Errors of the command line tool itself. Errors of the library have their own codes and pass
// through.

import { Failure, bareCode, fileFailure } from '../lib/files/failure.mjs'
import { oneLine } from './terminal.mjs'

export { Failure, fileFailure }

/** An invalid command line. */
export class UsageError extends Failure {
  constructor(message) {
    super('USAGE', message)
  }
}

/** What the user can do about errors of the library, which names its own options. */
const ADVICE = {
  ERR_TOKENLANE_SPECIAL_TOKEN: ': say --special-tokens text to encode it as text, or parse to take it as the token',
}

/**
 * Returns the error with its place, a file and a line of it.
 *
 * @param {string} place
 * @param {any} thrown returned as it is if it is not an Error
 */
export function at(place, thrown) {
  if (!(thrown instanceof Error)) return thrown
  /** @type {Error & { code?: any, reason?: string }} */
  const error = thrown
  // The message of the library has the number of the row in its batch, and the library's options.
  const reason = error instanceof Failure ? error.message : (error.reason ?? error.message)
  return new Failure(bareCode(error), reason + (ADVICE[error.code] ?? ''), { place, cause: error })
}

/**
 * Returns the line that is printed for an error, without control characters: a message may quote
 * input that moves the cursor or reverses text.
 */
export function errorLine(error) {
  const code = typeof error?.code === 'string' ? ` (${error.code})` : ''
  return `tokenlane: ${oneLine(String(error?.message ?? error))}${code}`
}
