// An output folder in a store of objects. Files are written to this machine's disk and uploaded
// when they are complete, so an object appears only as a whole.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { fileFailure, partOf, removeDeadParts, removeOwnParts, TEMPORARY_VARIABLE } from 'tokenlane/internal/files.mjs'
import { error, unsupported } from '../errors.mjs'
import { JOB_FILE } from '../layout.mjs'
import { folderAddress, partsOf } from './address.mjs'
import { ObjectInput } from './object-input.mjs'
import { objectsOf } from './objects.mjs'
import { PartFile } from './part-file.mjs'
import { ReadableStore } from './readable-store.mjs'

/** Number of names that are enough to tell an empty folder from one with other files. */
const MAX_NAMES = 100
/** How often an upload is tried that another process removed. */
const MAX_TRIES = 3
/** Age in milliseconds from which an unfinished upload is taken for one of a dead process. */
const MIN_DEAD_AGE_MS = 24 * 3600 * 1000

/** The folder for files that are not uploaded yet. Only this user may have access to it. */
function scratchFolder() {
  const folder = path.join(os.tmpdir(), `tokenlane-corpus-${process.getuid?.() ?? 'user'}`)
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    const stat = fs.lstatSync(folder)
    const isOwn = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0)
    if (stat.isDirectory() && isOwn) return folder
  } catch (failure) {
    throw fileFailure(folder, failure)
  }
  throw error(
    'ERR_TOKENLANE_FILE',
    `${folder} is not a folder that only this user can access: remove it, or set ${TEMPORARY_VARIABLE}`,
  )
}

const removeIfEmpty = (folder) => fs.promises.rmdir(folder).catch(() => {})

/** A file that is uploaded instead of renamed. */
class UploadedFile extends PartFile {
  /** @type {ObjectStore | undefined} */
  store

  async rename() {
    this.etag = await this.store?.uploadFile(this.partPath, this.name, this.size)
    await fs.promises.rm(this.partPath, { force: true })
  }
}

/**
 * @typedef {import('./types.js').Store} Store
 * @implements {Store}
 */
export class ObjectStore extends ReadableStore {
  #objects
  /**
   * The folder for files of this output. No other job uses it, so everything in it may be removed.
   */
  #scratch

  /**
   * @param {string} address
   * @param {import('./types.js').Objects} objects
   */
  constructor(address, objects) {
    super()
    this.place = folderAddress(address)
    this.#objects = objects
    const own = createHash('sha256').update(this.place).digest('hex').slice(0, 16)
    this.#scratch = path.join(scratchFolder(), own)
  }

  /** @param {string} address */
  static async open(address) {
    const { scheme } = partsOf(address)
    if (scheme === 'hf') throw unsupported(`${address}: datasets of the hub are inputs, and no outputs`)
    return new ObjectStore(address, await objectsOf(address))
  }

  where(name) {
    return this.place + name
  }

  /** The folder that inputs must not be in. */
  async exclude() {
    return this.place
  }

  async prepare() {
    await this.clean(MIN_DEAD_AGE_MS)
  }

  /**
   * Removes the files of ended processes on this machine's disk, and uploads of at least an age.
   */
  async clean(age) {
    const all = path.dirname(this.#scratch)
    const removed = []
    for (const name of await fs.promises.readdir(all)) {
      removed.push(...removeDeadParts(path.join(all, name)))
      await removeIfEmpty(path.join(all, name))
    }
    await this.#removeUploads((name, started) => {
      const isOld = Date.now() - started > age
      if (isOld) removed.push(name)
      return isOld
    })
    return removed
  }

  /** Some of the names in the folder. */
  async names() {
    const { key: prefix } = partsOf(this.place)
    const names = []
    for await (const key of this.#objects.keysBelow(this.place)) {
      if (key !== prefix) names.push(key.slice(prefix.length))
      if (names.length >= MAX_NAMES) break
    }
    return names
  }

  async create(name) {
    fs.mkdirSync(this.#scratch, { recursive: true, mode: 0o700 })
    const file = /** @type {UploadedFile} */ (await UploadedFile.create(path.join(this.#scratch, name)))
    file.store = this
    return file
  }

  async writeWhole(name, text) {
    await this.#objects.put(this.where(name), Buffer.from(text))
  }

  /**
   * Writes an object, unless it exists. Returns whether it was written. If the store has no
   * conditional writes, another process may write it at the same moment.
   */
  async createWhole(name, text) {
    return this.#objects.create(this.where(name), Buffer.from(text))
  }

  /** Removes an object. Ignores failures, because a role may lack the permission. */
  async remove(name) {
    await this.#objects.remove(this.where(name)).catch(() => {})
  }

  /** A path on this machine's disk for a file that `publish` uploads later. */
  part(name) {
    fs.mkdirSync(this.#scratch, { recursive: true, mode: 0o700 })
    return partOf(path.join(this.#scratch, name))
  }

  /** Uploads a file of `part`. Returns a path where it can be read. */
  async publish(part, name) {
    await this.uploadFile(part, name, (await fs.promises.stat(part)).size)
    return part
  }

  /** Copies an object to this machine's disk. Returns its path. */
  async copyHere(name) {
    const file = this.part(name)
    const input = await ObjectInput.open(this.where(name))
    await fs.promises.writeFile(file, input.chunks(0, input.size))
    return file
  }

  /** Uploads a file of this machine. Returns the ETag of the object. */
  async uploadFile(file, name, size) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#objects.uploadFile(this.where(name), file, size)
      } catch (failure) {
        // Another process that finished the job took this upload for one of a dead process.
        if (!failure.isLostUpload || tries >= MAX_TRIES) throw failure
      }
    }
  }

  input(name, first = 0) {
    return ObjectInput.open(this.where(name), first)
  }

  async hashOf(name, expected = undefined, etag = undefined) {
    const found = await this.#objects.head(this.where(name))
    if (found === undefined) return undefined
    const isOther = expected !== undefined && expected !== found.size
    if (isOther || (etag !== undefined && etag === found.etag)) return { bytes: found.size }
    return super.hashOf(name)
  }

  async sizeOf(name) {
    const found = await this.#objects.head(this.where(name))
    return found && { bytes: found.size }
  }

  async sync() {}

  async close() {}

  /** Removes the unfinished files of this process from this machine's disk. */
  removeOwn() {
    removeOwnParts(this.#scratch)
  }

  /** Removes the unfinished files and uploads of shards whose threads were ended. */
  async abandon(stems) {
    this.removeOwn()
    if (stems.length > 0) await this.#removeUploads((name) => stems.some((stem) => name.startsWith(`${stem}.`)))
  }

  /**
   * Called when all shards are done. Removes all unfinished uploads: their processes have ended.
   */
  async finish() {
    await this.#removeUploads(() => true)
  }

  /**
   * Removes unfinished uploads of jobs, in stores that keep them. Ignores failures, because a role
   * may lack the permission, and a rule of the bucket can remove them too.
   *
   * @param {(name: string, started: number) => boolean} isDead `started` is a time in ms
   */
  async #removeUploads(isDead) {
    await this.#objects
      .removeUploads?.(this.place, (name, started) => JOB_FILE.test(name) && isDead(name, started))
      .catch(() => {})
  }
}
