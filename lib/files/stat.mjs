import fs from 'node:fs'

import { fileFailure } from './failure.mjs'

/** Returns the stat of a name, or undefined if there is no such file. */
export function statIfThere(name) {
  try {
    return fs.statSync(name)
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw fileFailure(name, error)
  }
}
