// Compares the files of shards with their records, some shards at a time.

import { inOrder } from 'tokenlane/internal/files.mjs'
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
  let next = first
  const compare = async (record) => {
    const shard = next++
    return { shard, record, problems: await problemsOf(record, shard) }
  }
  try {
    for await (const one of inOrder(recordsOf(store, end, first), compare, () => concurrency)) {
      signal?.throwIfAborted()
      yield one
    }
  } finally {
    await pool.end()
  }
}
