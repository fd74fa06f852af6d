// What goes wrong in the command line tool itself. Errors of the library have codes of their own and pass through.

import { oneLine } from './terminal.mjs'

/** Something that the user can mend: said in one line, without a stack. */
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

/** A command line that says nothing that can be done. */
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

/** What the library calls an option of its calls is one of the command line here. */
const inOptions = (message) => message.replace("say specialTokens 'text' to encode it as text or 'parse'", "say --special-tokens text to encode it as text, or parse")

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

/** An error of the file system in plain words. */
export function fileFailure(name, error) {
  if (error instanceof Failure) return error
  const [code, reason] = REASONS[error.code] ?? ['FILE', error.message]
  return new Failure(code, `${name}: ${reason}`, { cause: error })
}

/** The one line that is printed of an error. What it quotes may be made to move a terminal's cursor, or to turn text around. */
export function lineOf(error) {
  const code = typeof error?.code === 'string' ? ` (${error.code})` : ''
  return `tokenlane: ${oneLine(String(error?.message ?? error))}${code}`
}
