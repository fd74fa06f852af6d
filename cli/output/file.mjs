// Where results go: standard output, or a file that is written beside its place and renamed when it is complete.

import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'

import { Failure, UsageError, fileFailure } from '../failure.mjs'

const BUFFER = 1 << 16

/** Files that are being written; whatever ends the process takes them away. */
const unfinished = new Set()
process.on('exit', () => unfinished.forEach((file) => fs.rmSync(file, { force: true })))

/** Standard output, with the calls of a file. Writes of a few bytes are gathered. */
class StandardOutput {
  #text = ''

  async write(text) {
    this.#text += text
    if (this.#text.length >= BUFFER) await this.flush()
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

/** A file. Nobody sees it half written: it gets its name when it is committed. */
class OutputFile {
  #name
  #place
  #beside
  #file
  #pending = []
  #bytes = 0

  constructor(name) {
    this.#name = name
    const stat = fs.statSync(name, { throwIfNoEntry: false })
    if (stat?.isDirectory()) throw new UsageError(`the output ${name} is a folder`)
    // What a link points to is replaced, not the link; a device or a pipe is written to as it is.
    this.#place = stat ? fs.realpathSync(name) : name
    const isPlain = stat === undefined || stat.isFile()
    this.#beside = isPlain ? path.join(path.dirname(this.#place), `.${path.basename(this.#place)}.${process.pid}.part`) : undefined
    try {
      if (isPlain) unfinished.add(this.#beside)
      this.#file = fs.openSync(this.#beside ?? name, isPlain ? 'wx' : 'w', stat?.mode)
    } catch (error) {
      unfinished.delete(this.#beside)
      if (error.code !== 'ENOENT') throw fileFailure(name, error)
      throw new Failure('FILE_NOT_FOUND', `${name}: there is no folder ${path.dirname(name)}`, { cause: error })
    }
  }

  /** Whether bytes at the start can be written again. */
  get isSeekable() {
    return this.#beside !== undefined
  }

  async write(data) {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    this.#pending.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes >= BUFFER) this.flush()
  }

  flush() {
    const bytes = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending)
    this.#pending = []
    this.#bytes = 0
    this.#all(bytes)
  }

  /** Writes bytes over those at the start. */
  rewriteStart(bytes) {
    this.flush()
    this.#all(bytes, 0)
  }

  async commit() {
    this.flush()
    this.#try(() => fs.closeSync(this.#file))
    if (this.#beside === undefined) return
    this.#try(() => fs.renameSync(this.#beside, this.#place))
    unfinished.delete(this.#beside)
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

/** The output of a command: a file, or standard output where none is named or `-` is. */
export const openOutput = (name) => (name === undefined || name === '-' ? new StandardOutput() : new OutputFile(name))
