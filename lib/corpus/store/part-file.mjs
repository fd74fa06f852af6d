// Files of a shard while they are written. They have other names until the shard is complete and
// they are on the disk; then they are renamed. The SHA-256 of a file that is only appended to is
// computed while it is written; other files are read back for it.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'

import { fileFailure } from '../../files/failure.mjs'
import { partOf } from '../../files/parts.mjs'

const CHUNK = 1 << 20

/** A file that gets its name when it is committed. */
export class PartFile {
  #place
  #part
  #handle
  #size = 0
  /** The write that is under way. */
  #writing = Promise.resolve()
  /** The hash of all bytes; nothing if the file is read back. */
  #hash = /** @type {import('node:crypto').Hash | undefined} */ (undefined)

  /** @param {string} place the final path */
  constructor(place, part, handle) {
    this.#place = place
    this.#part = part
    this.#handle = handle
  }

  static async create(place) {
    // Threads of a process count their parts each for itself.
    const part = partOf(`${place}.${threadId}`)
    try {
      return new this(place, part, await fs.promises.open(part, 'wx+'))
    } catch (failure) {
      throw fileFailure(place, failure)
    }
  }

  /** Where the bytes are until the file is renamed. */
  get partPath() {
    return this.#part
  }

  get name() {
    return path.basename(this.#place)
  }

  /** Says that the file is only appended to. Called before the first write. */
  appendOnly() {
    this.#hash = createHash('sha256')
    return this
  }

  /** Bytes that were appended. */
  get size() {
    return this.#size
  }

  /**
   * Appends bytes, which must not change afterwards. Resolves when the write before this one is
   * done.
   */
  async write(bytes) {
    const position = this.#size
    this.#size += bytes.length
    this.#hash?.update(bytes)
    const before = this.#writing
    this.#writing = before.then(() => this.#all(bytes, position))
    // Heard by the next write, or when the file is completed.
    this.#writing.catch(() => {})
    await before
  }

  /** Resolves when all bytes are written that were appended. */
  async written() {
    await this.#writing
  }

  /**
   * Appends numbers; all machines that the addon runs on store the lower byte first, as the files
   * do.
   */
  writeNumbers(numbers) {
    return this.write(Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength))
  }

  /** Writes over bytes at the start. */
  async rewriteStart(bytes) {
    await this.#writing
    this.#hash = undefined
    await this.#all(bytes, 0)
  }

  /** Bytes that were written, in a new buffer or the start of one. */
  async read(position, length, buffer = Buffer.allocUnsafeSlow(length)) {
    await this.#writing
    await this.#try(async () => {
      for (let done = 0; done < length; ) {
        const { bytesRead } = await this.#handle.read(buffer, done, length - done, position + done)
        if (bytesRead === 0) throw new Error(`${this.#part} ends before byte ${position + length}`)
        done += bytesRead
      }
    })
    return buffer.subarray(0, length)
  }

  /**
   * Puts the file on the disk.
   *
   * @returns {Promise<{ name: string, bytes: number, sha256: string }>}
   */
  async complete() {
    await this.#writing
    const hash = this.#hash ?? (await this.#hashOfAll())
    await this.#try(() => this.#handle.sync())
    await this.#try(() => this.#handle.close())
    return { name: this.name, bytes: this.#size, sha256: hash.digest('hex') }
  }

  async #hashOfAll() {
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK, this.#size))
    for (let from = 0; from < this.#size; from += CHUNK)
      hash.update(await this.read(from, Math.min(CHUNK, this.#size - from), buffer))
    return hash
  }

  /** Gives the completed file its name. */
  async rename() {
    await this.#try(() => fs.promises.rename(this.#part, this.#place))
  }

  /** Removes the file; never fails. */
  async discard() {
    await this.#writing.catch(() => {})
    await this.#handle.close().catch(() => {})
    await fs.promises.rm(this.#part, { force: true }).catch(() => {})
  }

  async #all(bytes, position) {
    await this.#try(async () => {
      for (let done = 0; done < bytes.length; ) {
        done += (await this.#handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten
      }
    })
  }

  async #try(action) {
    try {
      return await action()
    } catch (failure) {
      throw failure.syscall === undefined ? failure : fileFailure(this.#place, failure)
    }
  }
}

/** Writes a small file so that it is there as a whole or not at all, also after a power cut. */
export async function writeWhole(place, text) {
  const file = await PartFile.create(place)
  try {
    await file.write(Buffer.from(text))
    await file.complete()
    await file.rename()
  } catch (failure) {
    await file.discard()
    throw failure
  }
  await syncFolder(path.dirname(place))
}

/** Puts the names of a folder on the disk. Windows cannot, and does so by itself. */
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

/** SHA-256 and size of a file; nothing where there is none. */
export async function hashOf(place) {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of fs.createReadStream(place, { highWaterMark: CHUNK })) {
      hash.update(chunk)
      bytes += chunk.length
    }
  } catch (failure) {
    if (failure.code === 'ENOENT') return undefined
    throw fileFailure(place, failure)
  }
  return { bytes, sha256: hash.digest('hex') }
}
