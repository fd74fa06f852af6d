// How an output folder is read, on disk and in a store of objects: each file is opened as an input.

import { createHash } from 'node:crypto'

import { tooLarge } from 'tokenlane/internal/corpus.js'
import { textLines } from '../plan-lines.mjs'

/** @typedef {import('./types.js').OpenInput} OpenInput */

export class ReadableStore {
  /**
   * Opens a file. A subclass for each kind of store does.
   *
   * @param {string} _name
   * @param {number} [_first] where it is read first
   * @returns {Promise<OpenInput>}
   */
  async input(_name, _first) {
    throw new Error('a subclass opens files')
  }

  /** The text of a file; `undefined` if it does not exist. */
  readText(name, limit) {
    return this.#read(name, async (input) => {
      if (input.size > limit) throw tooLarge(input.path, limit)
      return (await input.read(0, input.size)).toString()
    })
  }

  /** Reads a range of a file, as far as it goes. */
  async readRange(name, from, to) {
    const length = (size) => Math.max(0, Math.min(to, size) - from)
    return (await this.#read(name, (input) => input.read(from, length(input.size)), from)) ?? Buffer.alloc(0)
  }

  /** The first and the last bytes of a file; `undefined` if it does not exist. */
  ends(name, length) {
    return this.#read(name, async (input) => {
      const count = Math.min(input.size, length)
      return { start: await input.read(0, count), end: await input.read(input.size - count, count) }
    })
  }

  /** The lines of a text file. */
  async *lines(name) {
    const input = await this.input(name)
    try {
      yield* textLines(input.chunks(0, input.size, { isReused: true }), input.path)
    } finally {
      await input.close()
    }
  }

  /**
   * The size and the SHA-256 of a file; `undefined` if it does not exist. A file that has another
   * size than `expected` is not read.
   *
   * @returns {Promise<{ bytes: number, sha256?: string } | undefined>}
   */
  hashOf(name, expected = undefined) {
    return this.#read(name, async (input) => {
      const bytes = input.size
      if (expected !== undefined && expected !== bytes) return { bytes }
      const hash = createHash('sha256')
      for await (const chunk of input.chunks(0, bytes, { isReused: true })) hash.update(chunk)
      return { bytes, sha256: hash.digest('hex') }
    })
  }

  /** The size of a file; `undefined` if it does not exist. */
  sizeOf(name) {
    return this.#read(name, async ({ size }) => ({ bytes: size }))
  }

  /**
   * Calls `work` with an open file. Returns `undefined` if there is no such file.
   *
   * @template Result
   * @param {string} name
   * @param {(input: OpenInput) => Promise<Result>} work
   * @param {number} [first]
   */
  async #read(name, work, first) {
    let input
    try {
      input = await this.input(name, first)
    } catch (failure) {
      // Without the bucket, nothing is known about the file.
      if (failure.code === 'ERR_TOKENLANE_FILE_NOT_FOUND' && failure.isOfHost !== true) return undefined
      throw failure
    }
    try {
      return await work(input)
    } finally {
      await input.close()
    }
  }
}
