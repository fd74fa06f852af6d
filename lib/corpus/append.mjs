// Appends to a finished job: inputs that it does not have become a further segment of its shards.

import { error } from './errors.mjs'
import { MAX_SEGMENTS, idOf, planOf, segmentsOf } from './job-file.mjs'
import { inputsOfPlan } from './plan.mjs'

/**
 * The inputs of segments of a job, with their sizes.
 *
 * @param {import('./store/types.js').Store} store
 * @param {{ file: string }[]} segments
 * @returns {Promise<Map<string, number>>}
 */
export async function inputsOf(store, segments) {
  const known = new Map()
  for (const { file } of segments) for await (const { path, size } of inputsOfPlan(store, file)) known.set(path, size)
  return known
}

/**
 * The content of job.json with a further segment.
 *
 * @param {any} job
 * @param {any} more the same job, with the plan of the new segment alone
 */
export function appended(job, more) {
  const segments = [...segmentsOf(job), more].map(({ id, plan }) => ({ id, plan }))
  if (segments.length > MAX_SEGMENTS)
    throw error(
      'ERR_TOKENLANE_ARGUMENT_VALUE',
      `a job is appended to at most ${MAX_SEGMENTS - 1} times: merge its output into a new folder`,
    )
  const known = { ...job, plan: planOf(segments), segments }
  return { ...known, id: idOf(known) }
}
