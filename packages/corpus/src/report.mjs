// Writes an HTML page about a job, finished or not, from the records of its shards.

import path from 'node:path'

import { realPathIfThere } from 'tokenlane/internal/files.mjs'
import { checkKnown } from 'tokenlane/internal/corpus.js'
import { error, wrongType, wrongValue } from './errors.mjs'
import { existingJob, recordsTest } from './job-file.mjs'
import { JOB_FILE } from './layout.mjs'
import { Totals } from './manifest.mjs'
import { CURRENCY } from './price.mjs'
import { Groups, MAX_SHOWN } from './report-groups.mjs'
import { jobPage } from './report-page.mjs'
import { recordsOf } from './record.mjs'
import { writeNamed } from './store/part-file.mjs'
import { openStore } from './store/store.mjs'

/**
 * Writes the page.
 *
 * @param {string} output the folder of the job
 * @param {string} file
 * @param {{ price?: number, currency?: string }} [options]
 */
export async function writeReport(output, file, options = {}) {
  if (typeof output !== 'string') throw wrongType('output', 'a path', output)
  if (typeof file !== 'string') throw wrongType('file', 'a path', file)
  checkKnown(options, ['price', 'currency'])
  const { price, currency } = options
  if (price !== undefined && typeof price !== 'number') throw wrongType('price', 'a number', price)
  if (price !== undefined && !(price >= 0 && price < Infinity)) throw wrongValue('price', 'a price, 0 or more', price)
  if (currency !== undefined && (typeof currency !== 'string' || !CURRENCY.test(currency)))
    throw wrongValue('currency', "a sign such as '$' or a code such as 'EUR'", currency)
  if (currency !== undefined && price === undefined) throw wrongValue('price', 'given with a currency', price)
  if (JOB_FILE.test(path.basename(file)) && realPathOf(path.dirname(file)) === realPathOf(output))
    throw error('ERR_TOKENLANE_OUTPUT_IS_INPUT', `${file}: this output is a file of the job: name another file`)
  const store = await openStore(output)
  const job = await existingJob(store, output)
  const sums = new Sums()
  const isOfJob = recordsTest(job)
  for await (const record of recordsOf(store, job.plan.shards)) if (isOfJob(record)) sums.add(record)
  await writeNamed(file, jobPage(job, sums, price === undefined ? undefined : { value: price, currency }))
  return sums.totals.toJSON()
}

/** The real path of a folder, or what is no folder of this machine as it is. */
const realPathOf = (folder) => realPathIfThere(folder) ?? folder

/** The sums over the records that the page shows. */
class Sums {
  totals = new Totals()
  sources = new Groups()
  hosts = new Groups()
  groups = new Groups()
  /** The times at which the first shard started and the last one ended, in milliseconds. */
  first = Infinity
  last = -Infinity
  /** As in a record: entry i counts documents with at least 2^i and fewer than 2^(i + 1) tokens. */
  lengths = /** @type {number[]} */ ([])
  codes = /** @type {Map<string, number>} */ (new Map())
  skipped = /** @type {any[]} */ ([])

  add(record) {
    this.totals.add(record)
    const started = Date.parse(record.started)
    this.first = Math.min(this.first, started)
    this.last = Math.max(this.last, started + record.seconds * 1000)
    for (const [name, source] of Object.entries(record.sources)) this.sources.add(name, source)
    for (const [name, group] of Object.entries(record.groups ?? {})) this.groups.add(name, group)
    this.hosts.add(record.host, { ...record, skipped: record.skipped.rows, shards: 1 })
    record.lengths.forEach((count, index) => (this.lengths[index] = (this.lengths[index] ?? 0) + count))
    for (const [code, count] of Object.entries(record.skipped.codes))
      this.codes.set(code, (this.codes.get(code) ?? 0) + count)
    if (this.skipped.length < MAX_SHOWN)
      this.skipped.push(...record.skipped.listed.slice(0, MAX_SHOWN - this.skipped.length))
  }
}
