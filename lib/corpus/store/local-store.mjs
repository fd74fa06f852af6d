// An output folder on a disk.

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

  /** The place that inputs must not lie in. */
  exclude() {
    return fs.promises.realpath(this.place)
  }

  /** Makes the folder, and removes what processes left in it that ended. */
  async prepare() {
    try {
      await fs.promises.mkdir(this.place, { recursive: true })
    } catch (failure) {
      throw failure.code === 'EEXIST' || failure.code === 'ENOTDIR'
        ? otherJob(`the output ${this.place} is no folder: name one that is empty or does not exist`)
        : fileFailure(this.place, failure)
    }
    removeDeadParts(this.place)
  }

  /** The names in the folder. */
  names() {
    return fs.promises.readdir(this.place)
  }

  /** A file that gets its name when it is complete. */
  create(name) {
    return PartFile.create(this.where(name))
  }

  /** Writes a small file so that it is there as a whole or not at all. */
  writeWhole(name, text) {
    return writeWhole(this.where(name), text)
  }

  /** A path for a file that is published later. */
  part(name) {
    return partOf(this.where(name))
  }

  /** Gives a file of `part` its name; returns where it can be read. */
  async publish(part, name) {
    await fs.promises.rename(part, this.where(name))
    await this.sync()
    return this.where(name)
  }

  /** The text of a small file; nothing if there is none. */
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

  /** The first and the last bytes of a file; nothing if there is none. */
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

  async *lines(name) {
    try {
      const handle = await fs.promises.open(this.where(name))
      yield* readline.createInterface({ input: handle.createReadStream(), crlfDelay: Infinity })
    } catch (failure) {
      throw failure.syscall === undefined ? failure : fileFailure(this.where(name), failure)
    }
  }

  /** Size and SHA-256 of a file; nothing if there is none. */
  hashOf(name) {
    return hashOf(this.where(name))
  }

  async sizeOf(name) {
    return this.#ifThere(name, async () => ({ bytes: (await fs.promises.stat(this.where(name))).size }))
  }

  /** Puts the names of the folder on the disk. */
  sync() {
    return syncFolder(this.place)
  }

  /** Removes what this process has not finished. */
  removeOwn() {
    removeOwnParts(this.place)
  }

  /** The same, for shards whose threads were ended. */
  async abandon(_stems) {
    this.removeOwn()
  }

  /** All shards are done: what is left is of workers of this machine that were killed. */
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
