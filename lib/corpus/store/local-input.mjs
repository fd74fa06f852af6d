// Files as inputs: ranges of them, and samples that tell one content from another.

import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

import { fileFailure } from '../../files/failure.mjs'
import { inputChanged } from '../errors.mjs'

const { openRegular } = createRequire(import.meta.url)('../../regular-file.js')

/** Bytes of a file that are read at once. */
const CHUNK = 1 << 20
/** Bytes at each end of a range that its sample covers. */
const SAMPLE = 1 << 16

/** An input file that is open. Errors name it. */
export class Input {
  #handle
  #opened
  /** The sample that was made last. */
  #sampled = { name: '', sha256: '' }

  constructor(path, handle, stat) {
    this.path = path
    this.#handle = handle
    this.#opened = stat
  }

  /**
   * @param {string} path as it was named
   * @param {string} [base] the folder that it is relative to
   */
  static async open(path, base = '') {
    try {
      const handle = await openRegular(resolve(base, path))
      return new Input(path, handle, await handle.stat())
    } catch (failure) {
      throw fileFailure(path, failure)
    }
  }

  /** Bytes of the file when it was opened. */
  get size() {
    return this.#opened.size
  }

  /** When the file was changed last, in milliseconds. */
  get mtime() {
    return this.#opened.mtimeMs
  }

  /** Up to `length` bytes from a position on; fewer only at the end of the file. */
  async read(position, length, buffer = Buffer.allocUnsafeSlow(length)) {
    let done = 0
    try {
      while (done < length) {
        const { bytesRead } = await this.#handle.read(buffer, done, length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
    } catch (failure) {
      throw fileFailure(this.path, failure)
    }
    return buffer.subarray(0, done)
  }

  /**
   * A range in chunks. The next chunk is read while one is in use. With `isReused` a chunk is there
   * until the next one is asked for.
   *
   * @param {number} start
   * @param {number} end
   * @param {{ onRead?: (chunk: Buffer) => void, isReused?: boolean }} [options]
   */
  async *chunks(start, end, { onRead = (_chunk) => {}, isReused = false } = {}) {
    const size = Math.min(CHUNK, end - start)
    let [buffer, other] = isReused ? [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] : []
    let next = this.read(start, size, buffer)
    for (let position = start; position < end; ) {
      const chunk = await next
      const expected = Math.min(CHUNK, end - position)
      if (chunk.length < expected)
        throw inputChanged(this.path, `it ends at byte ${position + chunk.length}, before byte ${end}`)
      position += chunk.length
      if (position < end) {
        ;[buffer, other] = [other, buffer]
        next = this.read(position, Math.min(CHUNK, end - position), buffer)
        // Heard when it is awaited, if it ever is.
        next.catch(() => {})
      }
      onRead(chunk)
      yield chunk
    }
  }

  /** SHA-256 of the first and the last bytes of a range; of a short range it covers all. */
  async sample(start, end) {
    const name = `${start} ${end}`
    if (this.#sampled.name === name) return this.#sampled.sha256
    const hash = createHash('sha256')
    hash.update(await this.read(start, Math.min(SAMPLE, end - start)))
    const tail = Math.max(start + SAMPLE, end - SAMPLE)
    if (tail < end) hash.update(await this.read(tail, end - tail))
    this.#sampled = { name, sha256: hash.digest('hex') }
    return this.#sampled.sha256
  }

  /**
   * The end of the record that has the byte before `position`: behind the next line end, or the end
   * of the file.
   */
  async recordEnd(position) {
    for (let from = position - 1; from < this.size; from += CHUNK) {
      const chunk = await this.read(from, CHUNK)
      const newline = chunk.indexOf(10)
      if (newline !== -1) return from + newline + 1
      if (chunk.length < CHUNK) break
    }
    return this.size
  }

  /** Throws if the file has changed since it was opened. */
  async checkUnchanged() {
    const { size, mtimeMs } = await this.#handle.stat()
    if (size !== this.size) throw inputChanged(this.path, `it had ${this.size} bytes and has ${size}`)
    if (mtimeMs !== this.mtime) throw inputChanged(this.path, 'it was written to while it was read')
  }

  close() {
    return this.#handle.close()
  }
}
