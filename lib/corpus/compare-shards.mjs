// Compares the files of shards with their records, some shards at a time.

import { work as compareFiles } from './compare-files.mjs'
import { recordsTest } from './job-file.mjs'
import { recordName, recordsOf } from './record.mjs'
import { ThreadPool } from './thread-pool.mjs'

/** Size of the files of a shard from which a thread compares them. */
const MIN_THREAD_BYTES = 4 << 20
/** Maximum number of shards that a worker compares in one job. */
export const MAX_COMPARED_SHARDS = 64

/** @typedef {{ file: string, problem: string }} Problem */

/**
 * Returns a function that says what is wrong with a record itself; `undefined` if nothing is.
 *
 * @returns {(record: any, shard: number) => Problem[] | undefined}
 */
export function recordCheck(job) {
  const isOfJob = recordsTest(job)
  return (record, shard) => {
    const file = recordName(shard)
    if (record === undefined) return [{ file, problem: 'it is missing or is not a record, so the shard is not done' }]
    return isOfJob(record) ? undefined : [{ file, problem: 'it is the record of another job' }]
  }
}

/**
 * Yields shards with what is wrong with their files, in order.
 *
 * @param {{ store: import('./store/types.js').Store, job: any, readsAll: boolean, concurrency:
 *   number, first?: number, end?: number, allowedPlaces?: string[], signal?: AbortSignal }} request
 *   `allowedPlaces` is what a worker may read
 * @returns {AsyncGenerator<{ shard: number, record: any, problems: Problem[] }>}
 */
export async function* comparedShards({ store, job, readsAll, concurrency, signal, ...range }) {
  const { first = 0, end = job.plan.shards, allowedPlaces } = range
  const pool = new ThreadPool(new URL('./compare-files.mjs', import.meta.url), concurrency)
  const check = recordCheck(job)
  const problemsOf = (record, shard) => {
    const wrong = check(record, shard)
    if (wrong !== undefined) return wrong
    const request = { place: store.place, files: record.files, readsAll, allowedPlaces }
    const bytes = record.files.reduce((sum, file) => sum + file.bytes, 0)
    return bytes < MIN_THREAD_BYTES ? compareFiles(request) : pool.call(request)
  }
  const running = []
  const next = async () => {
    const { shard, record, problems } = running.shift()
    return { shard, record, problems: await problems }
  }
  try {
    let shard = first
    for await (const record of recordsOf(store, end, first)) {
      signal?.throwIfAborted()
      const problems = Promise.resolve(problemsOf(record, shard))
      // A failure is thrown when the shard's turn comes.
      problems.catch(() => {})
      running.push({ shard: shard++, record, problems })
      if (running.length >= concurrency) yield await next()
    }
    while (running.length > 0) yield await next()
  } finally {
    await pool.end()
  }
}
