// Tells failures of a machine from failures of a shard. What another machine may be able to do does
// not count as an attempt of the shard: a folder that is not mounted or not allowed, a missing
// package, a full disk, another tokenizer, a store that refuses this machine's role.

import fs from 'node:fs'
import path from 'node:path'

import { isAddress } from '../store/address.mjs'

/** Codes of errors that always depend on the machine. */
const OF_HOST = /^ERR_TOKENLANE_(?:CORPUS_NOT_ALLOWED|PACKAGE_MISSING|TOO_MANY_FILES|HUB_\w+)$/

/** Codes of the system that say something about a disk or a machine, and not about a file. */
const OF_SYSTEM = [
  'EDQUOT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENODEV',
  'ENOMEM',
  'ENOSPC',
  'ENOTCONN',
  'EROFS',
  'ESTALE',
  'ETIMEDOUT',
]

/**
 * Whether another machine may process the shard.
 *
 * @param {any} failure
 * @param {string} base the folder that paths are relative to
 * @returns {Promise<boolean>}
 */
export async function isOfHost(failure, base) {
  const { code, isOfHost: isMarked, place } = failure
  if (isMarked !== undefined) return isMarked
  if (OF_HOST.test(code)) return true
  const system = failure.system ?? failure.cause?.code
  if (OF_SYSTEM.includes(system)) return true
  if (typeof place !== 'string' || isAddress(place)) return false
  const folder = path.dirname(path.resolve(base, place))
  if (code === 'ERR_TOKENLANE_FILE_NOT_FOUND') return isMissing(folder)
  if (system === 'EACCES' || system === 'EPERM') return !(await isUsable(folder))
  return false
}

/** Whether a folder is missing or empty, as that of a disk that is not mounted. */
async function isMissing(folder) {
  try {
    const opened = await fs.promises.opendir(folder)
    const first = await opened.read()
    await opened.close()
    return first === null
  } catch {
    return true
  }
}

/** Whether this process may list and enter a folder. */
async function isUsable(folder) {
  try {
    await fs.promises.access(folder, fs.constants.R_OK | fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}
