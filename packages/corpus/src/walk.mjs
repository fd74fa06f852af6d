// Lists the files and objects that inputs name, one by one and in the same order on every machine.

import fs from 'node:fs'
import path from 'node:path'

import { Walk, isGlob, linesOf, pathMatcher, statIfThere } from 'tokenlane/internal/files.mjs'
import { untilEnded } from 'tokenlane/internal/corpus.js'
import { error } from './errors.mjs'
import { SideFiles } from './side-files.mjs'
import { addressOf, checkKey, folderAddress, isAddress, isBelow, partsOf } from './store/address.mjs'

/**
 * Yields the paths of all inputs.
 *
 * @param {string[]} names files, folders and patterns
 * @param {string | undefined} filesFrom a file with a path per line
 * @param {{ exclude?: string[], run?: number, commits?: Map<string, string>, side?: SideFiles,
 *   onUnreadable?: (name: string, failure: any) => void }} [options] `exclude`
 *   has the real paths or the addresses of outputs, folders or files, which are left out; `run` is
 *   the length of a run; `commits` are those of datasets, to which further ones are added
 * @returns {AsyncGenerator<string>}
 */
export async function* inputFiles(names, filesFrom, { exclude = [], commits = new Map(), ...more } = {}) {
  const { side = new SideFiles(undefined), ...options } = more
  const walk = new Walk({ exclude, ignored: side.ofWalk, ...options })
  const inputsOf = (name) =>
    isAddress(name) ? objectsNamed(name, exclude, commits, side) : filesNamed(walk, name, exclude)
  for (const name of names) yield* inputsOf(name)
  if (filesFrom === undefined) return
  for await (const line of linesOf(filesFrom)) if (line.trim() !== '') yield* inputsOf(line)
}

/** The files that a path or a pattern names. */
async function* filesNamed(walk, name, outputs) {
  const stat = statIfThere(name)
  if (stat?.isDirectory()) yield* walk.below(name)
  else if (stat?.isFile()) yield notOutput(name, outputs)
  else if (stat !== undefined)
    throw error('ERR_TOKENLANE_NOT_A_FILE', `${name}: a corpus is read from files, but this is a pipe or a device`)
  else yield* walk.matching(name)
}

/** Throws if a file is the output or in its folder: it would be read while it is written. */
function notOutput(name, outputs) {
  const file = outputs.length === 0 ? '' : `${fs.realpathSync(name)}${path.sep}`
  if (outputs.some((output) => file.startsWith(`${output}${path.sep}`))) throw outputIsInput(name)
  return name
}

/** The objects that an address names: one, those below it, or those that match it. */
async function* objectsNamed(given, outputs, commits, side) {
  const { isListed, noObject, objectsOf } = await import('./store/objects.mjs')
  const objects = await objectsOf(given)
  const name = (await untilEnded(async () => objects.pinned?.(given, commits))) ?? given
  const { key } = partsOf(name)
  const isOutput = (address) => outputs.some((output) => isBelow(address, output))
  if (key !== '' && !key.endsWith('/')) {
    checkKey(name)
    if ((await untilEnded(() => objects.head(name))) !== undefined) {
      if (isOutput(name)) throw outputIsInput(name)
      yield name
      return
    }
  }
  const isPattern = isGlob(key)
  const prefix = isPattern ? key.slice(0, key.search(/[*?[{]/)) : partsOf(folderAddress(name)).key
  const matches = isPattern ? pathMatcher(key) : () => true
  let hasObjects = false
  for await (const objectKey of objects.keysBelow(addressOf(name, prefix))) {
    const address = addressOf(name, objectKey)
    if (isOutput(address)) continue
    const isNamed = isPattern
      ? matches(objectKey)
      : isListed(objectKey, prefix) && objects.isData?.(objectKey) !== false
    if (objectKey.endsWith('/') || !isNamed) continue
    if (side.has(address, objectKey.slice(prefix.lastIndexOf('/') + 1).split('/'))) continue
    hasObjects = true
    yield address
  }
  if (!hasObjects) throw noObject(given)
}

const outputIsInput = (name) =>
  error('ERR_TOKENLANE_OUTPUT_IS_INPUT', `${name}: this input is the output, or lies in its folder`)
