// The files of a shard while they are written. They have temporary names until the shard is
// complete and they are on disk; then they are renamed. The SHA-256 of a file that is only appended
// to is computed while it is written. Other files are read back for it.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'

import { behindLinks, fileFailure, partOf, renamePart, statIfThere } from 'tokenlane/internal/files.mjs'
import { checkEnding } from '../ending.mjs'
import { readFully, writeFully } from './read.mjs'

/** Number of bytes that are read back at once. */
const READ_BYTES = 1 << 20
/** Fewer bytes are copied and collected, and written together. */
export const COLLECTED_BYTES = 1 << 16
/** Maximum number of bytes of UTF-8 for a UTF-16 unit. */
const MAX_UTF8_BYTES = 3

/**
 * @typedef {object} PartOptions
 * @property {string} [shown] the path in messages, if it is not the one that is opened
 * @property {import('./allowed.mjs').Allowed} [allowed] what a worker may write to
 */

/** A file that gets its name when it is complete. */
export class PartFile {
  #place
  #shown
  #allowed
  #part
  #handle
  /** Appended bytes that are not written yet, and their number. */
  #collected = /** @type {Buffer | undefined} */ (undefined)
  #filled = 0
  #appended = 0
  /** The last write. */
  #writing = Promise.resolve()
  /** The hash of all bytes so far; `undefined` if the file is read back at the end. */
  #hash = /** @type {import('node:crypto').Hash | undefined} */ (undefined)
  /** The ETag of an object, once it is uploaded. */
  etag = /** @type {string | undefined} */ (undefined)

  /**
   * @param {string} place the final path
   * @param {PartOptions} options
   */
  constructor(place, part, handle, options) {
    this.#place = place
    this.#shown = options.shown ?? place
    this.#allowed = options.allowed
    this.#part = part
    this.#handle = handle
  }

  /**
   * @param {string} place the final path
   * @param {PartOptions} [options]
   */
  static async create(place, options = {}) {
    const { shown = place, allowed } = options
    // Each thread of a process numbers its own parts, so the name has the number of the thread.
    const part = partOf(`${place}.${threadId}`)
    checkEnding()
    try {
      const file = new this(place, part, await fs.promises.open(part, 'wx+'), options)
      await allowed?.check(file.#handle, part, shown).catch(async (failure) => {
        await file.discard()
        throw failure
      })
      return file
    } catch (failure) {
      throw fileFailure(shown, failure)
    }
  }

  /** The temporary path. */
  get partPath() {
    return this.#part
  }

  get name() {
    return path.basename(this.#place)
  }

  /** Promises that the file is only appended to. Must be called before the first write. */
  appendOnly() {
    this.#hash = createHash('sha256')
    return this
  }

  /** The number of bytes that were appended. */
  get size() {
    return this.#appended + this.#filled
  }

  /**
   * Appends bytes or text. Less than COLLECTED_BYTES are copied; other bytes must not change until
   * they are written. If it returns a promise, it resolves when the write before this one is done.
   *
   * @param {Uint8Array | string} data
   * @returns {Promise<unknown> | undefined}
   */
  write(data) {
    checkEnding()
    const most = typeof data === 'string' ? data.length * MAX_UTF8_BYTES : data.length
    const flushed = this.#filled + most > COLLECTED_BYTES ? this.#flush() : undefined
    if (most >= COLLECTED_BYTES) {
      const appended = this.#append(typeof data === 'string' ? Buffer.from(data) : data)
      return flushed === undefined ? appended : Promise.all([flushed, appended])
    }
    this.#collected ??= Buffer.allocUnsafeSlow(COLLECTED_BYTES)
    if (typeof data === 'string') this.#filled += this.#collected.write(data, this.#filled)
    else {
      this.#collected.set(data, this.#filled)
      this.#filled += data.length
    }
    return flushed
  }

  async #flush() {
    if (this.#filled === 0) return
    const bytes = this.#collected?.subarray(0, this.#filled)
    this.#collected = undefined
    this.#filled = 0
    await this.#append(bytes)
  }

  async #append(bytes) {
    const position = this.#appended
    this.#appended += bytes.length
    this.#hash?.update(bytes)
    const before = this.#writing
    this.#writing = before.then(() => this.#all(bytes, position))
    // The next write, or `complete`, reports the failure.
    this.#writing.catch(() => {})
    await before
  }

  /** Resolves when all appended bytes are written. */
  async written() {
    await this.#flush()
    await this.#writing
  }

  /**
   * Appends numbers. Like the files, all machines that the addon supports store the low byte first.
   */
  writeNumbers(numbers) {
    return this.write(Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength))
  }

  /** Overwrites bytes at the start. */
  async rewriteStart(bytes) {
    await this.written()
    this.#hash = undefined
    await this.#all(bytes, 0)
  }

  /** Reads bytes back, into a new buffer or into the start of a given one. */
  async read(position, length, buffer = Buffer.allocUnsafeSlow(length)) {
    await this.written()
    const found = await this.#try(() => readFully(this.#handle, buffer, length, position))
    if (found < length) throw new Error(`${this.#part} ends before byte ${position + length}`)
    return buffer.subarray(0, length)
  }

  /** Fills a buffer with bytes from a position. They must be written, see `written`. */
  readNow(position, buffer) {
    for (let done = 0; done < buffer.length; ) {
      const count = this.#readSome(buffer, done, position)
      if (count === 0) throw new Error(`${this.#part} ends before byte ${position + buffer.length}`)
      done += count
    }
  }

  #readSome(buffer, done, position) {
    try {
      return fs.readSync(this.#handle.fd, buffer, done, buffer.length - done, position + done)
    } catch (failure) {
      throw fileFailure(this.#shown, failure)
    }
  }

  /**
   * Closes the file after its bytes are on disk.
   *
   * @returns {Promise<{ name: string, bytes: number, sha256: string }>}
   */
  async complete() {
    await this.written()
    const hash = this.#hash ?? (await this.#hashOfAll())
    await this.#try(() => this.#handle.sync())
    await this.#try(() => this.#handle.close())
    return { name: this.name, bytes: this.#appended, sha256: hash.digest('hex') }
  }

  async #hashOfAll() {
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, this.#appended))
    for (let from = 0; from < this.#appended; from += READ_BYTES)
      hash.update(await this.read(from, Math.min(READ_BYTES, this.#appended - from), buffer))
    return hash
  }

  /** Gives the completed file its name. */
  async rename() {
    await this.#allowed?.checkFolder(path.dirname(this.#place), this.#shown)
    await this.#try(() => renamePart(this.#part, this.#place))
  }

  /** Removes the file; never fails. */
  async discard() {
    await this.#writing.catch(() => {})
    await this.#handle.close().catch(() => {})
    // Windows refuses while a scanner has the file open.
    await fs.promises.rm(this.#part, { force: true, maxRetries: 5 }).catch(() => {})
  }

  async #all(bytes, position) {
    await this.#try(() => writeFully(this.#handle, bytes, position))
  }

  async #try(action) {
    try {
      return await action()
    } catch (failure) {
      throw failure.syscall === undefined ? failure : fileFailure(this.#shown, failure)
    }
  }
}

/**
 * Writes a small file completely or not at all, even if the power fails.
 *
 * @param {string} place
 * @param {string} text
 * @param {PartOptions} [options]
 */
export async function writeWhole(place, text, options) {
  const file = await PartFile.create(place, options)
  try {
    await file.write(text)
    await file.complete()
    await file.rename()
  } catch (failure) {
    await file.discard()
    throw failure
  }
  await syncFolder(path.dirname(place))
}

/**
 * Writes a small file that the user names: completely or not at all. Links stay, and a device or a
 * pipe is written directly.
 *
 * @param {string} name
 * @param {string} text
 */
export async function writeNamed(name, text) {
  const stat = statIfThere(name)
  if (stat === undefined || stat.isFile()) return writeWhole(behindLinks(path.resolve(name)), text)
  try {
    await fs.promises.writeFile(name, text)
  } catch (failure) {
    throw fileFailure(name, failure)
  }
}

/** Codes of systems and disks that have no hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL', 'UNKNOWN']

/**
 * Writes a small file, unless there is one with its name. Without hard links, another process may
 * see it before it is complete.
 *
 * @param {string} place
 * @param {string} text
 * @param {PartOptions} [options]
 * @returns {Promise<boolean>} whether it was written
 */
export async function createWhole(place, text, options = {}) {
  const file = await PartFile.create(place, options)
  try {
    await file.write(text)
    await file.complete()
    await fs.promises.link(file.partPath, place).catch((failure) => {
      if (!NO_LINKS.includes(failure.code)) throw failure
      return fs.promises.copyFile(file.partPath, place, fs.constants.COPYFILE_EXCL)
    })
  } catch (failure) {
    if (failure.code === 'EEXIST') return false
    throw fileFailure(options.shown ?? place, failure)
  } finally {
    await file.discard()
  }
  await syncFolder(path.dirname(place))
  return true
}

/** Makes the names in a folder durable. Windows has no such call and needs none. */
export async function syncFolder(folder) {
  let handle
  try {
    handle = await fs.promises.open(folder, 'r')
    await handle.sync()
  } catch (failure) {
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(failure.code)) throw fileFailure(folder, failure)
  } finally {
    await handle?.close()
  }
}
