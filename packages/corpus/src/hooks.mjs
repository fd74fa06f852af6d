// Hooks: functions of the user that filter and change documents before they are encoded. They are
// in a module, whose SHA-256 is one of the options of a job: a changed module is another job.

import { createHash } from 'node:crypto'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

import { Failure, fileFailure } from 'tokenlane/internal/files.mjs'
import { readRegular } from 'tokenlane/internal/corpus.js'
import { otherJob, wrongValue } from './errors.mjs'

/** Maximum size in bytes of a module. */
const MAX_MODULE_BYTES = 16 << 20

/**
 * A document as hooks get it.
 *
 * @typedef {object} HookDocument
 * @property {string} text
 * @property {string} path of its input
 * @property {string} [id] with the option idField
 * @property {any} [row] the row of JSON that it is in
 */

export class Hooks {
  #name
  #filter
  #map

  constructor(name, { filter, map }) {
    this.#name = name
    this.#filter = filter
    this.#map = map
  }

  /**
   * The text of a document after the hooks; `undefined` if it is left out.
   *
   * @param {HookDocument} document
   * @returns {string | undefined}
   */
  textOf(document) {
    // A filter may write to the document.
    const { text } = document
    if (this.#filter !== undefined && !this.#call('filter', this.#filter, document, 'boolean')) return undefined
    return this.#map === undefined ? text : this.#call('map', this.#map, { ...document, text }, 'string')
  }

  #call(name, hook, document, type) {
    let value
    try {
      value = hook(document)
    } catch (reason) {
      throw new Failure('CORPUS_HOOK', `${name} of ${this.#name} threw: ${messageOf(reason)}`)
    }
    if (typeof value === type) return value
    const found = typeof value?.then === 'function' ? 'a promise' : value === null ? 'null' : typeof value
    throw new Failure('CORPUS_HOOK', `${name} of ${this.#name} must return a ${type}, but it returned ${found}`)
  }
}

/** What a module threw, for messages: an error, or any other value. */
const messageOf = (reason) => (typeof reason?.message === 'string' ? reason.message : inspect(reason))

/** The SHA-256 of a module of hooks. */
export async function hashOfHooks(file) {
  try {
    const bytes = await readRegular(file, MAX_MODULE_BYTES)
    return createHash('sha256').update(bytes).digest('hex')
  } catch (failure) {
    throw fileFailure(file, failure)
  }
}

/**
 * Loads a module of hooks.
 *
 * @param {string} file an absolute path
 * @param {string} sha256 that it must have
 */
export async function loadHooks(file, sha256) {
  const name = path.basename(file)
  let module
  try {
    module = await import(`${pathToFileURL(file)}?sha256=${sha256}`)
  } catch (failure) {
    throw wrongHooks(file, `it cannot be loaded: ${messageOf(failure)}`)
  }
  if ((await hashOfHooks(file)) !== sha256) throw otherJob(`${file} changed: its SHA-256 is not ${sha256}`)
  const { filter, map } = module
  const known = [filter, map].filter((hook) => hook !== undefined)
  if (known.length === 0 || known.some((hook) => typeof hook !== 'function'))
    throw wrongHooks(file, 'it must export a function filter, a function map, or both')
  return new Hooks(name, { filter, map })
}

const wrongHooks = (file, reason) => wrongValue('hooks', `a module of functions; ${reason}`, file)
