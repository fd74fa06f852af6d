// What there is to read: files, the files of folders, those that a pattern matches, or standard input.

import fs from 'node:fs'
import path from 'node:path'

import { Failure, UsageError, at, fileFailure } from '../failure.mjs'
import { decompressed } from './decompress.mjs'
import { glob, isGlob } from './glob.mjs'

const CHUNK = 1 << 20

/**
 * Bytes with a name.
 *
 * @typedef {object} Source
 * @property {string} name as it is shown
 * @property {string} [file] its path
 * @property {number} [size] bytes as they lie on the disk; nothing for a pipe
 * @property {(onRead?: (bytes: number) => void) => AsyncIterable<Buffer>} chunks its bytes, decompressed; `onRead` hears how many
 *   were read of those on the disk
 */

/**
 * The sources that arguments name, in the order of the arguments, in folders and patterns in that of the names.
 *
 * @param {string[]} names paths, folders, patterns, or `-` for standard input, which is also read where there are none
 * @param {string} [text] read instead of files
 * @param {string} [option] the option that gave it
 * @returns {Source[]}
 */
export function sourcesOf(names, text, option = '--text') {
  if (text !== undefined) {
    if (names.length > 0) throw new UsageError(`give files or '${option}', not both`)
    return [textSource(text, option)]
  }
  if (names.length > 0) return names.flatMap(named)
  if (process.stdin.isTTY) throw new UsageError(`there is nothing to read: name files, give ${option}, or pipe something in`)
  return [stdin()]
}

function named(name) {
  if (name === '-') return [stdin()]
  const stat = fs.statSync(name, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return filesBelow(name).map((file) => fileSource(file))
  if (stat !== undefined) return [fileSource(name, stat)]
  const found = isGlob(name) ? glob(name) : []
  if (found.length > 0) return found.map((file) => fileSource(file))
  throw new Failure('FILE_NOT_FOUND', `${name}: ${isGlob(name) ? 'no file matches' : 'there is no such file'}`)
}

/** All files of a folder and those in it. Names with a dot in front, such as .git, are left out; so are links to folders. */
function filesBelow(folder) {
  let entries
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw fileFailure(folder, error)
  }
  return entries
    .filter(({ name }) => !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const place = path.join(folder, entry.name)
      if (entry.isDirectory()) return filesBelow(place)
      return fs.statSync(place, { throwIfNoEntry: false })?.isFile() ? [place] : []
    })
}

function fileSource(file, stat = fs.statSync(file)) {
  const size = stat.isFile() ? stat.size : undefined
  return { name: file, file, size, chunks: (onRead) => bytesOf(file, () => fs.createReadStream(file, { highWaterMark: CHUNK }), onRead) }
}

const stdin = () => ({ name: 'standard input', size: undefined, chunks: (onRead) => bytesOf('standard input', () => process.stdin, onRead) })

const textSource = (text, option) => ({
  name: option,
  size: undefined,
  async *chunks() {
    yield Buffer.from(text)
  },
})

async function* bytesOf(name, open, onRead) {
  async function* raw() {
    try {
      for await (const chunk of open()) {
        onRead?.(chunk.length)
        yield chunk
      }
    } catch (error) {
      throw fileFailure(name, error)
    }
  }
  try {
    yield* decompressed(raw())
  } catch (error) {
    throw ['ERR_TOKENLANE_DECOMPRESS', 'ERR_TOKENLANE_PACKAGE_MISSING'].includes(error.code) ? at(name, error) : error
  }
}
