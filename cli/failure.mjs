// Errors of the command line tool itself. Errors of the library have their own codes and pass
// through.

import { withoutRow } from '../lib/files/failing-rows.mjs'
import { Failure, fileFailure } from '../lib/files/failure.mjs'
import { oneLine } from './terminal.mjs'

export { Failure, fileFailure }

/** An invalid command line. */
export class UsageError extends Failure {
  constructor(message) {
    super('USAGE', message)
  }
}

/**
 * Returns the error with its place, a file and a line of it, in front of the message.
 *
 * @param {string} place
 * @param {any} thrown returned as it is if it is not an Error
 */
export function at(place, thrown) {
  if (!(thrown instanceof Error)) return thrown
  /** @type {Error & { row?: number, code?: any }} */
  const error = thrown
  const message = inOptions(error.row === undefined ? error.message : withoutRow(error.message))
  const code = error.code?.startsWith?.('ERR_TOKENLANE_') ? error.code.slice('ERR_TOKENLANE_'.length) : 'FILE'
  return new Failure(code, `${place}: ${message}`, { cause: error })
}

/** Replaces the library's option names in a message with those of the command line. */
const inOptions = (message) =>
  message.replace(
    "say specialTokens 'text' to encode it as text or 'parse'",
    'say --special-tokens text to encode it as text, or parse',
  )

/**
 * Returns the line that is printed for an error, without control characters: a message may quote
 * input that moves the cursor or reverses text.
 */
export function errorLine(error) {
  const code = typeof error?.code === 'string' ? ` (${error.code})` : ''
  return `tokenlane: ${oneLine(String(error?.message ?? error))}${code}`
}
