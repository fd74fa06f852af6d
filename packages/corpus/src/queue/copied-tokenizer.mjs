// Copies the tokenizer of a job to a folder that only this user can access. The files are checked
// while they are copied, and every thread loads the same bytes from the copy: nobody can exchange
// them, and nothing that a loader opens in the folder leads out of it.

import fs from 'node:fs'
import path from 'node:path'

import { fileFailure, newScratch, removeScratchNow } from 'tokenlane/internal/files.mjs'
import { error } from '../errors.mjs'

/** Maximum size in bytes of the files together. */
const MAX_BYTES = 256 << 20
const MAX_FILES = 64
/** The files in a folder that loaders may open. Weights of a model are none of them. */
const LOADED = /\.(?:json|txt|model|spm|bpe|tiktoken|jinja)$/i

export class CopiedTokenizer {
  #source
  #folder
  #left = MAX_BYTES
  /** The file or the folder to load. */
  place

  constructor(source, folder) {
    this.#source = source
    this.#folder = folder
    this.place = path.join(folder, path.basename(source) || 'tokenizer')
  }

  /**
   * Copies a file, or the files of a folder. The caller removes the copy.
   *
   * @param {string} source
   * @param {import('../store/allowed.mjs').Allowed} allowed
   */
  static async of(source, allowed) {
    const copy = new CopiedTokenizer(source, newScratch('tokenizer'))
    try {
      const opened = await allowed.openFolder(source).catch((failure) => {
        if (failure.code === 'ERR_TOKENLANE_CORPUS_NOT_ALLOWED') throw failure
        return undefined
      })
      if (opened === undefined) await copy.#file(await allowed.openFile(source), copy.place)
      else await copy.#files(opened, allowed)
      return copy
    } catch (failure) {
      copy.remove()
      throw fileFailure(source, failure)
    }
  }

  /** Copies the files of an open folder, and closes it. */
  async #files(opened, allowed) {
    try {
      fs.mkdirSync(this.place)
      let files = 0
      for await (const { name } of await fs.promises.opendir(opened.path)) {
        if (!LOADED.test(name)) continue
        files += 1
        if (files > MAX_FILES) throw this.#tooLarge(`${MAX_FILES} files`)
        const handle = await allowed.openFile(path.join(opened.path, name), path.join(this.#source, name))
        await this.#file(handle, path.join(this.place, name))
      }
    } finally {
      await opened.close()
    }
  }

  /** Copies an open file, and closes it. */
  async #file(handle, place) {
    try {
      const { size } = await handle.stat()
      this.#left -= size
      if (this.#left < 0) throw this.#tooLarge(`${MAX_BYTES} bytes`)
      const chunks = size === 0 ? [] : handle.createReadStream({ end: size - 1, autoClose: false })
      await fs.promises.writeFile(place, chunks, { flag: 'wx' })
    } finally {
      await handle.close()
    }
  }

  #tooLarge = (limit) =>
    error('ERR_TOKENLANE_FILE_TOO_LARGE', `${this.#source}: a tokenizer of a job has at most ${limit}`)

  /** The text of a message with the path of the tokenizer instead of that of the copy. */
  named = (message) => message.replaceAll(this.place, this.#source)

  remove() {
    removeScratchNow(this.#folder)
  }
}
