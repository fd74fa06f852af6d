// Counts the words of inputs or texts, in the addon. While a batch is counted, the next one is
// read, and no more than that.

import { isOfRow, Failure, bareCode } from 'tokenlane/internal/files.mjs'
import { native, BatchTexts, copyTexts } from 'tokenlane/internal/corpus.js'
import { documentsOf, placeOf } from '../documents.mjs'
import { wrongType } from '../errors.mjs'
import { pipelined } from '../pipelined.mjs'
import { planParts } from '../plan.mjs'
import { countDocuments, countTexts } from '../count-words.mjs'

/** UTF-16 units and number of strings at which a batch is full. */
const BATCH_UNITS = 1 << 20
const BATCH_TEXTS = 1 << 13

/** As for shards beside others: a batch is counted on all cores, and a second one would wait. */
const oneAtATime = () => 2

/**
 * Texts that are kept for a comparison, and not trained on: one of `step`, until they have `most`
 * bytes.
 */
export class HeldOut {
  #seen = 0
  #step
  #most
  /** @type {Uint8Array[]} */
  texts = []
  bytes = 0

  constructor(step, most) {
    this.#step = step
    this.#most = most
  }

  /**
   * Selects texts of a batch.
   *
   * @param {number} length of the batch
   * @param {(index: number) => Uint8Array} textOf
   * @returns {import('../count-words.mjs').Selection}
   */
  select(length, textOf) {
    const before = this.#seen
    this.#seen += length
    if (this.bytes >= this.#most) return { first: 0, step: 0 }
    const first = this.#step - 1 - (before % this.#step)
    for (let index = first; index < length; index += this.#step) {
      const text = textOf(index)
      this.texts.push(text)
      this.bytes += text.length
    }
    return { first, step: this.#step }
  }
}

export class Counter {
  #training
  #options
  #heldOut
  #onProgress
  /** The state of the progress. */
  progress = { bytes: 0, allBytes: /** @type {number | undefined} */ (undefined), texts: 0, skipped: 0 }

  /**
   * @param {object} training of the addon
   * @param {import('./options.mjs').CountOptions} options
   * @param {{ heldOut?: HeldOut, onProgress: () => void }} more
   */
  constructor(training, options, { heldOut, onProgress }) {
    this.#training = training
    this.#options = options
    this.#heldOut = heldOut
    this.#onProgress = onProgress
  }

  async count() {
    const { texts } = this.#options
    if (texts === undefined) await this.#countInputs()
    else await this.#countTexts(texts)
  }

  async #countInputs() {
    const { inputs, filesFrom, content, exclude, signal } = this.#options
    const parts = []
    const onUnreadable = () => this.progress.skipped++
    for await (const part of planParts({ inputs, filesFrom, content, exclude, onUnreadable })) {
      signal?.throwIfAborted()
      parts.push(part)
    }
    this.progress.allBytes = parts.reduce((sum, { start, end }) => sum + end - start, 0)
    const hooks = {
      onRead: (chunk, bytes = chunk.length) => {
        this.progress.bytes += bytes
        signal?.throwIfAborted()
      },
      onSkip: (place, failure) => this.#skip(placeOf(place), failure),
      skippedRows: () => this.progress.skipped,
      onDamage() {},
    }
    const batches = documentsOf(parts, undefined, content, hooks)
    for await (const _ of pipelined(batches, (batch) => this.#countDocuments(batch), oneAtATime)) this.#onProgress()
  }

  async #countDocuments(batch) {
    const { length } = batch
    const selection = this.#heldOut?.select(length, (index) => batch.text(index))
    const onSkip = (place, failure) => this.#skip(placeOf(place), failure)
    await countDocuments(this.#training, batch, { ...this.#how, selection, onSkip })
    this.progress.texts += length
  }

  async #countTexts(texts) {
    let before = 0
    const count = async (list) => {
      const start = before
      before += list.length
      const selection = this.#heldOut?.select(list.length, (index) => Buffer.from(list[index]))
      const countFrom = async (entry, options) => {
        await copyTexts(entry, new BatchTexts([list], false))
        return native.countTexts(entry, this.#training, options)
      }
      const onSkip = (index, failure) => this.#skip(`texts[${start + index}]`, failure)
      await countTexts(countFrom, { ...this.#how, selection, onSkip })
      this.progress.texts += list.length
      this.progress.bytes += list.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    }
    const batches = this.#batchesOf(texts)
    for await (const _ of pipelined(batches, ({ list }) => count(list), oneAtATime)) this.#onProgress()
  }

  get #isSkipping() {
    return this.#options.content.onError === 'skip'
  }

  get #how() {
    return { isSkipping: this.#isSkipping, signal: this.#options.signal }
  }

  /** Collects strings to batches. */
  async *#batchesOf(texts) {
    const { signal } = this.#options
    let [list, units, index] = [/** @type {string[]} */ ([]), 0, 0]
    for await (const text of texts) {
      signal?.throwIfAborted()
      if (typeof text !== 'string') throw wrongType(`texts[${index}]`, 'a string', text)
      index += 1
      list.push(text)
      units += text.length
      if (units < BATCH_UNITS && list.length < BATCH_TEXTS) continue
      yield { list, bytes: units, isLarge: false }
      ;[list, units] = [[], 0]
    }
    if (list.length > 0) yield { list, bytes: units, isLarge: false }
  }

  /** Skips a text, or throws its error with its place. */
  #skip(place, failure) {
    if (this.#isSkipping && isOfRow(failure)) {
      this.progress.skipped++
      return
    }
    throw new Failure(bareCode(failure), failure.reason ?? failure.message, { place, cause: failure })
  }
}
