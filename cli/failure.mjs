// Errors of the command line tool itself. Errors of the library have their own codes and pass
// through.

import { oneLine } from './terminal.mjs'

/** An error that the user can fix. It is printed in one line, without a stack. */
export class Failure extends Error {
  /**
   * @param {string} code without `ERR_TOKENLANE_`
   * @param {string} message
   */
  constructor(code, message, options) {
    super(message, options)
    this.code = `ERR_TOKENLANE_${code}`
  }
}

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
  // A row number of a batch means nothing to a reader who knows files and lines.
  const message = inOptions(error.row === undefined ? error.message : error.message.replace(/^(row|text) \d+: /, ''))
  const code = error.code?.startsWith?.('ERR_TOKENLANE_') ? error.code.slice('ERR_TOKENLANE_'.length) : 'FILE'
  return new Failure(code, `${place}: ${message}`, { cause: error })
}

/** Replaces the library's option names in a message with those of the command line. */
const inOptions = (message) =>
  message.replace(
    "say specialTokens 'text' to encode it as text or 'parse'",
    'say --special-tokens text to encode it as text, or parse',
  )

const REASONS = {
  ENOENT: ['FILE_NOT_FOUND', 'there is no such file'],
  EISDIR: ['NOT_A_FILE', 'it is a folder'],
  EACCES: ['FILE', 'permission denied'],
  EPERM: ['FILE', 'permission denied'],
  ENOSPC: ['FILE', 'no space is left on the disk'],
  EDQUOT: ['FILE', 'the disk quota is used up'],
  EFBIG: ['FILE', 'the file would be larger than this process or file system allows'],
  EROFS: ['FILE', 'the file system is read-only'],
  EMFILE: ['TOO_MANY_FILES', 'too many files are open'],
  ENFILE: ['TOO_MANY_FILES', 'too many files are open'],
  ENXIO: ['NOT_A_FILE', 'it is a socket, or a device that is not there'],
  ELOOP: ['FILE', 'it is a link that leads back to itself'],
  ENOTDIR: ['FILE_NOT_FOUND', 'a part of its path is no folder'],
}

/** Returns a Failure with a plain message for an error of the file system. */
export function fileFailure(name, error) {
  if (error instanceof Failure) return error
  const [code, reason] = REASONS[error.code] ?? ['FILE', error.message]
  return new Failure(code, `${name}: ${reason}`, { cause: error })
}

/**
 * Returns the line that is printed for an error, without control characters: a message may quote
 * input that moves the cursor or reverses text.
 */
export function lineOf(error) {
  const code = typeof error?.code === 'string' ? ` (${error.code})` : ''
  return `tokenlane: ${oneLine(String(error?.message ?? error))}${code}`
}
