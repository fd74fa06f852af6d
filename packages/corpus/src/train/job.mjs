// Counts the words of inputs in a corpus job: its shards are counted by this machine or by the
// workers of a queue, and what is done is kept in the folder of the job.

import { runJob } from '../job.mjs'
import { openStore } from '../store/store.mjs'
import { wordFiles } from '../words.mjs'

/** The parts of a tokenizer.json that words depend on. */
function cutterOf(base) {
  const { added_tokens, normalizer, pre_tokenizer } = JSON.parse(Buffer.from(base).toString())
  return JSON.stringify({ added_tokens, normalizer, pre_tokenizer })
}

/**
 * Counts words in a job.
 *
 * @param {import('./options.mjs').CountOptions & { job: import('./options.mjs').JobOptions }}
 *   options
 * @param {Uint8Array} base a tokenizer.json
 * @param {{ folder: string, onProgress: (progress: object) => void }} more `folder` gets copies of
 *   files that are not on this machine
 * @returns {Promise<{ files: string[], texts: number, bytes: number, skipped: number }>} the files
 *   of words
 */
export async function countInJob({ inputs, filesFrom, content, exclude, signal, job }, base, { folder, onProgress }) {
  const { workDir, shardSize, tableMemory, onEvent, ...how } = job
  let unreadable = 0
  const result = await runJob({
    inputs,
    filesFrom,
    exclude,
    signal,
    output: workDir,
    base: cutterOf(base),
    content: JSON.parse(JSON.stringify({ ...content, format: 'words', shardSize })),
    tableMemory: Math.floor(tableMemory / how.concurrency),
    tokenizer: '',
    dryRun: false,
    trustPlan: false,
    append: false,
    ...how,
    onEvent: (/** @type {any} */ event) => {
      if (event.event === 'unreadable') unreadable++
      if (event.event === 'progress') onProgress({ ...event, texts: event.documents, skipped: unreadable })
      // Notes say how a corpus job reads lines; training reads them in its own way.
      if (event.event !== 'note') onEvent(event)
    },
  })
  const store = await openStore(workDir)
  try {
    const { plan, documents, skipped } = result
    const files = await wordFiles(store, result, folder)
    return { files, texts: documents, bytes: plan.bytes, skipped: skipped + unreadable }
  } finally {
    await store.close()
  }
}
