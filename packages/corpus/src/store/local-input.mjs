// Inputs that are files.

import fs from 'node:fs'
import { resolve } from 'node:path'

import { fileFailure } from 'tokenlane/internal/files.mjs'
import { openRegular } from 'tokenlane/internal/corpus.js'
import { checkEnding } from '../ending.mjs'
import { inputChanged } from '../errors.mjs'
import { CHUNK_BYTES, Input } from './input.mjs'
import { readFully } from './read.mjs'

/** An open input file. */
export class LocalInput extends Input {
  #handle

  constructor(path, handle, { size, mtimeMs }) {
    super(path, size, mtimeMs)
    this.#handle = handle
  }

  /**
   * @param {string} path the path as the user named it
   * @param {import('./allowed.mjs').Origin & { shown?: string }} [origin] `shown` is the path in
   *   messages, if it is not `path`
   */
  static async open(path, { base = '', allowed, shown } = {}) {
    const place = resolve(base, path)
    const name = shown ?? path
    checkEnding()
    try {
      const handle = await (allowed?.openFile(place, shown) ?? openRegular(place, { name }))
      return new LocalInput(name, handle, await handle.stat())
    } catch (failure) {
      throw fileFailure(name, failure)
    }
  }

  async read(position, length, buffer = Buffer.allocUnsafeSlow(length)) {
    checkEnding()
    try {
      return buffer.subarray(0, await readFully(this.#handle, buffer, length, position))
    } catch (failure) {
      throw fileFailure(this.path, failure)
    }
  }

  /** Reads bytes in a synchronous call, which is faster for a few bytes. Returns their number. */
  readNow(position, buffer) {
    try {
      return fs.readSync(this.#handle.fd, buffer, 0, buffer.length, position)
    } catch (failure) {
      throw fileFailure(this.path, failure)
    }
  }

  /**
   * Yields a range in chunks. The next chunk is read while one is in use. With `isReused` a chunk
   * is valid until the next one is requested.
   *
   * @param {number} start
   * @param {number} end
   * @param {{ onRead?: (chunk: Buffer) => void, isReused?: boolean }} [options]
   */
  async *chunks(start, end, { onRead = (_chunk) => {}, isReused = false } = {}) {
    const size = Math.min(CHUNK_BYTES, end - start)
    let [buffer, other] = isReused ? [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] : []
    let next = this.read(start, size, buffer)
    for (let position = start; position < end; ) {
      const chunk = await next
      const expected = Math.min(CHUNK_BYTES, end - position)
      if (chunk.length < expected)
        throw inputChanged(this.path, `it ends at byte ${position + chunk.length}, before byte ${end}`)
      position += chunk.length
      if (position < end) {
        ;[buffer, other] = [other, buffer]
        next = this.read(position, Math.min(CHUNK_BYTES, end - position), buffer)
        // The failure is reported when the promise is awaited.
        next.catch(() => {})
      }
      onRead(chunk)
      yield chunk
    }
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
