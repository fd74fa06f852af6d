// An output folder on disk.

import fs from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'

import { fileFailure } from '../../files/failure.mjs'
import { partOf, removeDeadParts, removeOwnParts } from '../../files/parts.mjs'
import { otherJob } from '../errors.mjs'
import { PartFile, hashOf, syncFolder, writeWhole } from './part-file.mjs'

export class LocalStore {
  /** @param {string} place the path of the folder */
  constructor(place) {
    this.place = place
  }

  /** Where a file is, for messages. */
  where(name) {
    return path.join(this.place, name)
  }

  /** The folder that inputs must not be in. */
  exclude() {
    return fs.promises.realpath(this.place)
  }

  /** Creates the folder, and removes unfinished files of processes that ended. */
  async prepare() {
    try {
      await fs.promises.mkdir(this.place, { recursive: true })
    } catch (failure) {
      throw failure.code === 'EEXIST' || failure.code === 'ENOTDIR'
        ? otherJob(`the output ${this.place} is not a folder: name one that is empty or does not exist`)
        : fileFailure(this.place, failure)
    }
    removeDeadParts(this.place)
  }

  /** The names in the folder. */
  names() {
    return fs.promises.readdir(this.place)
  }

  /** Creates a file that gets its name when it is complete. */
  create(name) {
    return PartFile.create(this.where(name))
  }

  /** Writes a small file completely or not at all. */
  writeWhole(name, text) {
    return writeWhole(this.where(name), text)
  }

  /** A path for a file that `publish` renames later. */
  part(name) {
    return partOf(this.where(name))
  }

  /** Gives a file of `part` its name. Returns a path where it can be read. */
  async publish(part, name) {
    await fs.promises.rename(part, this.where(name))
    await this.sync()
    return this.where(name)
  }

  /** The text of a small file; `undefined` if it does not exist. */
  async readText(name) {
    return this.#ifThere(name, () => fs.promises.readFile(this.where(name), 'utf8'))
  }

  /** The bytes of a file from one position to another. */
  async readRange(name, from, to) {
    const found = await this.#ifThere(name, async () => {
      const handle = await fs.promises.open(this.where(name))
      try {
        const buffer = Buffer.alloc(to - from)
        const { bytesRead } = await handle.read(buffer, 0, to - from, from)
        return buffer.subarray(0, bytesRead)
      } finally {
        await handle.close()
      }
    })
    return found ?? Buffer.alloc(0)
  }

  /** The first and the last bytes of a file; `undefined` if it does not exist. */
  async ends(name, length) {
    return this.#ifThere(name, async () => {
      const handle = await fs.promises.open(this.where(name))
      try {
        const { size } = await handle.stat()
        const count = Math.min(size, length)
        const [start, end] = [Buffer.alloc(count), Buffer.alloc(count)]
        await handle.read(start, 0, count, 0)
        await handle.read(end, 0, count, size - count)
        return { start, end }
      } finally {
        await handle.close()
      }
    })
  }

  /** The lines of a file. */
  async *lines(name) {
    try {
      const handle = await fs.promises.open(this.where(name))
      yield* readline.createInterface({ input: handle.createReadStream(), crlfDelay: Infinity })
    } catch (failure) {
      throw failure.syscall === undefined ? failure : fileFailure(this.where(name), failure)
    }
  }

  /** The size and the SHA-256 of a file; `undefined` if it does not exist. */
  hashOf(name) {
    return hashOf(this.where(name))
  }

  /** The size of a file; `undefined` if it does not exist. */
  async sizeOf(name) {
    return this.#ifThere(name, async () => ({ bytes: (await fs.promises.stat(this.where(name))).size }))
  }

  /** Makes the names of new files durable. */
  sync() {
    return syncFolder(this.place)
  }

  /** Removes the unfinished files of this process. */
  removeOwn() {
    removeOwnParts(this.place)
  }

  /** Removes the unfinished files of shards whose threads were ended. */
  async abandon(_stems) {
    this.removeOwn()
  }

  /** Called when all shards are done. Removes what killed workers of this machine left. */
  async finish() {
    removeDeadParts(this.place)
  }

  async #ifThere(name, work) {
    try {
      return await work()
    } catch (failure) {
      if (failure.code === 'ENOENT') return undefined
      throw fileFailure(this.where(name), failure)
    }
  }
}
