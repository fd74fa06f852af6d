// Commands of packages that are installed beside this one. The summaries stand here, too, so that
// `--help` lists commands whose package is not installed.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { Failure } from './failure.mjs'

/** The summaries of the commands of each package. */
export const PACKAGES = {
  '@tokenlane/corpus': {
    corpus: 'Turn a corpus into token files, on all cores; resumable.',
    train: 'Train a tokenizer on files.',
    worker: 'Process shards of corpus jobs from a queue.',
  },
}

/** What loads each of these commands; it takes the first argument. */
export const PACKAGE_COMMANDS = Object.fromEntries(
  Object.entries(PACKAGES).flatMap(([name, summaries]) =>
    Object.keys(summaries).map((command) => [
      command,
      async (first) => (await importPackage(name, './commands', `'tokenlane ${command}'`)).commands[command](first),
    ]),
  ),
)

/** The version of this package. */
export const ownVersion = () => createRequire(import.meta.url)('../package.json').version

/**
 * Imports an entry of a package, which `caller` needs. The package is looked for where the user is,
 * then beside the program that the user has called, which package managers link, and beside this
 * file. Both packages must have one version: what they share is internal.
 */
export async function importPackage(name, entry, caller) {
  const version = ownVersion()
  const others = []
  // Node 20 leaves links in a path as they are if the last file that was looked at is a pipe or a
  // socket, and would then load the modules behind links twice.
  fs.statSync(fileURLToPath(import.meta.url))
  const places = [path.join(process.cwd(), 'package.json'), process.argv[1], import.meta.url]
  for (const place of places.filter((place) => place !== undefined)) {
    const require = createRequire(place)
    const manifest = resolved(require, `${name}/package.json`)
    if (manifest === undefined) continue
    const other = require(manifest).version
    if (other === version) return await import(pathToFileURL(require.resolve(path.posix.join(name, entry))).href)
    others.push(`${path.dirname(manifest)} has version ${other}`)
  }
  const reason = others.length === 0 ? 'which is not installed' : `in version ${version}, but ${others.join(' and ')}`
  throw new Failure(
    'PACKAGE_MISSING',
    `${caller} needs the package ${name}, ${reason}: run "npm install ${name}@${version}"`,
  )
}

function resolved(require, name) {
  try {
    return require.resolve(name)
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
