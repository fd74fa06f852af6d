// Lists the files that checks of the source read.

import fs from 'node:fs'
import path from 'node:path'
import { spawnSync } from 'node:child_process'

/** Folders that a checkout ignores, for copies of the project without git. */
const IGNORED = new Set(['.git', '.cache', 'node_modules', 'target'])

/**
 * Returns the paths of the files below a folder, relative to it and with slashes: those that git
 * does not ignore, or all files if the folder is not in a checkout.
 */
export function sourceFiles(folder) {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const names = status === 0 ? stdout.split('\0').filter((name) => name !== '') : filesBelow(folder)
  // git also lists files that were deleted, but not committed.
  return names.filter((name) => fs.existsSync(path.join(folder, name)))
}

function filesBelow(folder, prefix = '') {
  return fs.readdirSync(path.join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return []
    const name = `${prefix}${entry.name}`
    return entry.isDirectory() ? filesBelow(folder, `${name}/`) : [name]
  })
}
