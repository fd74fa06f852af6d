// Counts the words of texts in the addon, from which a tokenizer is trained.

import os from 'node:os'

import { native, enqueue } from 'tokenlane/internal/corpus.js'

/** The default size in bytes of the tables of words, unless the machine is small. */
const MAX_MEMORY = 2 ** 31
/** The least memory for tables of words. */
export const MIN_MEMORY = 1 << 20

/** Half of the memory of the container or the machine, at most `MAX_MEMORY`. */
export function defaultMemory() {
  const limit = process.constrainedMemory?.() || Infinity
  return Math.floor(Math.min(MAX_MEMORY, limit / 2, os.totalmem() / 2))
}

/**
 * Which texts of a batch are counted.
 *
 * @typedef {object} Selection
 * @property {number} first the index of the first text that is left out
 * @property {number} step the distance to the next one; 0 if none is left out
 */
const ALL = { first: 0, step: 0 }

/**
 * Counts the words of the texts of a batch. If texts that fail are skipped, they are counted in
 * order.
 *
 * @param {(entry: object, options: object) => Promise<void>} count of the addon
 * @param {{ selection?: Selection, isSkipping: boolean, signal?: AbortSignal, onSkip: (index:
 *   number, failure: any) => void }} options `onSkip` throws unless texts are skipped
 */
export async function countTexts(count, { selection: { first, step } = ALL, isSkipping, signal, onSkip }) {
  for (let from = 0; ; ) {
    const options = { from, heldOut: first, step, inOrder: isSkipping }
    let call
    try {
      return await enqueue((entry) => (call = count(entry, options)), { signal })
    } catch (failure) {
      // After an abort, the addon writes tables to files until it stops.
      await call?.catch(() => {})
      if (failure.row === undefined) throw failure
      onSkip(failure.row, Object.assign(new Error(failure.reason ?? failure.message), { code: failure.code }))
      from = failure.row + 1
    }
  }
}

/**
 * Counts the words of a batch of documents, and releases it.
 *
 * @param {object} training of the addon
 * @param {import('./document-batch.mjs').DocumentBatch} batch
 * @param {{ selection?: Selection, isSkipping: boolean, signal?: AbortSignal, onSkip: (place:
 *   import('./document-batch.mjs').Place, failure: any) => void }} options
 */
export async function countDocuments(training, batch, { onSkip, ...options }) {
  const count = (entry, which) => native.countDocuments(entry, training, batch.handle, which)
  await countTexts(count, { ...options, onSkip: (index, failure) => onSkip(batch.place(index), failure) })
  batch.release()
}
