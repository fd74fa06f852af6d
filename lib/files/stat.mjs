import fs from 'node:fs'
import path from 'node:path'

import { fileFailure } from './failure.mjs'

/** Codes of names that no file has; a pattern may be longer than a name can be. */
const NO_FILE = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']

/** Returns the stat of a name, or undefined if there is no such file. */
export function statIfThere(name) {
  try {
    return fs.statSync(name)
  } catch (error) {
    if (NO_FILE.includes(error.code)) return undefined
    throw fileFailure(name, error)
  }
}

/** Returns the real path of a name, or undefined if nothing can be found there. */
export function realPathIfThere(name) {
  try {
    return fs.realpathSync(name)
  } catch {
    return undefined
  }
}

/** Returns the path that a name leads to, also if there is no file yet. */
export function behindLinks(name) {
  let target
  try {
    target = fs.readlinkSync(name)
  } catch {
    return name
  }
  return behindLinks(path.resolve(fs.realpathSync(path.dirname(name)), target))
}
