// Looks at inputs on disk for the plan, many at once: in threads, because opening a file, reading
// its ends and closing it take far less time in synchronous calls.

import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'

import { fileFailure, HEAD_BYTES } from 'tokenlane/internal/files.mjs'
import { openRegularSync } from 'tokenlane/internal/corpus.js'
import { packError, unpackError } from './errors.mjs'
import { KINDS, kindOf } from './kind.mjs'
import { SIZES } from './sizes.mjs'
import { SAMPLE_BYTES } from './store/input.mjs'
import { openInput } from './store/store.mjs'
import { ThreadPool } from './thread-pool.mjs'

const MAX_THREADS = 4

/**
 * What the thread found of an input: the sample is that of the whole input.
 *
 * @typedef {{ size: number, kind: import('./kind.mjs').Kind, sample: string }} Found
 */

const SAMPLE_LENGTH = 64

/**
 * The work of a thread. The result has few values, because copying many takes longer than looking
 * at the inputs: `samples` is one text, and `errors` is sparse.
 */
export const work = (/** @type {string} */ joined) => {
  const paths = joined.split('\0')
  const buffer = Buffer.allocUnsafe(2 * SAMPLE_BYTES)
  const all = {
    sizes: new Float64Array(paths.length),
    kinds: Buffer.alloc(paths.length),
    samples: '',
    errors: /** @type {{ index: number, error: any }[]} */ ([]),
  }
  paths.forEach((path, index) => {
    let sample = ''
    try {
      const found = lookAt(path, buffer)
      sample = found.sample
      all.sizes[index] = found.size
      all.kinds[index] = KINDS.indexOf(found.kind)
    } catch (failure) {
      all.errors.push({ index, error: packError(fileFailure(path, failure)) })
    }
    all.samples += sample.padEnd(SAMPLE_LENGTH)
  })
  return all
}

/** @returns {Found} */
function lookAt(path, buffer) {
  const { descriptor, stat } = openRegularSync(path)
  try {
    const { size } = stat
    const first = fs.readSync(descriptor, buffer, 0, Math.min(SAMPLE_BYTES, size), 0)
    const tail = Math.max(SAMPLE_BYTES, size - SAMPLE_BYTES)
    const last = tail < size ? fs.readSync(descriptor, buffer, first, size - tail, tail) : 0
    const sample = createHash('sha256')
      .update(buffer.subarray(0, first + last))
      .digest('hex')
    return { size, kind: kindOf(buffer.subarray(0, Math.min(HEAD_BYTES, first))), sample }
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Looks at inputs in threads. Their promises resolve in the order of the calls. */
export class Probes {
  #pool = new ThreadPool(new URL(import.meta.url), Math.min(MAX_THREADS, os.availableParallelism()))
  #batch
  #waiting = /** @type {{ path: string, resolve: (input: Probed) => void, reject: (failure: any) => void }[]} */ ([])

  /** @param {import('./sizes.mjs').Sizes} [sizes] */
  constructor(sizes = SIZES) {
    this.#batch = sizes.probedBatch
  }

  /** Number of inputs that keep all threads busy. */
  get ahead() {
    return 2 * MAX_THREADS * this.#batch
  }

  /** @returns {Promise<Probed>} */
  of(path) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ path, resolve, reject })
      if (this.#waiting.length >= this.#batch) this.flush()
    })
  }

  /** Starts to look at the inputs of the last calls. */
  flush() {
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    this.#waiting = []
    this.#pool.call(batch.map(({ path }) => path).join('\0')).then(
      ({ sizes, kinds, samples, errors }) => {
        for (const { index, error } of errors) batch[index].reject(unpackError(error))
        // A promise that was rejected stays so.
        batch.forEach(({ path, resolve }, index) => {
          const sample = samples.slice(index * SAMPLE_LENGTH, (index + 1) * SAMPLE_LENGTH)
          resolve(new Probed(path, { size: sizes[index], kind: KINDS[kinds[index]], sample }))
        })
      },
      (failure) => {
        for (const { reject } of batch) reject(failure)
      },
    )
  }

  end() {
    return this.#pool.end()
  }
}

/** An input that is opened only if the plan needs more of it than what is known. */
export class Probed {
  #found
  #opened = /** @type {Promise<import('./store/types.js').OpenInput> | undefined} */ (undefined)

  /**
   * @param {string} path
   * @param {Found} found
   */
  constructor(path, found) {
    this.path = path
    this.size = found.size
    this.kind = found.kind
    this.#found = found
  }

  /** The input itself. */
  opened() {
    this.#opened ??= openInput(this.path)
    return this.#opened
  }

  async read(position, length) {
    return (await this.opened()).read(position, length)
  }

  async sample(start, end) {
    if (start === 0 && end === this.size) return this.#found.sample
    return (await this.opened()).sample(start, end)
  }

  async recordEnd(position) {
    return (await this.opened()).recordEnd(position)
  }

  async close() {
    await (await this.#opened)?.close()
  }
}
