// job.json: everything that the shards of an output folder depend on.

import { error, otherJob } from './errors.mjs'
import { JOB } from './layout.mjs'

/** The version of the files in the output folder. */
export const LAYOUT_VERSION = 1

/**
 * Reads the job.json of a folder; `undefined` if there is none.
 *
 * @param {import('./store/local-store.mjs').LocalStore} store
 */
export async function readJob(store) {
  const text = await store.readText(JOB)
  if (text === undefined) return undefined
  try {
    const job = JSON.parse(text)
    if (job.version === LAYOUT_VERSION && typeof job.plan?.sha256 === 'string') return job
  } catch {
    // Reported below.
  }
  throw otherJob(`${store.where(JOB)} was not written by this version of tokenlane: name another output folder`)
}

/** Like `readJob`, but throws if there is none. `output` is the folder as the caller named it. */
export async function existingJob(store, output) {
  const job = await readJob(store)
  if (job !== undefined) return job
  const reason = `there is no ${JOB}, so this is not the output of a corpus job`
  throw error('ERR_TOKENLANE_FILE_NOT_FOUND', `${output}: ${reason}`)
}
