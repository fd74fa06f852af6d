// Compares an output folder with its records: the plan, the files of each shard, and the manifest.

import { createHash } from 'node:crypto'
import os from 'node:os'

import { work as compareFiles } from './compare-files.mjs'
import { wrongType } from './errors.mjs'
import { INDEX, MdsIndex } from './formats/mds-index.mjs'
import { existingJob, recordsTest, segmentsOf } from './job-file.mjs'
import { JOB, MANIFEST } from './layout.mjs'
import { Totals, isManifestOf, readManifestEnds } from './manifest.mjs'
import { flag, listener, whole } from './options.mjs'
import { recordName, recordsOf } from './record.mjs'
import { openStore } from './store/store.mjs'
import { ThreadPool } from './thread-pool.mjs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { checkKnown, signalOption } = require('../options.js')

/** Maximum number of problems that are returned. All are counted and reported as events. */
const MAX_LISTED = 1000
/** Size of the files of a shard from which a thread compares them. */
const MIN_THREAD_BYTES = 4 << 20

/**
 * Verifies the output of a corpus job.
 *
 * @param {string} output the folder of the job
 * @param {{ concurrency?: number, readAll?: boolean, signal?: AbortSignal, onEvent?: (event:
 *   object) => void }} [options]
 */
export async function verifyCorpus(output, options = {}) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  checkKnown(options, ['concurrency', 'readAll', 'signal', 'onEvent'])
  const signal = signalOption(options.signal)
  const onEvent = listener(options.onEvent)
  const concurrency = whole(options, 'concurrency', 1, 256) ?? os.availableParallelism()
  const readsAll = flag(options, 'readAll')
  const store = await openStore(output)
  const job = await existingJob(store, output)
  const found = { problems: 0, listed: /** @type {{ file: string, problem: string }[]} */ ([]) }
  const report = (file, problem) => {
    found.problems += 1
    if (found.listed.length < MAX_LISTED) found.listed.push({ file, problem })
    onEvent({ event: 'problem', file, problem })
  }
  for (const { file, plan } of segmentsOf(job)) {
    const found = await store.hashOf(file)
    if (found === undefined) report(file, 'it is missing')
    else if (found.sha256 !== plan.sha256)
      report(file, `its SHA-256 is ${found.sha256}, but ${JOB} says ${plan.sha256}`)
  }
  const totals = new Totals()
  const index = new IndexHash(job.options)
  const isOfJob = recordsTest(job)
  const shards = { store, job, readsAll, concurrency, signal }
  for await (const { shard, record, problems } of comparedShards(shards)) {
    for (const { file, problem } of problems) report(file, problem)
    if (isOfJob(record)) {
      totals.add(record)
      index.add(record)
    }
    onEvent({ event: 'verified', shard, allShards: job.plan.shards })
  }
  const manifest = await manifestProblem(store, job, totals)
  if (manifest !== undefined) report(MANIFEST, manifest)
  const wrongIndex = job.options.format === 'mds' ? await index.problem(store) : undefined
  if (wrongIndex !== undefined) report(INDEX, wrongIndex)
  return {
    id: job.id,
    isWhole: found.problems === 0,
    problems: found.problems,
    listed: found.listed,
    ...totals.toJSON(),
  }
}

/**
 * Yields the shards with what is wrong with their files, in order; some are compared at a time.
 *
 * @param {{ store: import('./store/types.js').Store, job: any, readsAll: boolean, concurrency:
 *   number, signal: AbortSignal | undefined }} request
 */
async function* comparedShards({ store, job, readsAll, concurrency, signal }) {
  const pool = new ThreadPool(new URL('./compare-files.mjs', import.meta.url), concurrency)
  const isOfJob = recordsTest(job)
  const problemsOf = (record, shard) => {
    const name = recordName(shard)
    if (record === undefined)
      return [{ file: name, problem: 'it is missing or is not a record, so the shard is not done' }]
    if (!isOfJob(record)) return [{ file: name, problem: 'it is the record of another job' }]
    const request = { place: store.place, files: record.files, readsAll }
    const bytes = record.files.reduce((sum, file) => sum + file.bytes, 0)
    return bytes < MIN_THREAD_BYTES || concurrency === 1 ? compareFiles(request) : pool.call(request)
  }
  const running = []
  const next = async () => {
    const { shard, record, problems } = running.shift()
    return { shard, record, problems: await problems }
  }
  try {
    let shard = 0
    for await (const record of recordsOf(store, job.plan.shards)) {
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
