// Joins the outputs of finished jobs into files of a size, without tokenizing again: in order or
// shuffled, each input whole, in part or several times. The output is that of a job: it has a
// job.json, a plan, records and a manifest, and can be verified, reported on, and merged again.
//
// What is done is kept: a file whose record and bytes match is not written again.

import { createHash } from 'node:crypto'

import { endsSoon, VERSION } from 'tokenlane/internal/corpus.js'
import { error, otherJob, contradiction } from '../errors.mjs'
import { ROW_FORMATS } from '../formats/names.mjs'
import { LAYOUT_VERSION, idOf, readJob } from '../job-file.mjs'
import { JOB, PLAN } from '../layout.mjs'
import { writeManifest } from '../manifest.mjs'
import { rowsProblem } from '../options.mjs'
import { intactRecord, stemOf, writeRecord } from '../record.mjs'
import { FinishedJob } from '../reading/finished-job.mjs'
import { writeShardFiles } from '../output-files.mjs'
import { Stats } from '../stats.mjs'
import { openStore } from '../store/store.mjs'
import { lossTokensOf } from '../loss-mask.mjs'
import { hasLossMask, viewOf } from '../tokens.mjs'
import { blockOf, documentsOfUnit } from './documents.mjs'
import { markDuplicates } from './duplicates.mjs'
import { checkMerge } from './options.mjs'
import {
  common,
  epochsOf,
  exactFiles,
  filesInOrder,
  planText,
  shuffledFiles,
  sizeOf,
  tokensOf,
  unitsOf,
} from './plan.mjs'
import { Scattered, scatter, scatterName } from './scatter.mjs'

/** The options of a job that say how a merge made it. */
const OF_MERGES = ['shuffle', 'dedup', 'tokensPerFile', 'tokensPerShard', 'inputs']
/** The list of prefixes with their weights that Megatron-LM reads with --data-args-path. */
const BLEND = 'blend.txt'

/**
 * Merges the outputs of finished jobs.
 *
 * @param {any} given see index.d.ts
 */
export async function mergeCorpora(given) {
  const options = checkMerge(given)
  options.signal?.throwIfAborted()
  return endsSoon(() => merged(options), options.signal)
}

async function merged(options) {
  const jobs = []
  try {
    for (const { path } of options.inputs) jobs.push(await FinishedJob.open(path))
    if (options.dedup) await markDuplicates(jobs, options)
    const store = await openStore(options.output)
    await store.prepare()
    return await new Merge(options, jobs, store).run()
  } finally {
    await Promise.all(jobs.map((job) => job.close()))
  }
}

class Merge {
  #options
  #jobs
  #store
  #job
  #units
  /** The units of each file; `undefined` for a shuffle, where a file has documents of all units. */
  #files = /** @type {(import('./plan.mjs').Unit[] | undefined)[]} */ ([])
  #epochs
  #plan
  /** The names of the inputs in records. An input that is given twice has two. */
  #names
  /** The input of each file of a shuffle. */
  #inputOfAll = /** @type {{ bytes: number, sha256: string } | undefined} */ (undefined)
  /** The number of units that were read for a shuffle, and of files that are complete. */
  #read = 0
  #written = 0

  /**
   * @param {ReturnType<typeof checkMerge>} options
   * @param {FinishedJob[]} jobs
   * @param {import('../store/types.js').Store} store
   */
  constructor(options, jobs, store) {
    this.#options = options
    this.#jobs = jobs
    this.#store = store
    const places = jobs.map(({ place }) => place)
    this.#names = places.map((place, input) => (places.indexOf(place) === input ? place : `${place} (${input})`))
    const { inputs, tokens } = options
    const sizes = jobs.map(({ shards }) => shards.reduce((sum, shard) => sum + tokensOf(shard), 0))
    this.#epochs = epochsOf(inputs, sizes, tokens)
    this.#units = unitsOf(jobs, this.#epochs)
    if (this.#units.length === 0) throw error('ERR_TOKENLANE_FILE_NOT_FOUND', 'the inputs have no tokens')
    this.#files = this.#filesOf()
    this.#plan = planText(this.#units, jobs, this.#files)
    this.#job = this.#jobOf()
  }

  /** @returns {(import('./plan.mjs').Unit[] | undefined)[]} */
  #filesOf() {
    const { tokensPerFile, tokensPerShard, shuffle } = this.#options
    if (tokensPerShard !== undefined) return exactFiles(this.#units, tokensPerShard)
    if (shuffle === undefined) return filesInOrder(this.#units, tokensPerFile)
    return Array.from({ length: shuffledFiles(this.#units, tokensPerFile) }, () => undefined)
  }

  async run() {
    const { inputs, shuffle } = this.#options
    await this.#start()
    const records = await this.#all()
    const totals = await writeManifest(this.#store, this.#job)
    if (this.#job.options.format === 'megatron') await this.#writeBlend(records)
    if (shuffle !== undefined) await Promise.all(this.#units.map((_, index) => this.#store.remove(scatterName(index))))
    await this.#store.finish()
    const sources = inputs.map(({ path }, input) => ({
      path,
      epochs: this.#epochs[input],
      planned: this.#planned(input),
      duplicates: this.#duplicates(input),
      ...this.#used(records, input),
    }))
    const kept = records.filter(({ isNew }) => !isNew).length
    return { id: this.#job.id, output: this.#options.output, kept, ...totals.toJSON(), inputs: sources }
  }

  /** The number of tokens that the output was to have of an input. */
  #planned = (input) => Math.round(this.#units.reduce((sum, unit) => sum + (unit.input === input ? unit.tokens : 0), 0))

  /** The number of documents of an input that occurred before. */
  #duplicates = (input) => this.#jobs[input].shards.reduce((sum, { unique }) => sum + (unique?.duplicates ?? 0), 0)

  /** What all files have of an input. */
  #used(records, input) {
    const name = this.#names[input]
    const sum = (what) => records.reduce((total, { record }) => total + (record.sources[name]?.[what] ?? 0), 0)
    return { documents: sum('documents'), tokens: sum('tokens') }
  }

  /** Writes job.json and the plan, or compares job.json with the one that is there. */
  async #start() {
    const there = await readJob(this.#store)
    const started = there ?? (await this.#create())
    if (started !== undefined && started.id !== this.#job.id)
      throw otherJob(`${this.#store.where(JOB)} is that of another job: name another folder, or use the same options`)
    const plan = await this.#store.hashOf(PLAN)
    if (plan?.sha256 !== this.#plan.summary.sha256) await this.#store.writeWhole(PLAN, this.#plan.text)
  }

  /** Creates job.json. Returns that of another process if it was faster. */
  async #create() {
    const stranger = (await this.#store.names()).find((name) => !name.startsWith('.'))
    if (stranger !== undefined && stranger !== JOB)
      throw otherJob(
        `the output folder ${this.#store.place} is not empty and holds no job (it has ${stranger}): name a new folder`,
      )
    if (await this.#store.createWhole(JOB, `${JSON.stringify(this.#job, undefined, 2)}\n`)) return undefined
    return readJob(this.#store)
  }

  #jobOf() {
    const { format, pack, packing, shuffle, dedup, tokensPerFile, tokensPerShard } = this.#options
    const { tokenizer, type } = common(this.#jobs)
    const [first] = this.#jobs
    // The first input may be the output of another merge.
    const options = Object.fromEntries(Object.entries(first.job.options).filter(([name]) => !OF_MERGES.includes(name)))
    const noRows = rowsProblem({ ...options, format: format ?? options.format, pack, packing })
    if (noRows !== undefined) throw contradiction(noRows)
    const known = {
      version: LAYOUT_VERSION,
      tokenlane: VERSION,
      tokenizer,
      options: {
        ...options,
        format: format ?? options.format,
        type: ROW_FORMATS.includes(format ?? options.format) ? undefined : type,
        pack,
        packing,
        shuffle,
        ...(dedup && { dedup }),
        ...(tokensPerShard === undefined ? { tokensPerFile } : { tokensPerShard }),
        inputs: this.#jobs.map(({ job }, input) => ({
          id: job.id,
          epochs: this.#epochs[input],
          name: this.#names[input],
          planned: this.#planned(input),
          ...(this.#options.dedup && { duplicates: this.#duplicates(input) }),
        })),
      },
      plan: this.#plan.summary,
    }
    return JSON.parse(JSON.stringify({ id: idOf(known), ...known }))
  }

  /** Writes all files. Returns their records, in order. */
  async #all() {
    const { shuffle } = this.#options
    const records = await this.#parallel(this.#files, async (_units, shard) => this.#done(shard))
    const missing = records.flatMap((record, shard) => (record === undefined ? [shard] : []))
    if (shuffle !== undefined && missing.length > 0)
      await this.#parallel(this.#units, (unit, index) => this.#scatter(unit, index))
    const scattered = new Scattered(this.#store, this.#files.length)
    await this.#parallel(missing, async (shard) => {
      records[shard] = { record: await this.#write(shard, scattered), isNew: true }
    })
    return records
  }

  /** The record of a file that is complete. */
  async #done(shard) {
    const record = await intactRecord(this.#store, shard, this.#job.id, this.#options.resumeCheck)
    if (record === undefined) return undefined
    this.#written += 1
    return { record, isNew: false }
  }

  async #scatter(unit, index) {
    if ((await this.#store.sizeOf(scatterName(index))) === undefined)
      await scatter(this.#store, this.#jobs[unit.input], { unit, index, files: this.#files.length, seed: this.#seed })
    this.#options.onEvent({ event: 'read', done: ++this.#read, all: this.#units.length })
  }

  /** A merge with other inputs or options shuffles in another way. */
  get #seed() {
    return `${this.#options.shuffle}`
  }

  /** Writes one file and its record. */
  async #write(shard, scattered) {
    const started = Date.now()
    const stats = new Stats()
    const { options } = this.#job
    const View = viewOf(options)
    const blocks = this.#files[shard] === undefined ? this.#shuffled(scattered, shard, View) : this.#inOrder(shard)
    const { files, packing } = await writeShardFiles(this.#store, shard, options, async (writer) => {
      for await (const { tokens, starts, facts, inputs } of blocks) {
        this.#options.signal?.throwIfAborted()
        const block = blockOf({ tokens, starts, facts }, View)
        inputs.forEach((input, index) => {
          const lossTokens = hasLossMask(options) ? lossTokensOf(tokens, starts[index], starts[index + 1]) : undefined
          const values = { tokens: block.lengths[index], cutTokens: 0, textBytes: 0, characters: 0, lossTokens }
          stats.document(this.#names[input], values)
        })
        await writer.write(block)
      }
      await writer.finish()
    })
    const units = this.#files[shard]
    // All files of a shuffle have the same input.
    const input = units === undefined ? (this.#inputOfAll ??= this.#inputOf(this.#units)) : this.#inputOf(units)
    const sums = { ...stats.toJSON(), ...(units !== undefined && this.#textOf(units)) }
    const facts = { shard, planned: shard, job: this.#job.id, files, packing, ...sums, input }
    const record = await writeRecord(this.#store, facts, started)
    this.#options.onEvent({ event: 'written', done: ++this.#written, all: this.#files.length })
    return record
  }

  /** What the record of a file says about the shards that it was read from. */
  #inputOf(units) {
    const read = units.map(({ input, shard }) => this.#jobs[input].shards[shard])
    const sha256 = createHash('sha256').update(JSON.stringify(read.map(({ files }) => files)))
    return { bytes: read.reduce((sum, one) => sum + sizeOf(one), 0), sha256: sha256.digest('hex') }
  }

  /** Bytes and characters of the texts of whole units; those of single documents are unknown. */
  #textOf(units) {
    const isPart = ({ input, shard, share, from = 0, to, tokens }) =>
      share < 1 || from > 0 || (to ?? tokens) < tokens || this.#jobs[input].shards[shard].unique?.duplicates > 0
    if (units.some(isPart)) return {}
    const sum = (name) => units.reduce((total, { input, shard }) => total + this.#jobs[input].shards[shard][name], 0)
    return { textBytes: sum('textBytes'), characters: sum('characters') }
  }

  async *#inOrder(shard) {
    for (const unit of this.#files[shard]) {
      for await (const block of documentsOfUnit(this.#jobs[unit.input], unit, this.#seed))
        yield { ...block, inputs: block.facts.map(() => unit.input) }
    }
  }

  async *#shuffled(scattered, shard, View) {
    const views = this.#jobs.map(({ job }) => viewOf(job.options))
    const request = { units: this.#units, views, seed: this.#seed, signal: this.#options.signal }
    for await (const documents of scattered.blocks(shard, request)) {
      const lengths = documents.map(({ tokens }) => tokens.length)
      const starts = [0]
      for (const length of lengths) starts.push(starts.at(-1) + length)
      const tokens = new View(starts.at(-1))
      documents.forEach((document, index) => tokens.set(document.tokens, starts[index]))
      yield { tokens, starts, facts: documents.map(({ facts }) => facts), inputs: documents.map(({ input }) => input) }
    }
  }

  async #writeBlend(records) {
    const words = records.flatMap(({ record }) => [record.tokens, this.#store.where(stemOf(record.shard))])
    await this.#store.writeWhole(BLEND, `${words.join(' ')}\n`)
  }

  /** Calls `work` for each item, some at a time. */
  async #parallel(items, work) {
    const { concurrency, signal } = this.#options
    const results = new Array(items.length)
    let next = 0
    let hasFailed = false
    const worker = async () => {
      while (next < items.length && !hasFailed) {
        signal?.throwIfAborted()
        const index = next++
        try {
          results[index] = await work(items[index], index)
        } catch (failure) {
          hasFailed = true
          throw failure
        }
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    return results
  }
}
