// Compares an output folder with its records: the plan, the files of each shard, and the manifest.

import { wrongType } from './errors.mjs'
import { existingJob } from './job-file.mjs'
import { JOB, MANIFEST, PLAN } from './layout.mjs'
import { Totals, isManifestOf, readManifestEnds } from './manifest.mjs'
import { differenceOf, recordName, recordsOf } from './record.mjs'
import { openStore } from './store/store.mjs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { checkKnown, signalOption } = require('../options.js')

/** Maximum number of problems that are returned. All are counted and reported as events. */
const MAX_LISTED = 1000

/**
 * Verifies the output of a corpus job.
 *
 * @param {string} output the folder of the job
 * @param {{ signal?: AbortSignal, onEvent?: (event: object) => void }} [options]
 */
export async function verifyCorpus(output, options = {}) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  checkKnown(options, ['signal', 'onEvent'])
  const signal = signalOption(options.signal)
  const onEvent = options.onEvent ?? (() => {})
  if (typeof onEvent !== 'function') throw wrongType('onEvent', 'a function', onEvent)
  const store = await openStore(output)
  const job = await existingJob(store, output)
  const found = { problems: 0, listed: /** @type {{ file: string, problem: string }[]} */ ([]) }
  const report = (file, problem) => {
    found.problems += 1
    if (found.listed.length < MAX_LISTED) found.listed.push({ file, problem })
    onEvent({ event: 'problem', file, problem })
  }
  const plan = await store.hashOf(PLAN)
  if (plan === undefined) report(PLAN, 'it is missing')
  else if (plan.sha256 !== job.plan.sha256)
    report(PLAN, `its SHA-256 is ${plan.sha256}, but ${JOB} says ${job.plan.sha256}`)
  const totals = new Totals()
  let shard = -1
  for await (const record of recordsOf(store, job.plan.shards)) {
    signal?.throwIfAborted()
    shard += 1
    const name = recordName(shard)
    if (record === undefined) report(name, 'it is missing or is not a record, so the shard is not done')
    else if (record.job !== job.id) report(name, 'it is the record of another job')
    else {
      for (const file of record.files) {
        const difference = await differenceOf(store, file, 'sha256')
        if (difference !== undefined) report(file.name, difference)
      }
      totals.add(record)
    }
    onEvent({ event: 'verified', shard, allShards: job.plan.shards })
  }
  const manifest = await manifestProblem(store, job, totals)
  if (manifest !== undefined) report(MANIFEST, manifest)
  return {
    id: job.id,
    isWhole: found.problems === 0,
    problems: found.problems,
    listed: found.listed,
    ...totals.toJSON(),
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
