// An output folder on disk.

import fs from 'node:fs'
import path from 'node:path'

import {
  fileFailure,
  partOf,
  removeDeadParts,
  removeOldParts,
  removeOwnParts,
  renamePart,
  statIfThere,
} from 'tokenlane/internal/files.mjs'
import { otherJob } from '../errors.mjs'
import { MANIFEST } from '../layout.mjs'
import { LocalInput } from './local-input.mjs'
import { PartFile, createWhole, syncFolder, writeWhole } from './part-file.mjs'
import { ReadableStore } from './readable-store.mjs'

/**
 * Time in milliseconds without a write after which, at the end of a job, an unfinished file of
 * another machine is taken for one of a dead process.
 */
const FINISHED_AGE_MS = 3600 * 1000
/** The names of unfinished files of jobs. */
const JOB_PART = /^\.(?:shard-\d{8,}\.|(?:claim|job|manifest)\.json\.|plan(?:-\d{4})?\.jsonl\.)/

/**
 * @typedef {import('./types.js').Store} Store
 * @implements {Store}
 */
export class LocalStore extends ReadableStore {
  /** The folder as it was opened, if a worker opened it. */
  #folder = /** @type {import('./allowed.mjs').Folder | undefined} */ (undefined)
  #allowed = /** @type {import('./allowed.mjs').Allowed | undefined} */ (undefined)

  /** @param {string} place the path of the folder */
  constructor(place) {
    super()
    this.place = place
  }

  /**
   * Opens an existing folder for a worker. The caller closes the store.
   *
   * @param {string} place
   * @param {import('./allowed.mjs').Allowed} allowed
   */
  static async open(place, allowed) {
    const store = new LocalStore(place)
    store.#folder = await allowed.openFolder(place)
    store.#allowed = allowed
    return store
  }

  async close() {
    await this.#folder?.close()
  }

  /** Where a file is, for messages. */
  where(name) {
    return path.join(this.place, name)
  }

  /** The path by which the system finds a file. */
  #path(name = '.') {
    return path.join(this.#folder?.path ?? this.place, name)
  }

  #partOptions(name) {
    return { shown: this.where(name), allowed: this.#allowed }
  }

  /** The folder that inputs must not be in. */
  exclude() {
    return fs.promises.realpath(this.place)
  }

  /** Creates the folder, and removes unfinished files of processes that ended. */
  async prepare() {
    try {
      // The folder of a worker exists, and only its descriptor is known to be allowed.
      if (this.#folder === undefined) await makeFolder(this.place)
      await fs.promises.access(this.#path(), fs.constants.W_OK)
    } catch (failure) {
      throw failure.code === 'EEXIST' || failure.code === 'ENOTDIR'
        ? otherJob(`the output ${this.place} is not a folder: name one that is empty or does not exist`)
        : fileFailure(this.place, failure.code === 'ENOENT' ? await whyNot(this.place, failure) : failure)
    }
    removeDeadParts(this.#path())
  }

  /** The names in the folder. */
  names() {
    return fs.promises.readdir(this.#path())
  }

  /** Creates a file that gets its name when it is complete. */
  create(name) {
    return PartFile.create(this.#path(name), this.#partOptions(name))
  }

  /** Writes a small file completely or not at all. */
  writeWhole(name, text) {
    return writeWhole(this.#path(name), text, this.#partOptions(name))
  }

  /** Writes a small file, unless it exists. Returns whether it was written. */
  createWhole(name, text) {
    return createWhole(this.#path(name), text, this.#partOptions(name))
  }

  /** Removes a file, if it exists and this process may do so. */
  async remove(name) {
    await fs.promises.rm(this.#path(name), { force: true }).catch(() => {})
  }

  /** A path for a file that `publish` renames later. */
  part(name) {
    return partOf(this.where(name))
  }

  /** Gives a file of `part` its name. Returns a path where it can be read. */
  async publish(part, name) {
    await renamePart(part, this.where(name))
    await this.sync()
    return this.where(name)
  }

  /** A path where a file can be read. */
  async copyHere(name) {
    return this.where(name)
  }

  /** Makes the names of new files durable. */
  sync() {
    return syncFolder(this.#path())
  }

  /** Removes the unfinished files of this process. */
  removeOwn() {
    removeOwnParts(this.#path())
  }

  /** Removes the unfinished files of shards whose threads were ended. */
  async abandon(_stems) {
    this.removeOwn()
  }

  /**
   * Called when all shards are done. Removes what killed workers left: a shard that one of another
   * machine still writes is done already. The time is that of the disk, which all machines share.
   */
  async finish() {
    const stat = await fs.promises.stat(this.#path(MANIFEST)).catch(() => undefined)
    await this.clean(FINISHED_AGE_MS, stat?.mtimeMs)
  }

  /** Removes unfinished files of ended processes, and of other machines from a minimum age on. */
  async clean(age, now = Date.now()) {
    return [...removeDeadParts(this.#path()), ...removeOldParts(this.#path(), JOB_PART, now - age)]
  }

  /** Opens a file, which must be a regular one. */
  input(name) {
    return LocalInput.open(this.#path(name), this.#partOptions(name))
  }
}

/**
 * Creates a folder, with those above it, unless it exists. Node's `recursive` tries for ever where
 * the system says that a parent does not exist although it does, as in /proc.
 */
async function makeFolder(place) {
  try {
    await fs.promises.mkdir(place)
  } catch (failure) {
    if (failure.code === 'EEXIST' && statIfThere(place)?.isDirectory()) return
    const parent = path.dirname(path.resolve(place))
    if (failure.code !== 'ENOENT' || statIfThere(parent) !== undefined) throw failure
    await makeFolder(parent)
    await makeFolder(place)
  }
}

/**
 * Why a folder cannot be created. Some systems say that it does not exist if its parent is
 * read-only, so the first folder on its path that exists is asked.
 */
async function whyNot(place, failure) {
  const parent = path.dirname(path.resolve(place))
  if (parent === path.resolve(place)) return failure
  const found = await fs.promises.access(parent, fs.constants.W_OK).catch((reason) => reason)
  if (found === undefined) return failure
  return found.code === 'ENOENT' ? whyNot(parent, failure) : found
}
