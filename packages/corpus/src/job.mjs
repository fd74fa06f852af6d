// A corpus job on this machine. In the output folder:
//
//   claim.json            while the inputs of a new job are planned: which job it is (claim.mjs)
//   job.json              everything that shards depend on: tokenizer, options, version, and the
//                         SHA-256 of the plan; and who started the job
//   plan.jsonl            which bytes of which inputs belong to which shard (plan.mjs)
//   shard-NNNNNNNN.*      the files of a shard, and its record .json, which is written last
//   manifest.json         written when all shards are done
//
// job.json is created exclusively, before anything else of the job. A folder therefore holds one
// job, however many processes start at once: the others join it if theirs is the same, and end with
// an error if it is not.
//
// A file gets its name only when it is complete and on disk, so a job can be interrupted at any
// time. The next run plans again, compares the plans, and writes the shards whose files do not
// match their records.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { fileFailure, inScratch, isOfRow, openTokenizer } from 'tokenlane/internal/files.mjs'
import { endsSoon, maxId, pause, VERSION } from 'tokenlane/internal/corpus.js'
import { hashOfChat, withChat } from './chats.mjs'
import { defaultConcurrency, shardsAtOnce } from './concurrency.mjs'
import { READ_PAUSE_MS, READ_TRIES, claim, digestOf, startOf } from './claim.mjs'
import { error, otherJob } from './errors.mjs'
import { hashOfHooks, loadHooks } from './hooks.mjs'
import { Totals, isManifestOf, readManifestEnds, readTotals, writeManifest } from './manifest.mjs'
import { appended, inputsOf, segmentsWithoutRecords } from './append.mjs'
import { LAYOUT_VERSION, idOf, readJob, segmentsOf, startText } from './job-file.mjs'
import { CLAIM, JOB, PLAN } from './layout.mjs'
import { startMetrics } from './metrics.mjs'
import { checkOptions } from './options.mjs'
import { changedPlan, planParts, readPlan, throwDifference, writePlan } from './plan.mjs'
import { Progress } from './progress.mjs'
import { stemOf } from './record.mjs'
import { openStore } from './store/store.mjs'
import { Threads } from './threads.mjs'
import { completeContent, findTokenizer } from './tokenizer.mjs'
import { sourceOfBase, writeBase } from './words.mjs'

const HOST = os.hostname()
/** Minimum time in milliseconds between two events about progress. */
const PROGRESS_INTERVAL_MS = 200

/**
 * The number of runs of this process in each output folder. Only the last one may remove the
 * unfinished files of this process.
 *
 * @type {Map<string, number>}
 */
const runs = new Map()

/**
 * Turns a corpus into tokens.
 *
 * @param {any} given see index.d.ts
 */
export async function tokenizeCorpus(given) {
  const checked = checkOptions(given)
  const { options, end } = await startMetrics(checked, checked.queue === undefined ? 'job' : 'planner')
  try {
    return await runJob(options)
  } finally {
    end()
  }
}

/**
 * Runs a job with checked options.
 *
 * @param {import('./options.mjs').Options} options
 */
export async function runJob(options) {
  options.signal?.throwIfAborted()
  return endsSoon(() => jobOf(options), options.signal)
}

async function jobOf(options) {
  const run = new Run(options)
  if (options.output === undefined) return run.dry()
  const store = await openStore(options.output)
  await store.prepare()
  const uses = (more = 0) => runs.set(store.place, (runs.get(store.place) ?? 0) + more).get(store.place)
  uses(1)
  const clean = () => {
    if (uses() === 1) store.removeOwn()
    if (uses(-1) === 0) runs.delete(store.place)
  }
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
  /**
   * The shards of a plan that are handed out first, by the SHA-256 of the plan. One that was not
   * made in this run is taken in its order.
   *
   * @type {Map<string, import('./plan.mjs').LargeShard[]>}
   */
  #large = new Map()

  constructor(options) {
    this.#options = options
    this.#emit = options.onEvent
  }

  /** Counts without writing. */
  async dry() {
    return inScratch('plan', async (folder) => {
      const prepared = await this.#prepare()
      const file = path.join(folder, PLAN)
      const plan = await this.#plan(file)
      const job = this.#job(prepared, plan)
      const totals = new Totals()
      await this.#shards(file, segmentsOf(job)[0], prepared, undefined, (record) => totals.add(record))
      return this.#done(job, totals.toJSON(), 0)
    })
  }

  /** @param {import('./store/types.js').Store} store */
  async inFolder(store) {
    const before = await jobIn(store)
    const prepared = await this.#prepare()
    if (before !== undefined && this.#options.append)
      return this.#write(store, prepared, await this.#planAppended(store, before, prepared))
    const { job, file } = await this.#start(store, before, prepared)
    if (this.#options.base !== undefined) await writeBase(store, this.#options.base)
    if (this.#options.queue !== undefined) return this.#onQueue(job, store, file)
    const [segment] = segmentsOf(job)
    return this.#write(store, prepared, { job, segments: [{ segment, file }] })
  }

  /** Writes the shards of segments of a job that are not done, and the manifest. */
  async #write(store, prepared, { job, segments }) {
    let written = 0
    for (const { segment, file } of segments)
      await this.#shards(file, segment, prepared, store, (_record, isNew) => (written += Number(isNew)))
    this.#options.signal?.throwIfAborted()
    const totals = await writeManifest(store, job)
    await store.finish()
    return this.#done(job, totals.toJSON(), totals.shards - written)
  }

  /**
   * The job in the folder with a segment of the inputs that it does not have, and the segments
   * whose shards are to be processed. Without such inputs, the shards that are there are compared,
   * and made again where they are missing.
   */
  async #planAppended(store, found, prepared) {
    checkSame(found, this.#job(prepared, found.plan))
    const { inputs, filesFrom } = this.#options
    const start = startOf(this.#options, prepared.source.name)
    const release = await claim(store, digestOf({ append: found.id, inputs, filesFrom }), start)
    try {
      // Another process may have appended since the first look.
      const before = await startedJob(store)
      checkSame(before, this.#job(prepared, before.plan))
      const segments = segmentsOf(before)
      const manifest = await readManifestEnds(store)
      const isFinished = manifest !== undefined && isManifestOf(manifest, before)
      const known = await inputsOf(store, isFinished ? segments : segments.slice(0, -1))
      const file = store.part(PLAN)
      const commits = commitsOf(isFinished ? undefined : before)
      const plan = await this.#plan(file, [await store.exclude()], { known, commits })
      const here = async (segment) => ({ segment, file: await store.copyHere(segment.file) })
      if (isFinished && plan.shards === 0) return { job: before, segments: await Promise.all(segments.map(here)) }
      const last = segments.at(-1)
      if (!isFinished && plan.sha256 !== last.plan.sha256)
        throw otherJob(`${store.place} is not finished: run the command again that wrote it, or name another folder`)
      const job = isFinished ? withCommits(appended(before, this.#job(prepared, plan)), commits) : before
      const segment = segmentsOf(job).at(-1)
      // An earlier run may have ended before it wrote the plan.
      const isThere = (await store.hashOf(segment.file))?.sha256 === plan.sha256
      const planFile = isThere ? file : await store.publish(file, segment.file)
      if (isFinished) await store.writeWhole(JOB, `${JSON.stringify(job, undefined, 2)}\n`)
      const damaged = await segmentsWithoutRecords(store, job)
      const earlier = await Promise.all(damaged.filter(({ first }) => first < segment.first).map(here))
      return { job, segments: [...earlier, { segment, file: planFile }] }
    } finally {
      await release()
    }
  }

  /**
   * Plans a new job, or the one that is in the folder again. A different one is detected before the
   * inputs are planned, which may take long.
   *
   * @returns {Promise<{ job: any, file: string }>} `file` is a copy of the plan on this machine
   */
  async #start(store, before, prepared) {
    if (before?.segments !== undefined)
      throw otherJob(`${otherThere(before)}, to which inputs were appended: continue with append (--append)`)
    if (before !== undefined) checkSame(before, this.#job(prepared, before.plan))
    const planned = () => this.#planInto(store, before, prepared)
    if (before !== undefined) return planned()
    const { inputs, filesFrom } = this.#options
    const { name: _name, ...tokenizer } = this.#job(prepared).tokenizer
    const digest = digestOf({ ...this.#job(prepared), tokenizer, inputs, filesFrom })
    const release = await claim(store, digest, startOf(this.#options, prepared.source.name))
    try {
      // The job may have been started since the first look.
      before = await readJob(store)
      if (before !== undefined) checkSame(before, this.#job(prepared, before.plan))
      return await planned()
    } finally {
      await release()
    }
  }

  /** Lets workers write the shards and the manifest. */
  async #onQueue(job, store, planFile) {
    const { queue, queueName, resumeCheck, trustPlan, giveUpSeconds, signal } = this.#options
    const { processOnQueue } = await import('./queue/planner.mjs')
    const output = await store.exclude()
    const settings = { resumeCheck, trustPlan, giveUpSeconds, signal, onEvent: this.#emit }
    const large = this.#large.get(job.plan.sha256)
    const request = { queue, queueName, output, planFile, large, job, ...settings }
    const { kept } = await processOnQueue(request)
    return this.#done(job, await readTotals(store), kept)
  }

  async #prepare() {
    const { base } = this.#options
    if (base !== undefined)
      return { source: sourceOfBase(base), content: this.#options.content, ids: {}, hooks: undefined, vocabSize: 0 }
    const source = await findTokenizer(this.#options.tokenizer, this.#options.encoding)
    const tokenizer = await openTokenizer(source)
    const hooks = this.#options.hooks && path.resolve(this.#options.hooks)
    const hooksSha256 = hooks && (await hashOfHooks(hooks))
    // A module that cannot be loaded ends the job before the inputs are planned.
    if (hooks) await loadHooks(hooks, hooksSha256)
    const given = { ...(await withChat(tokenizer, this.#options)), hooksSha256 }
    const { content, ids } = await completeContent(tokenizer, source, given)
    return { source, content, ids, hooks, vocabSize: maxId(tokenizer) + 1 }
  }

  #job({ source, content, ids, vocabSize }, plan = undefined) {
    const { name, kind, encoding, sha256 } = /** @type {any} */ (source)
    const tokenizer = { name, kind, encoding, sha256, vocabSize, ...ids }
    const known = { version: LAYOUT_VERSION, tokenlane: VERSION, tokenizer, options: content, plan }
    return JSON.parse(JSON.stringify({ id: idOf(known), ...known }))
  }

  /** Writes the plan to a file. */
  async #plan(file, exclude, { known, commits } = /** @type {any} */ ({})) {
    const { inputs, filesFrom, content, signal } = this.#options
    const onUnreadable = (/** @type {any} */ { code, message }) => this.#emit({ event: 'unreadable', code, message })
    const onNote = (message) => this.#emit({ event: 'note', message })
    const handle = await fs.promises.open(file, 'wx').catch((failure) => Promise.reject(fileFailure(file, failure)))
    let last = performance.now()
    try {
      const parts = planParts({ inputs, filesFrom, content, exclude, known, commits, onUnreadable, onNote })
      const { shardSize } = content
      const onPart = (soFar) => {
        signal?.throwIfAborted()
        if (performance.now() - last < PROGRESS_INTERVAL_MS) return
        last = performance.now()
        this.#emit({ event: 'planning', ...soFar })
      }
      const { summary, large } = await writePlan(handle, parts, { shardSize, onPart })
      this.#large.set(summary.sha256, large)
      await handle.sync()
      if (summary.shards === 0 && known === undefined)
        throw error('ERR_TOKENLANE_FILE_NOT_FOUND', 'the inputs contain no text: all their files are empty')
      this.#emit({ event: 'plan', ...summary })
      return summary
    } catch (failure) {
      throw failure.syscall === undefined ? failure : fileFailure(file, failure)
    } finally {
      await handle.close()
    }
  }

  /** Writes job.json and the plan into the output folder, or compares them with those there. */
  async #planInto(store, before, prepared) {
    if (before !== undefined && this.#options.trustPlan) return this.#trusted(store, before, prepared)
    const file = store.part(PLAN)
    const commits = commitsOf(before)
    const plan = await this.#plan(file, [await store.exclude(), ...(this.#options.exclude ?? [])], { commits })
    if (before === undefined) {
      const job = this.#job(prepared, plan)
      const start = startOf(this.#options, prepared.source.name)
      const text = `${JSON.stringify({ ...withCommits(job, commits), start }, undefined, 2)}\n`
      if (await store.createWhole(JOB, text)) return { job, file: await store.publish(file, PLAN) }
      // Another process has started a job since the last look.
      before = await startedJob(store)
      checkSame(before, job)
    }
    const job = this.#job(prepared, before.plan)
    const isSame = plan.sha256 === before.plan.sha256
    if (!isSame) this.#checkInputs(before)
    const found = await store.hashOf(PLAN)
    const isIntact = found?.sha256 === before.plan.sha256
    if (!isSame) {
      if (isIntact) await throwDifference(store, file)
      throw changedPlan(store, PLAN)
    }
    // The process that created job.json has not written the plan yet, or never will.
    return { job, file: isIntact ? file : await store.publish(file, PLAN) }
  }

  /** The job and the plan of the folder. The inputs are not listed again. */
  async #trusted(store, before, prepared) {
    this.#checkInputs(before)
    const found = await store.hashOf(PLAN)
    if (found?.sha256 !== before.plan.sha256) throw changedPlan(store, PLAN)
    return { job: this.#job(prepared, before.plan), file: await store.copyHere(PLAN) }
  }

  /** Throws if a job in the folder was started with other inputs than this one. */
  #checkInputs({ start }) {
    const { inputs, inputsSha256 } = startOf(this.#options, '')
    const isSame =
      JSON.stringify(start?.inputs) === JSON.stringify(inputs) &&
      // A job of an earlier version has no hash.
      [undefined, inputsSha256].includes(start?.inputsSha256)
    if (start !== undefined && !isSame)
      throw otherJob(`${otherThere({ start })}, with other inputs than here; name another folder`)
  }

  /**
   * Processes the shards of a segment, `concurrency` at a time. Shards that are done are only
   * checked.
   */
  async #shards(planFile, { id, plan, first: start }, { source, content, ids, hooks }, store, onRecord) {
    const { concurrency, threads, tableMemory, signal, resumeCheck: check, trustPlan } = this.#options
    const data = { source, content, ids, hooks, output: store?.place, threads, tableMemory }
    const pool = new Threads(data, concurrency ?? defaultConcurrency())
    const atOnce = (parts) => concurrency ?? shardsAtOnce(parts, content)
    const progress = new ThreadProgress(plan, this.#emit)
    const order = await orderOf(content.shuffle, plan.shards)
    /** The running shards by their turn. */
    const running = /** @type {Map<Promise<void>, number>} */ (new Map())
    /** The first shard with a bad row: which one is found first depends on threads. */
    let first = /** @type {{ turn: number, failure?: any }} */ ({ turn: Infinity })
    let turns = 0
    let stop = (_reason) => {}
    const stopped = new Promise((_resolve, reject) => (stop = reject))
    stopped.catch(() => {})
    const onAbort = () => stop(signal.reason)
    signal?.addEventListener('abort', onAbort)
    try {
      for await (const parts of readPlan(planFile, this.#large.get(plan.sha256))) {
        while (running.size >= atOnce(parts)) await Promise.race([...running.keys(), stopped])
        signal?.throwIfAborted()
        if (first.failure !== undefined) break
        const turn = turns++
        const shard = start + order(parts[0].shard)
        const started = progress.start(shard, parts)
        const task = pool
          .run({ shard, parts, job: id, check, trustsInputs: trustPlan }, started.update)
          .then(({ record, isNew }) => {
            started.end(record, isNew)
            onRecord(record, isNew)
          })
          .catch((failure) => {
            if (!isOfRow(failure)) stop(failure)
            else if (turn < first.turn) first = { turn, failure }
          })
          .finally(() => running.delete(task))
        running.set(task, turn)
      }
      const isBefore = () => [...running].filter(([, turn]) => turn < first.turn).map(([task]) => task)
      while (isBefore().length > 0) await Promise.race([...isBefore(), stopped])
      // Throws if the job was stopped meanwhile.
      await Promise.race([stopped, undefined])
      if (first.failure !== undefined) throw first.failure
    } finally {
      signal?.removeEventListener('abort', onAbort)
      await pool.end()
      if (progress.running.length > 0 && runs.get(store?.place) === 1) await store.abandon(progress.running.map(stemOf))
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
  const stranger = names.find((name) => !name.startsWith('.') && name !== PLAN && name !== CLAIM)
  if (stranger === undefined) return undefined
  // Another process may have started the job since the first look.
  const started = await readJob(store)
  if (started !== undefined) return started
  const what = `the output folder ${store.place} is not empty and holds no job (it has ${stranger})`
  throw otherJob(`${what}: name a new folder`)
}

const NAME_ANOTHER = 'name another folder, or use the same options'

/** The job of a folder, for messages. */
const otherThere = ({ start }) =>
  `the output folder holds another job${start === undefined ? '' : `, ${startText(start)}`}`

/** The job that another process has just started. Without hard links it may be incomplete. */
async function startedJob(store) {
  for (let tries = 1; ; tries++) {
    try {
      const job = await readJob(store)
      if (job !== undefined) return job
      throw otherJob(`${store.where(JOB)} was removed while the job started`)
    } catch (failure) {
      if (tries >= READ_TRIES) throw failure
      await pause(READ_PAUSE_MS)
    }
  }
}

/** The commits of the datasets that a job was planned with; none for a new job. */
const commitsOf = (job) => new Map(Object.entries(job?.commits ?? {}))

/** The content of job.json with the commits of datasets. */
const withCommits = (job, commits) =>
  commits.size === 0 ? job : { ...job, commits: { ...job.commits, ...Object.fromEntries(commits) } }

const show = (value) => (value === undefined ? 'none' : JSON.stringify(value))

/** Throws if the job in the folder differs from this one. */
function checkSame(before, now) {
  const [was, is] = [before, now].map(({ tokenlane, tokenizer, options }) => ({
    ...options,
    chat: undefined,
    'the SHA-256 of the chat template': hashOfChat(options),
    tokenlane,
    'the SHA-256 of the tokenizer': tokenizer.sha256,
    'the encoding of the tokenizer': tokenizer.encoding,
    'the id of bos': tokenizer.bos,
    'the id of eos': tokenizer.eos,
  }))
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => show(was[name]) !== show(is[name]),
  )
  if (names.length === 0) return
  const [name] = names
  throw otherJob(
    `${otherThere(before)}: there ${name} is ${show(was[name])}, here it is ${show(is[name])}; ${NAME_ANOTHER}`,
  )
}
