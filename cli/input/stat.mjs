import fs from 'node:fs'

import { fileFailure } from '../failure.mjs'

/** What a name stands for; nothing where there is no such file. */
export function statIfThere(name) {
  try {
    return fs.statSync(name)
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw fileFailure(name, error)
  }
}
