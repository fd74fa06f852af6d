// Errors of reading and writing files.

/** An error that the user can fix. The command line prints it in one line, without a stack. */
export class Failure extends Error {
  /**
   * @param {string} code without `ERR_TOKENLANE_`
   * @param {string} reason
   * @param {{ place?: string, cause?: unknown }} [options] `place` is a file, or a row of it. The
   *   message is the place and the reason
   */
  constructor(code, reason, { place, ...options } = {}) {
    super(place === undefined ? reason : `${place}: ${reason}`, options)
    this.code = `ERR_TOKENLANE_${code}`
    if (place === undefined) return
    this.place = place
    this.reason = reason
  }
}

/**
 * The code of an error without `ERR_TOKENLANE_`, for a Failure; `FILE` if it is not of tokenlane.
 *
 * @param {{ code?: any }} error
 */
export const bareCode = ({ code }) =>
  code?.startsWith?.('ERR_TOKENLANE_') ? code.slice('ERR_TOKENLANE_'.length) : 'FILE'

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
  ENOTDIR: ['FILE_NOT_FOUND', 'a part of its path is not a folder'],
}

/**
 * Returns a Failure with a plain message for an error of the file system. Errors that have a code
 * of tokenlane stay as they are.
 */
export function fileFailure(name, error) {
  if (error.code?.startsWith?.('ERR_TOKENLANE_')) return error
  const [code, known] = REASONS[error.code] ?? ['FILE', error.message]
  // Node reads the other bytes of a name as U+FFFD.
  const isUnnamed = error.code === 'ENOENT' && String(name).includes('\ufffd')
  const reason = isUnnamed ? `${known}, unless its name is not UTF-8: rename it then` : known
  return new Failure(code, reason, { place: name, cause: error })
}
