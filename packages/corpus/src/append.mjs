// Appends to a finished job: inputs that it does not have become a further segment of its shards.

import { error } from './errors.mjs'
import { MAX_SEGMENTS, idOf, planOf, recordsTest, segmentsOf } from './job-file.mjs'
import { changedPlan, inputsOfPlan, keyOf } from './plan.mjs'
import { recordsOf } from './record.mjs'

/**
 * The inputs of segments of a job (`keyOf`), with their sizes. Throws if a plan is not as it was
 * written: an input that it lacks would be appended once more.
 *
 * @param {import('./store/types.js').Store} store
 * @param {{ file: string, plan: { sha256: string } }[]} segments
 * @returns {Promise<Map<string, number>>}
 */
export async function inputsOf(store, segments) {
  const known = new Map()
  for (const { file, plan } of segments) {
    if ((await store.hashOf(file))?.sha256 !== plan.sha256) throw changedPlan(store, file)
    for await (const { path, size } of inputsOfPlan(store, file)) known.set(keyOf(path), size)
  }
  return known
}

/**
 * The segments of a job that lack the record of a shard.
 *
 * @param {import('./store/types.js').Store} store
 * @param {any} job
 */
export async function segmentsWithoutRecords(store, job) {
  const segments = segmentsOf(job)
  const isOfJob = recordsTest(job)
  const found = new Set()
  let shard = 0
  for await (const record of recordsOf(store, job.plan.shards)) {
    const here = shard++
    if (!isOfJob(record)) found.add(segments.findLast(({ first }) => first <= here))
  }
  return segments.filter((segment) => found.has(segment))
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
