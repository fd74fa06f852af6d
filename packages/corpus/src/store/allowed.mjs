// The places that a worker may use: files below allowed folders, and objects below allowed
// prefixes.
//
// A path is checked after it was opened, by where the open file lies. A check before could be
// passed with a file that is exchanged for a link afterwards. Names in a folder are resolved from
// its descriptor, so exchanging a folder on the way to it has no effect either.
//
// Linux tells the path of a descriptor. On other systems the path is resolved, and the result must
// be the file that was opened.

import fs from 'node:fs'
import path from 'node:path'

import { fileFailure } from 'tokenlane/internal/files.mjs'
import { isAbsence, openRegular } from 'tokenlane/internal/corpus.js'
import { error } from '../errors.mjs'
import { checkKey, folderAddress, isAddress, isBelow } from './address.mjs'

// Windows has neither of these flags, and opens no folders.
const { O_RDONLY, O_DIRECTORY, O_NONBLOCK = 0 } = fs.constants
const DESCRIPTORS = '/proc/self/fd'

const notAllowed = (name) =>
  error('ERR_TOKENLANE_CORPUS_NOT_ALLOWED', `${name} is not below a folder that this worker allows (--allow)`)

/**
 * An open folder.
 *
 * @typedef {object} Folder
 * @property {string} path names in the folder are resolved from here
 * @property {() => Promise<void>} close
 */

/**
 * What the names of inputs are relative to, and which of them may be opened.
 *
 * @typedef {object} Origin
 * @property {string} [base] the folder of paths. Default: the current folder
 * @property {Allowed} [allowed] what a worker may use
 */

/** The real path or the address of a place that a user allows. */
export function realPlace(place) {
  if (isAddress(place)) return folderAddress(place)
  try {
    return fs.realpathSync(place)
  } catch (failure) {
    throw fileFailure(place, failure)
  }
}

export class Allowed {
  /** Real paths of files and folders, and addresses. */
  places

  /** @param {string[]} places results of `realPlace` */
  constructor(places) {
    this.places = places
  }

  /** Throws unless an address is below an allowed one. */
  checkAddress(address) {
    checkKey(address)
    if (!this.places.some((place) => isAddress(place) && isBelow(address, place))) throw notAllowed(address)
  }

  /**
   * Opens a regular file for reading. `name` is how messages call it.
   *
   * @returns {Promise<fs.promises.FileHandle>}
   */
  openFile(place, name = place) {
    return this.#open(place, name, () => openRegular(place, { name }))
  }

  /**
   * Opens a folder.
   *
   * @returns {Promise<Folder>}
   */
  async openFolder(place) {
    if (O_DIRECTORY === undefined) {
      await this.checkFolder(place)
      if (!(await fs.promises.stat(place)).isDirectory()) throw fileFailure(place, { code: 'ENOTDIR' })
      return { path: place, close: async () => {} }
    }
    const handle = await this.#open(place, place, () => fs.promises.open(place, O_RDONLY | O_DIRECTORY | O_NONBLOCK))
    const own = `${DESCRIPTORS}/${handle.fd}`
    const isResolved = await fs.promises.readlink(own).catch(() => undefined)
    return { path: isResolved === undefined ? place : own, close: () => handle.close() }
  }

  async #open(place, name, open) {
    if (!this.#hasDisk(place)) throw notAllowed(name)
    let handle
    try {
      handle = await open()
    } catch (failure) {
      // Outside, even whether there is a file is not told.
      throw (await this.#isNamedInside(place)) ? fileFailure(name, failure) : notAllowed(name)
    }
    try {
      await this.check(handle, place, name)
      return handle
    } catch (failure) {
      await handle.close()
      throw failure
    }
  }

  /** Throws unless the open file of a path lies below an allowed folder. */
  async check(handle, place, name = place) {
    const real = await openedPath(handle, place)
    if (real === undefined || !this.#contains(real)) throw notAllowed(name)
  }

  /** Throws unless a path leads to an allowed folder at this moment. */
  async checkFolder(place, name = place) {
    let real
    try {
      real = await fs.promises.realpath(place)
    } catch (failure) {
      throw (await this.#isNamedInside(place)) ? fileFailure(name, failure) : notAllowed(name)
    }
    if (!this.#contains(real)) throw notAllowed(name)
  }

  #contains(real) {
    return this.places.some(
      (place) =>
        !isAddress(place) && (real === place || real.startsWith(place.endsWith(path.sep) ? place : place + path.sep)),
    )
  }

  /** Whether an allowed folder is on the same disk. On Windows a path may name another machine. */
  #hasDisk(place) {
    const rootOf = (one) => path.parse(path.resolve(one)).root.toLowerCase()
    return this.places.some((one) => !isAddress(one) && rootOf(one) === rootOf(place))
  }

  /** Whether the entry that a path names would lie below an allowed folder, and is no link. */
  async #isNamedInside(place) {
    for (let entry = path.resolve(place); ; entry = path.dirname(entry)) {
      const stat = await fs.promises.lstat(entry).catch(() => undefined)
      if (stat?.isSymbolicLink()) return false
      const folder = await fs.promises.realpath(path.dirname(entry)).catch(() => undefined)
      if (folder !== undefined) return this.#contains(folder)
      if (path.dirname(entry) === entry) return false
    }
  }
}

/** The real path of an open file; `undefined` if its path leads elsewhere by now. */
async function openedPath(handle, place) {
  try {
    return await fs.promises.readlink(`${DESCRIPTORS}/${handle.fd}`)
  } catch {
    // There is no such folder.
  }
  try {
    const real = await fs.promises.realpath(place)
    const [named, opened] = [await fs.promises.lstat(real, { bigint: true }), await handle.stat({ bigint: true })]
    return named.dev === opened.dev && named.ino === opened.ino ? real : undefined
  } catch (failure) {
    if (isAbsence(failure)) return undefined
    throw failure
  }
}
