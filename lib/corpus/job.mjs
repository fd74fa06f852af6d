// A corpus job on this machine. In the output folder:
//
//   plan.jsonl            which bytes of which inputs belong to which shard (plan.mjs)
//   job.json              everything that shards depend on: tokenizer, options, version, and the
//                         SHA-256 of the plan
//   shard-NNNNNNNN.*      the files of a shard, and its record .json, which is written last
//   manifest.json         written when all shards are done
//
// A file gets its name only when it is complete and on disk, so a job can be interrupted at any
// time. The next run plans again, compares the plans, and writes the shards whose files do not
// match their records.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'

import { fileFailure } from '../files/failure.mjs'
import { error, otherJob } from './errors.mjs'
import { Totals, readTotals, writeManifest } from './manifest.mjs'
import { LAYOUT_VERSION, idOf, readJob } from './job-file.mjs'
import { JOB, PLAN } from './layout.mjs'
import { openTokenizer } from '../files/tokenizers.mjs'
import { checkOptions } from './options.mjs'
import { planParts, readPlan, throwDifference, writePlan } from './plan.mjs'
import { Progress } from './progress.mjs'
import { stemOf } from './record.mjs'
import { openStore } from './store/store.mjs'
import { Threads } from './threads.mjs'
import { completeContent, findTokenizer } from './tokenizer.mjs'

const VERSION = createRequire(import.meta.url)('../../package.json').version
const HOST = os.hostname()
/** Minimum time in milliseconds between two events about progress. */
const PROGRESS_INTERVAL_MS = 200

/**
 * Turns a corpus into tokens.
 *
 * @param {any} given see index.d.ts
 */
export async function tokenizeCorpus(given) {
  const options = checkOptions(given)
  options.signal?.throwIfAborted()
  const run = new Run(options)
  if (options.output === undefined) return run.dry()
  const store = await openStore(options.output)
  await store.prepare()
  const clean = () => store.removeOwn()
  process.on('exit', clean)
  try {
    return await run.inFolder(store)
  } finally {
    clean()
    process.off('exit', clean)
  }
}

class Run {
  #options
  #emit

  constructor(options) {
    this.#options = options
    this.#emit = options.onEvent
  }

  /** Counts without writing. */
  async dry() {
    const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'tokenlane-plan-'))
    const remove = () => fs.rmSync(folder, { recursive: true, force: true })
    process.on('exit', remove)
    try {
      const prepared = await this.#prepare()
      const file = path.join(folder, PLAN)
      const plan = await this.#plan(file)
      const job = this.#job(prepared, plan)
      const totals = new Totals()
      await this.#shards(file, job, prepared, undefined, (record) => totals.add(record))
      return this.#done(job, totals.toJSON(), 0)
    } finally {
      remove()
      process.off('exit', remove)
    }
  }

  /** @param {import('./store/types.js').Store} store */
  async inFolder(store) {
    const before = await jobIn(store)
    const prepared = await this.#prepare()
    // A different job is detected before the inputs are planned, which may take long.
    if (before !== undefined) checkSame(before, this.#job(prepared, before.plan))
    const { plan, file } = await this.#planInto(store, before)
    const job = this.#job(prepared, plan)
    if (before === undefined) await store.writeWhole(JOB, `${JSON.stringify(job, undefined, 2)}\n`)
    if (this.#options.queue !== undefined) return this.#onQueue(job, store, file)
    let kept = 0
    await this.#shards(file, job, prepared, store, (_record, isNew) => (kept += Number(!isNew)))
    const totals = await writeManifest(store, job)
    await store.finish()
    return this.#done(job, totals.toJSON(), kept)
  }

  /** Lets workers write the shards and the manifest. */
  async #onQueue(job, store, planFile) {
    const { queue, queueName, resumeCheck, giveUpSeconds, signal } = this.#options
    const { runOnQueue } = await import('./queue/planner.mjs')
    const output = await store.exclude()
    const settings = { resumeCheck, giveUpSeconds, signal, onEvent: this.#emit }
    const request = { queue, queueName, output, planFile, job, ...settings }
    const { kept } = await runOnQueue(request)
    return this.#done(job, await readTotals(store), kept)
  }

  async #prepare() {
    const source = await findTokenizer(this.#options.tokenizer, this.#options.encoding)
    const tokenizer = await openTokenizer(source)
    const { content, ids } = await completeContent(tokenizer, source, this.#options.content)
    return { source, content, ids, vocabSize: tokenizer.vocabSize() }
  }

  #job({ source, content, ids, vocabSize }, plan) {
    const { name, kind, encoding, sha256 } = source
    const tokenizer = { name, kind, encoding, sha256, vocabSize, ...ids }
    const known = { version: LAYOUT_VERSION, tokenlane: VERSION, tokenizer, options: content, plan }
    return JSON.parse(JSON.stringify({ id: idOf(known), ...known }))
  }

  /** Writes the plan to a file. */
  async #plan(file, exclude) {
    const { inputs, filesFrom, content, signal } = this.#options
    const onUnreadable = (/** @type {any} */ { code, message }) => this.#emit({ event: 'unreadable', code, message })
    const handle = await fs.promises.open(file, 'wx').catch((failure) => Promise.reject(fileFailure(file, failure)))
    let last = performance.now()
    try {
      const summary = await writePlan(
        handle,
        planParts({ inputs, filesFrom, content, exclude, onUnreadable }),
        (soFar) => {
          signal?.throwIfAborted()
          if (performance.now() - last < PROGRESS_INTERVAL_MS) return
          last = performance.now()
          this.#emit({ event: 'planning', ...soFar })
        },
      )
      await handle.sync()
      if (summary.shards === 0)
        throw error('ERR_TOKENLANE_FILE_NOT_FOUND', 'the inputs contain no text: all their files are empty')
      this.#emit({ event: 'plan', ...summary })
      return summary
    } catch (failure) {
      throw failure.syscall === undefined ? failure : fileFailure(file, failure)
    } finally {
      await handle.close()
    }
  }

  /**
   * Writes the plan into the output folder, or compares it with the one in the folder. The returned
   * `file` is a copy that can be read on this machine.
   */
  async #planInto(store, before) {
    const file = store.part(PLAN)
    const plan = await this.#plan(file, await store.exclude())
    if (before === undefined) return { plan, file: await store.publish(file, PLAN) }
    const found = await store.hashOf(PLAN)
    if (found?.sha256 !== before.plan.sha256)
      throw otherJob(`${store.where(PLAN)} is missing or was changed: its SHA-256 is not that of ${JOB}`)
    if (plan.sha256 !== before.plan.sha256) await throwDifference(store, file)
    return { plan: before.plan, file }
  }

  /** Processes all shards, `concurrency` at a time. Shards that are done are only checked. */
  async #shards(planFile, job, { source, content, ids }, store, onRecord) {
    const { concurrency, threads, signal, resumeCheck } = this.#options
    const data = { source, content, ids, output: store?.place, threads }
    const pool = new Threads(data, concurrency)
    const progress = new ThreadProgress(job.plan, this.#emit)
    const order = await orderOf(content.shuffle, job.plan.shards)
    const running = new Set()
    let stop = (_reason) => {}
    const stopped = new Promise((_resolve, reject) => (stop = reject))
    stopped.catch(() => {})
    const onAbort = () => stop(signal.reason)
    signal?.addEventListener('abort', onAbort)
    try {
      for await (const parts of readPlan(planFile)) {
        signal?.throwIfAborted()
        const shard = order(parts[0].shard)
        const started = progress.start(shard, parts)
        const task = pool
          .run({ shard, parts, job: job.id, check: resumeCheck }, started.update)
          .then(({ record, isNew }) => {
            started.end(record, isNew)
            onRecord(record, isNew)
            running.delete(task)
          })
        task.catch(stop)
        running.add(task)
        if (running.size >= concurrency) await Promise.race([...running, stopped])
      }
      await Promise.race([Promise.all(running), stopped])
    } finally {
      signal?.removeEventListener('abort', onAbort)
      await pool.end()
      if (progress.running.length > 0) await store?.abandon(progress.running.map(stemOf))
    }
  }

  #done(job, totals, kept) {
    const { id, tokenizer, options, plan } = job
    const result = { id, output: this.#options.output, tokenizer, options, plan, kept, ...totals }
    this.#emit({ event: 'done', ...result })
    return result
  }
}

/** The order of the shards: a permutation of their numbers. */
async function orderOf(seed, shards) {
  if (seed === undefined) return (shard) => shard
  const { permutation } = await import('./shuffle.mjs')
  return permutation(`shards ${seed}`, shards)
}

/** Turns the messages of the threads into events. */
class ThreadProgress {
  #sums
  #emit
  #last = 0
  #underWay = new Set()

  constructor(plan, emit) {
    this.#sums = new Progress(plan)
    this.#emit = emit
  }

  /** The shards that were started and have not ended. */
  get running() {
    return [...this.#underWay]
  }

  start(shard, parts) {
    this.#underWay.add(shard)
    const started = performance.now()
    const bytes = parts.reduce((sum, { start, end }) => sum + end - start, 0)
    return {
      update: (soFar) => {
        this.#sums.update(shard, { host: HOST, seconds: (performance.now() - started) / 1000, ...soFar })
        if (performance.now() - this.#last >= PROGRESS_INTERVAL_MS) this.#report()
      },
      end: (record, isNew) => {
        this.#underWay.delete(shard)
        const { documents, tokens, skipped, seconds, host } = record
        this.#sums.end(shard, { host, isNew, documents, tokens, bytes, seconds })
        this.#emit({ event: 'shard', shard, isNew, documents, tokens, bytes, skipped: skipped.rows, seconds, host })
        this.#report()
      },
    }
  }

  #report() {
    this.#last = performance.now()
    this.#emit(this.#sums.event)
  }
}

/**
 * Reads the job of a folder; `undefined` if the folder is free for a new one. A free folder may
 * contain a plan, from a run that ended early or from another process that starts the same job.
 */
async function jobIn(store) {
  const job = await readJob(store)
  if (job !== undefined) return job
  const names = await store.names()
  const stranger = names.find((name) => !name.startsWith('.') && name !== PLAN)
  if (stranger === undefined) return undefined
  // Another process may have started the job since the first look.
  const started = await readJob(store)
  if (started !== undefined) return started
  const what = `the output folder ${store.place} is not empty and holds no job (it has ${stranger})`
  throw otherJob(`${what}: name a new folder`)
}

/** Throws if the job in the folder differs from this one. */
function checkSame(before, now) {
  const [was, is] = [before, now].map(({ tokenlane, tokenizer, options }) => ({
    ...options,
    tokenlane,
    'the SHA-256 of the tokenizer': tokenizer.sha256,
    'the encoding of the tokenizer': tokenizer.encoding,
    'the id of bos': tokenizer.bos,
    'the id of eos': tokenizer.eos,
  }))
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((name) => was[name] !== is[name])
  if (names.length === 0) return
  const [name] = names
  const show = (value) => (value === undefined ? 'none' : JSON.stringify(value))
  throw otherJob(
    `the output folder holds another job: there ${name} is ${show(was[name])}, here it is ${show(is[name])}; name another folder, or use the same options`,
  )
}
