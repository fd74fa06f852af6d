// Outputs: standard output, or a file that is written under another name and renamed when it is
// complete.

import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'

import { Failure, UsageError, fileFailure } from '../failure.mjs'
import { openPipe } from '../input/open.mjs'
import { behindLinks, statIfThere } from '../../lib/files/stat.mjs'
import { forOutput } from '../terminal.mjs'
import { partOf, removeDeadParts } from '../../lib/files/parts.mjs'
import { refuseInput, statOf } from './same-file.mjs'

/** Small writes are collected up to this size, in bytes or UTF-16 units. */
const FLUSH_SIZE = 1 << 16

/**
 * Unfinished files, by their temporary names: descriptors, undefined before they are open. They are
 * removed when the process exits; Windows keeps a folder while it has a removed file that is open.
 *
 * @type {Map<string, number | undefined>}
 */
const unfinished = new Map()
process.on('exit', () => {
  for (const [part, descriptor] of unfinished) {
    if (descriptor !== undefined) fs.closeSync(descriptor)
    fs.rmSync(part, { force: true })
  }
  unfinished.clear()
})

/**
 * Standard output with the methods of a file. Small writes are buffered. On a terminal, control
 * characters are replaced.
 */
class StandardOutput {
  #text = ''

  /** `isSafe` is for coloured text whose parts are free of control characters already. */
  async write(data, { isSafe = false } = {}) {
    const text = String(data)
    this.#text += isSafe ? text : forOutput(text)
    if (this.#text.length >= FLUSH_SIZE) await this.flush()
  }

  async flush() {
    const text = this.#text
    this.#text = ''
    if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
  }

  commit() {
    return this.flush()
  }
}

/** Collects small writes for `flush`, which a subclass has. */
class BinaryOutput {
  #pending = []
  #bytes = 0

  async write(data) {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    this.#pending.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= FLUSH_SIZE) await this.flush()
  }

  /** @returns {any} */
  flush() {}

  take() {
    const bytes = Buffer.concat(this.#pending)
    this.#pending = []
    this.#bytes = 0
    return bytes
  }
}

/** A file that gets its name when it is committed, so that it is never seen incomplete. */
class OutputFile extends BinaryOutput {
  #name
  #place
  #part
  #file

  /** `place` is the real path: the target of a link is replaced, not the link. */
  constructor(name, place, mode) {
    super()
    this.#name = name
    this.#place = place
    removeDeadParts(path.dirname(place))
    this.#part = partOf(place)
    unfinished.set(this.#part, undefined)
    try {
      this.#file = fs.openSync(this.#part, 'wx', mode)
      unfinished.set(this.#part, this.#file)
    } catch (error) {
      unfinished.delete(this.#part)
      if (error.code !== 'ENOENT') throw fileFailure(name, error)
      throw new Failure('FILE_NOT_FOUND', `there is no folder ${path.dirname(place)}`, { place: name, cause: error })
    }
  }

  /** Whether bytes at the start can be written again. */
  get isSeekable() {
    return true
  }

  flush() {
    this.#all(this.take())
  }

  /** Writes bytes over those at the start. */
  rewriteStart(bytes) {
    this.flush()
    this.#all(bytes, 0)
  }

  async commit() {
    this.flush()
    unfinished.set(this.#part, undefined)
    this.#try(() => fs.closeSync(this.#file))
    this.#try(() => fs.renameSync(this.#part, this.#place))
    unfinished.delete(this.#part)
  }

  #all(bytes, place) {
    this.#try(() => {
      for (let from = 0; from < bytes.length; ) {
        from += fs.writeSync(this.#file, bytes, from, bytes.length - from, place === undefined ? null : place + from)
      }
    })
  }

  #try(action) {
    try {
      action()
    } catch (error) {
      throw fileFailure(this.#name, error)
    }
  }
}

/**
 * A FIFO or a device. Written bytes cannot be taken back, so there is no temporary file and no
 * rename.
 */
class StreamOutput extends BinaryOutput {
  #name
  #open
  #stream
  #failure

  constructor(name, open) {
    super()
    this.#name = name
    this.#open = open
  }

  get isSeekable() {
    return false
  }

  async flush() {
    const bytes = this.take()
    try {
      await this.#connect()
      if (this.#failure !== undefined) throw this.#failure
      if (!this.#stream.write(bytes)) await once(this.#stream, 'drain')
    } catch (error) {
      throw this.#failed(error)
    }
  }

  async commit() {
    await this.flush()
    try {
      this.#stream.end()
      await once(this.#stream, 'finish')
    } catch (error) {
      throw this.#failed(error)
    }
    this.#stream.destroy()
  }

  async #connect() {
    if (this.#stream !== undefined) return
    this.#stream = await this.#open()
    this.#stream.on('error', (error) => (this.#failure = error))
  }

  #failed(error) {
    if (error.code === 'EPIPE') return new Failure('FILE', `${this.#name}: its reader closed it`, { cause: error })
    return fileFailure(this.#name, error)
  }
}

/**
 * @typedef {object} Output
 * @property {(data: string | Uint8Array, options?: { isSafe?: boolean }) => Promise<void>} write
 * @property {() => Promise<void>} commit
 * @property {boolean} [isSeekable] whether bytes at the start can be written again
 * @property {(bytes: Uint8Array) => void} [rewriteStart] of a seekable output
 */

/**
 * Opens the output of a command: a file, or standard output if no name is given or the name is `-`.
 *
 * @param {string | undefined} name
 * @param {import('./same-file.mjs').Input[]} inputs of the command, which must not be overwritten
 * @returns {Output}
 */
export function openOutput(name, inputs) {
  if (name === undefined || name === '-') {
    // For example after `>> FILE`: a command that reads the file would never end.
    refuseInput(statOf(1), '(standard output)', inputs)
    return new StandardOutput()
  }
  const stat = statIfThere(name)
  if (stat?.isDirectory()) throw new UsageError(`the output ${name} is a folder`)
  refuseInput(statOf(name), name, inputs)
  if (stat === undefined || stat.isFile()) return new OutputFile(name, behindLinks(name), stat?.mode)
  if (stat.isFIFO()) return new StreamOutput(name, () => openPipe(name))
  return new StreamOutput(name, async () => fs.createWriteStream(name, { flags: 'w' }))
}
