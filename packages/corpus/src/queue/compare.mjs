// Lets workers compare the files of a finished job with its records. Their results are used once:
// the jobs have ids of their own, and are removed when this process stops waiting for them.

import { randomUUID } from 'node:crypto'

import { VERSION } from 'tokenlane/internal/corpus.js'
import { MAX_COMPARED_SHARDS, recordCheck } from '../compare-shards.mjs'
import { error } from '../errors.mjs'
import { recordsOf } from '../record.mjs'
import { isObject, isSize, isText } from '../values.mjs'
import { runOnQueue } from './planner.mjs'

/** Input of the shards that a worker compares at a time, in bytes. */
const JOB_BYTES = 256 << 20
const MAX_TEXT_LENGTH = 1 << 16
/** The events of the queue that are passed on. */
const PASSED = ['waiting', 'refused', 'stalled']

/** @typedef {import('../compare-shards.mjs').Problem} Problem */

/**
 * Yields all shards with what is wrong with their files, in order, after workers have compared
 * them.
 *
 * @param {{ store: import('../store/types.js').Store, job: any, readsAll: boolean, queue: string,
 *   queueName: string, giveUpSeconds?: number, signal?: AbortSignal }} request
 * @param {(event: any) => void} onEvent
 * @returns {AsyncGenerator<{ shard: number, record: any, problems: Problem[] }>}
 */
export async function* compareOnQueue({ store, job, readsAll, ...request }, onEvent) {
  const { shards: allShards, bytes } = job.plan
  const perJob = Math.min(MAX_COMPARED_SHARDS, Math.max(1, Math.floor(JOB_BYTES / (bytes / allShards))))
  /** @type {import('./planner.mjs').Task} */
  const task = {
    key: ` compared ${randomUUID()}`,
    last: 'compared',
    tokenlane: VERSION,
    isTransient: true,
    *jobs() {
      for (let first = 0; first < allShards; first += perJob) {
        const end = Math.min(first + perJob, allShards)
        yield { name: 'compare', shard: first, data: { first, end, ...(readsAll && { readsAll }) } }
      }
    },
    failed: (failed, named) =>
      `${failed} of ${Math.ceil(allShards / perJob)} comparisons failed (of up to ${perJob} shards): ${named}; run the command again`,
  }
  const onTask = (event) => {
    if (PASSED.includes(event.event)) onEvent(event)
    if (event.event !== 'shard' || !isRange(event, allShards)) return
    for (let shard = event.first; shard < event.end; shard++) onEvent({ event: 'verified', shard, allShards })
  }
  const output = await store.exclude()
  const { values } = await runOnQueue({ ...request, output, job, task, onEvent: onTask })
  const found = problemsOf(values, allShards)
  const check = recordCheck(job)
  let shard = 0
  for await (const record of recordsOf(store, allShards)) {
    yield { shard, record, problems: found.get(shard) ?? check(record, shard) ?? [] }
    shard += 1
  }
}

const isRange = ({ first, end }, shards) => isSize(first) && isSize(end) && first < end && end <= shards

/**
 * What the workers found, by shards.
 *
 * @returns {Map<number, Problem[]>}
 */
function problemsOf(values, shards) {
  const found = new Map()
  const isProblem = (one) =>
    isObject(one) && isSize(one.shard) && [one.file, one.problem].every((text) => isText(text, MAX_TEXT_LENGTH))
  let compared = 0
  for (const value of values) {
    if (
      !isObject(value) ||
      !isRange(value, shards) ||
      !Array.isArray(value.problems) ||
      !value.problems.every(isProblem)
    )
      throw error('ERR_TOKENLANE_CORPUS_QUEUE', 'the queue holds a result that is not one of tokenlane')
    compared += value.end - value.first
    for (const { shard, file, problem } of value.problems)
      found.set(shard, [...(found.get(shard) ?? []), { file, problem }])
  }
  if (compared !== shards)
    throw error('ERR_TOKENLANE_CORPUS_QUEUE', `the queue has results of ${compared} of ${shards} shards`)
  return found
}
