// Compares an output folder with its records: the plan, the files of each shard, and the manifest.
// With a queue, workers read the files of the shards, and the rest happens here.

import { createHash } from 'node:crypto'
import os from 'node:os'

import { checkKnown, signalOption, endsSoon } from 'tokenlane/internal/corpus.js'
import { comparedShards } from './compare-shards.mjs'
import { contradiction, wrongType } from './errors.mjs'
import { INDEX, MdsIndex } from './formats/mds-index.mjs'
import { existingJob, recordsTest, segmentsOf } from './job-file.mjs'
import { JOB, MANIFEST } from './layout.mjs'
import { Totals, isManifestOf, readManifestEnds } from './manifest.mjs'
import { flag, listener, queueName, queueProblem, text, whole } from './options.mjs'
import { openStore } from './store/store.mjs'

/** Maximum number of problems that are returned. All are counted and reported as events. */
const MAX_LISTED = 1000

/**
 * Verifies the output of a corpus job.
 *
 * @param {string} output the folder of the job
 * @param {any} [options] see index.d.ts
 */
export async function verifyCorpus(output, options = {}) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  const checked = checkVerify(options)
  checked.signal?.throwIfAborted()
  return endsSoon(() => compared(output, checked), checked.signal)
}

/** @param {any} checked the options */
async function compared(output, checked) {
  const { signal, onEvent, readAll, ...how } = checked
  const store = await openStore(output)
  const job = await existingJob(store, output)
  const found = { problems: 0, listed: /** @type {{ file: string, problem: string }[]} */ ([]) }
  const report = (file, problem) => {
    found.problems += 1
    if (found.listed.length < MAX_LISTED) found.listed.push({ file, problem })
    onEvent({ event: 'problem', file, problem })
  }
  for (const { file, plan } of segmentsOf(job)) {
    signal?.throwIfAborted()
    const found = await store.hashOf(file)
    if (found === undefined) report(file, 'it is missing')
    else if (found.sha256 !== plan.sha256)
      report(file, `its SHA-256 is ${found.sha256}, but ${JOB} says ${plan.sha256}`)
  }
  const totals = new Totals()
  const index = job.options.format === 'mds' ? new IndexHash(job.options) : undefined
  const isOfJob = recordsTest(job)
  const request = { store, job, signal, readsAll: readAll, ...how }
  const shards = how.queue === undefined ? comparedShards(request) : await comparedByWorkers(request, onEvent)
  for await (const { shard, record, problems } of shards) {
    for (const { file, problem } of problems) report(file, problem)
    if (isOfJob(record)) {
      totals.add(record)
      index?.add(record)
    }
    if (how.queue === undefined) onEvent({ event: 'verified', shard, allShards: job.plan.shards })
  }
  const manifest = await manifestProblem(store, job, totals)
  if (manifest !== undefined) report(MANIFEST, manifest)
  const wrongIndex = await index?.problem(store)
  if (wrongIndex !== undefined) report(INDEX, wrongIndex)
  return {
    id: job.id,
    isWhole: found.problems === 0,
    problems: found.problems,
    listed: found.listed,
    ...totals.toJSON(),
  }
}

function checkVerify(options) {
  checkKnown(options, NAMES)
  const conflict = queueProblem(options)
  if (conflict !== undefined) throw contradiction(conflict)
  const own = ownOptions(options)
  if (own.queue !== undefined && options.concurrency !== undefined)
    throw contradiction('with a queue, each worker has its own concurrency')
  return own
}

const ownOptions = (given) => ({
  concurrency: whole(given, 'concurrency', 1, 256) ?? os.availableParallelism(),
  readAll: flag(given, 'readAll'),
  queue: text(given, 'queue'),
  queueName: queueName(given.queueName),
  giveUpSeconds: whole(given, 'giveUpSeconds', 1, 86_400),
  signal: signalOption(given.signal),
  onEvent: listener(given.onEvent),
})

const NAMES = Object.keys(ownOptions({}))

async function comparedByWorkers(request, onEvent) {
  const { compareOnQueue } = await import('./queue/compare.mjs')
  return compareOnQueue(request, onEvent)
}

/** The index that a job of MDS has by its records. */
class IndexHash {
  #index
  #hash = createHash('sha256')

  constructor(content) {
    this.#index = new MdsIndex(content)
    this.#hash.update(this.#index.start)
  }

  add(record) {
    this.#hash.update(this.#index.entry(record))
  }

  /** What is wrong with the file; `undefined` if nothing is. */
  async problem(store) {
    const found = await store.hashOf(INDEX)
    if (found === undefined) return 'it is missing: the job is not finished'
    const isSame = found.sha256 === this.#hash.update(this.#index.end).digest('hex')
    return isSame ? undefined : 'it is not that of the records'
  }
}

/** What is wrong with the manifest; `undefined` if nothing is. */
async function manifestProblem(store, job, totals) {
  const ends = await readManifestEnds(store)
  if (ends === undefined) return 'it is missing: the job is not finished'
  if (!isManifestOf(ends, job)) return 'it is the manifest of another job'
  if (ends.totals !== undefined && countsOf(ends.totals) === countsOf(JSON.stringify(totals))) return undefined
  return `its totals are not those of the records: ${ends.totals ?? 'there are none'}`
}

/**
 * Totals without their seconds. A worker that was taken for dead may write its record once more
 * after the manifest. Its counts are the same, but its seconds are not.
 */
const countsOf = (totals) => totals.replace(/,"seconds":[\d.]+/, '')
