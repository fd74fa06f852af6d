// job.json: what the shards of an output folder depend on.

import { otherJob } from './errors.mjs'
import { JOB } from './layout.mjs'

/** The version of the files in the output folder. */
export const LAYOUT = 1

/**
 * What job.json of a folder says; nothing if there is none.
 *
 * @param {import('./store/local-store.mjs').LocalStore} store
 */
export async function readJob(store) {
  const text = await store.readText(JOB)
  if (text === undefined) return undefined
  try {
    const job = JSON.parse(text)
    if (job.version === LAYOUT && typeof job.plan?.sha256 === 'string') return job
  } catch {
    // Said below.
  }
  throw otherJob(`${store.where(JOB)} is not one that this version of tokenlane writes: name another output folder`)
}
