// Removes what killed processes left in the output folder of a job.

import { checkKnown } from 'tokenlane/internal/corpus.js'
import { removeStale } from './claim.mjs'
import { wrongType, wrongValue } from './errors.mjs'
import { existingJob } from './job-file.mjs'
import { CLAIM } from './layout.mjs'
import { openStore } from './store/store.mjs'

/** Default minimum age in seconds of files of other machines. */
const MIN_AGE_SECONDS = 24 * 3600

/**
 * Removes unfinished files.
 *
 * @param {string} output the folder of the job
 * @param {{ ageSeconds?: number }} [options]
 * @returns {Promise<{ removed: string[] }>} their names
 */
export async function cleanCorpus(output, options = {}) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  checkKnown(options, ['ageSeconds'])
  const { ageSeconds = MIN_AGE_SECONDS } = options
  if (typeof ageSeconds !== 'number') throw wrongType('ageSeconds', 'a number', ageSeconds)
  if (!(ageSeconds >= 0 && ageSeconds <= 1e9)) throw wrongValue('ageSeconds', 'seconds from 0 to 1e9', ageSeconds)
  const store = await openStore(output)
  // Only folders of jobs are cleaned.
  if ((await store.sizeOf(CLAIM)) === undefined) await existingJob(store, output)
  const removed = await store.clean(ageSeconds * 1000)
  if (await removeStale(store, ageSeconds * 1000)) removed.push(CLAIM)
  return { removed }
}
