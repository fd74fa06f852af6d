// manifest.json: the inputs, the files and the totals of a finished job. It is written as a stream,
// with one shard per line.

import { error, otherJob } from './errors.mjs'
import { readJob, recordsTest } from './job-file.mjs'
import { INDEX, MdsIndex } from './formats/mds-index.mjs'
import { JOB, MANIFEST } from './layout.mjs'
import { writeFile } from './output-files.mjs'
import { SUMS, recordsOf } from './record.mjs'

/** The sums over all shards. */
export class Totals {
  shards = 0
  documents = 0
  tokens = 0
  textBytes = 0
  characters = 0
  empty = 0
  unlearned = 0
  truncated = 0
  cutTokens = 0
  unpaired = 0
  filtered = 0
  unsampled = 0
  /** Rows, and what `pack` did: documents that are cut, and tokens that rows lack. */
  rows = 0
  cutDocuments = 0
  padding = 0
  /** With loss masks: the tokens that the assistant wrote. */
  lossTokens = /** @type {number | undefined} */ (undefined)
  skipped = 0
  /** The sum of the seconds of all shards. Shards run in parallel, so a job takes less time. */
  seconds = 0

  add(record) {
    this.shards += 1
    for (const name of SUMS) this[name] += record[name]
    this.seconds += record.seconds
    this.skipped += record.skipped.rows
    this.rows += record.packing?.rows ?? record.documents
    this.cutDocuments += record.packing?.cutDocuments ?? 0
    this.padding += record.packing?.padding ?? 0
    if (record.lossTokens !== undefined) this.lossTokens = (this.lossTokens ?? 0) + record.lossTokens
  }

  toJSON() {
    const { lossTokens, ...sums } = this
    const seconds = Math.round(this.seconds * 1000) / 1000
    return { ...sums, seconds, ...(lossTokens !== undefined && { lossTokens }) }
  }
}

/**
 * Writes the manifest from the records of all shards.
 *
 * @param {import('./store/types.js').Store} store
 * @param {any} job the content of job.json
 * @returns {Promise<Totals>}
 */
export async function writeManifest(store, job) {
  const now = await readJob(store)
  if (now?.id !== job.id)
    throw otherJob(`${store.where(JOB)} is no longer that of this job: name another output folder`)
  const totals = new Totals()
  await writeFile(store, MANIFEST, (file) => {
    const write = (index) => writeShards(store, job, { totals, manifest: file, index })
    if (job.options.format !== 'mds') return write(undefined)
    return writeFile(store, INDEX, write)
  })
  await store.sync()
  return totals
}

/** Writes the manifest, and with the format mds its index, in one pass over the records. */
async function writeShards(store, job, { totals, manifest, index }) {
  const { version, tokenlane, tokenizer, options, plan, id } = job
  const start = JSON.stringify({ version, id, tokenlane, tokenizer, options, plan }).slice(0, -1)
  await manifest.write(`${start},"shards":[\n`)
  const mds = new MdsIndex(options)
  await index?.write(mds.start)
  const isOfJob = recordsTest(job)
  let shard = 0
  for await (const record of recordsOf(store, plan.shards)) {
    if (!isOfJob(record))
      throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `the record of shard ${shard} is missing: run the job again`)
    totals.add(record)
    shard += 1
    await manifest.write(`${JSON.stringify(lineOf(record))}${shard < plan.shards ? ',' : ''}\n`)
    await index?.write(mds.entry(record))
  }
  await index?.write(mds.end)
  await manifest.write(`],"totals":${JSON.stringify(totals)}}\n`)
}

/** The part of a shard's record that is in the manifest. */
function lineOf(record) {
  const facts = { ...record, rows: record.packing?.rows ?? record.documents, skipped: record.skipped.rows }
  return Object.fromEntries(LINE.map((name) => [name, facts[name]]))
}

const LINE = [
  ...['shard', 'planned', 'documents', 'rows', 'tokens', 'textBytes', 'characters', 'empty', 'truncated'],
  ...['unlearned', 'unpaired', 'lossTokens', 'skipped', 'files', 'input', 'host', 'started', 'seconds'],
]

/**
 * Number of bytes that are read at each end of a manifest. The job is at the start and the totals
 * are at the end; the lines of the shards between them can be long.
 */
const END_BYTES = 4096

/**
 * Reads the start of the manifest and its totals, as JSON; `undefined` if there is none.
 *
 * @param {import('./store/types.js').Store} store
 * @returns {Promise<{ start: string, totals: string | undefined } | undefined>}
 */
export async function readManifestEnds(store) {
  const ends = await store.ends(MANIFEST, END_BYTES)
  if (ends === undefined) return undefined
  const { start, end } = ends
  return { start: start.toString(), totals: /"totals":(\{[^{}]*\})\}\n$/.exec(end.toString())?.[1] }
}

/** Whether a manifest, by its ends, is that of a job. */
export const isManifestOf = ({ start }, { version, id }) => start.startsWith(`{"version":${version},"id":"${id}"`)

/** Reads the totals of the manifest. */
export async function readTotals(store) {
  const text = (await readManifestEnds(store))?.totals
  if (text === undefined)
    throw error('ERR_TOKENLANE_CORPUS_DAMAGED', `${store.where(MANIFEST)} is missing or is not a manifest`)
  return JSON.parse(text)
}
