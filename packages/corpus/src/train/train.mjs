// Trains a tokenizer: counts words, then makes a vocabulary of them.

import { isDeepStrictEqual } from 'node:util'

import { inScratch } from 'tokenlane/internal/files.mjs'
import { native, enqueue, Tokenizer, endsSoon } from 'tokenlane/internal/corpus.js'
import { definitionOf } from './base.mjs'
import { Counter } from './count.mjs'
import { checkOptions } from './options.mjs'
import { withIds } from './post-processor.mjs'

/** The interval in milliseconds at which the progress is reported. */
const PROGRESS_MS = 200

/** @param {object} options see ./index.d.ts */
export async function trainTokenizer(options) {
  const checked = checkOptions(options)
  const { tokenizer } = await endsSoon(() => trained(checked), checked.signal)
  return tokenizer
}

/**
 * Trains with checked options.
 *
 * @param {import('./options.mjs').Options} options
 * @param {import('./count.mjs').HeldOut} [heldOut] texts that are not trained on
 * @returns {Promise<{ tokenizer: import('tokenlane').Tokenizer, skipped: number }>} the
 *   tokenizer, and the number of texts and inputs that were skipped
 */
export async function trained(options, heldOut) {
  options.signal?.throwIfAborted()
  const { base, trainer } = await definitionOf(options)
  const train = (entry, training) => native.train(entry, training, JSON.stringify(trainer))
  const { made, skipped } = await withCounts(options, Buffer.from(JSON.stringify(base)), train, heldOut)
  return { tokenizer: withPostProcessor(await Tokenizer.fromBuffer(made.file), base.post_processor), skipped }
}

/**
 * Counts words, and makes something of the counts.
 *
 * @param {import('./options.mjs').CountOptions} options
 * @param {Uint8Array} base the tokenizer.json whose parts cut texts into words
 * @param {(entry: object, training: object) => Promise<any>} make
 * @param {import('./count.mjs').HeldOut} [heldOut]
 */
export async function withCounts(options, base, make, heldOut) {
  options.signal?.throwIfAborted()
  return inScratch('train', async (folder) => {
    const training = native.training(base, options.memory, folder)
    const progress = new Progress(training, options)
    const { signal } = progress
    try {
      const { job } = options
      const skipped = await (job === undefined ? count() : countShards(job))
      progress.follow()
      return { made: await enqueue((entry) => make(entry, training), { signal }), skipped }
    } finally {
      progress.stop()
    }

    async function count() {
      const onProgress = () => progress.counted(counter.progress)
      const counter = new Counter(training, { ...options, signal }, { heldOut, onProgress })
      await counter.count()
      progress.counted(counter.progress, true)
      return counter.progress.skipped
    }

    async function countShards(job) {
      const { countInJob } = await import('./job.mjs')
      const onProgress = (state) => progress.counted(state)
      const { files, ...sums } = await countInJob({ ...options, signal, job }, base, { folder, onProgress })
      native.addWordFiles(training, files)
      progress.counted({ ...sums, allBytes: sums.bytes }, true)
      return sums.skipped
    }
  })
}

/** The tokenizer, whose post-processor has the ids of the vocabulary. */
function withPostProcessor(tokenizer, part) {
  const postProcessor = withIds(part, (token) => tokenizer.tokenToId(token))
  return isDeepStrictEqual(postProcessor, part) ? tokenizer : tokenizer.with({ postProcessor })
}

/** Calls `onProgress`. What that throws ends the training, as the caller's signal does. */
class Progress {
  #training
  #onProgress
  #outer
  #controller = new AbortController()
  #onAbort = () => this.#controller.abort(this.#outer.reason)
  #timer
  #start = performance.now()
  #last = -Infinity

  /**
   * @param {object} training of the addon
   * @param {import('./options.mjs').CountOptions} options
   */
  constructor(training, { onProgress, signal }) {
    this.#training = training
    this.#onProgress = onProgress
    this.#outer = signal
    signal?.addEventListener('abort', this.#onAbort)
  }

  get signal() {
    return this.#controller.signal
  }

  /** Reports the progress of counting, at most every `PROGRESS_MS` unless it is the last one. */
  counted({ bytes, allBytes, texts, skipped }, isLast = false) {
    const now = performance.now()
    if (this.#onProgress === undefined || (!isLast && now - this.#last < PROGRESS_MS)) return
    this.#last = now
    const seconds = (now - this.#start) / 1000
    const left = allBytes === undefined || bytes === 0 ? undefined : ((allBytes - bytes) / bytes) * seconds
    this.#report({ phase: 'count', bytes, allBytes, texts, skipped, seconds, left })
  }

  /** Reports the progress of the trainer until `stop` is called. */
  follow() {
    if (this.#onProgress === undefined) return
    this.#timer = setInterval(() => {
      const state = native.trainingProgress(this.#training)
      if (state !== null) this.#report({ ...state, seconds: (performance.now() - this.#start) / 1000 })
    }, PROGRESS_MS)
  }

  stop() {
    clearInterval(this.#timer)
    this.#outer?.removeEventListener('abort', this.#onAbort)
  }

  #report(state) {
    try {
      this.#onProgress(state)
    } catch (failure) {
      this.#controller.abort(failure)
    }
  }
}
