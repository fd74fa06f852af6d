// A worker takes shards from a queue and processes them with the threads of this machine.
//
// The data of a job is not trusted. The output, the inputs and a tokenizer's file must be below the
// allowed folders after links are resolved. The options are checked like those of a caller. The
// tokenizer must have the SHA-256 that the job names.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'

import { fileFailure } from '../../files/failure.mjs'
import { error, otherJob, wrongType, wrongValue } from '../errors.mjs'
import { parquetWriterVersion } from '../formats/parquet.mjs'
import { readJob } from '../job-file.mjs'
import { PLAN } from '../layout.mjs'
import { writeManifest } from '../manifest.mjs'
import { checkContent, checkOptions, queueName } from '../options.mjs'
import { readSlice } from '../plan.mjs'
import { stemOf } from '../record.mjs'
import { checkKey, folderAddress, isAddress, isBelow } from '../store/address.mjs'
import { openStore } from '../store/store.mjs'
import { Threads } from '../threads.mjs'
import { findTokenizer } from '../tokenizer.mjs'
import { connect, connectionOf, loadBullMq, queueFailed } from './connection.mjs'

const require = createRequire(import.meta.url)
const { checkKnown } = require('../../options.js')
const VERSION = require('../../../package.json').version

/** The names of the options. */
const NAMES = [
  'queue',
  'queueName',
  'allow',
  'allowHub',
  'concurrency',
  'threads',
  'lockSeconds',
  'graceSeconds',
  'onEvent',
]
/** Number of times that workers may die with a shard before the shard counts as failed. */
const MAX_STALLED = 2
/** Minimum time in milliseconds between two messages about the progress of a shard. */
const PROGRESS_INTERVAL_MS = 1000
/**
 * A worker that closes stops waiting for Redis when it has had no shard for this many milliseconds.
 */
const QUIET_MS = 5000
/** Time in milliseconds between two looks whether there are shards. */
const POLL_MS = 100
/** Number of jobs whose threads are kept. */
const MAX_JOBS = 2

/**
 * Starts a worker.
 *
 * @param {any} options see index.d.ts
 */
export async function createWorker(options) {
  const checked = checkWorkerOptions(options)
  const bullmq = await loadBullMq()
  const connection = connectionOf(checked.queue)
  const client = await connect(connection)
  client.disconnect()
  return new CorpusWorker(bullmq, connection, checked)
}

function checkWorkerOptions(options) {
  checkKnown(options, NAMES)
  const { queue, allow, allowHub = false, onEvent = () => {} } = options
  if (typeof queue !== 'string') throw wrongType('queue', 'a URL', queue)
  const folders = typeof allow === 'string' ? [allow] : allow
  if (!Array.isArray(folders) || folders.length === 0 || folders.some((folder) => typeof folder !== 'string'))
    throw wrongType('allow', 'a folder or an array of folders', allow)
  if (typeof allowHub !== 'boolean') throw wrongType('allowHub', 'a boolean', allowHub)
  if (typeof onEvent !== 'function') throw wrongType('onEvent', 'a function', onEvent)
  // These two options are checked like those of a job.
  const { concurrency, threads } = checkOptions({
    inputs: '.',
    output: '.',
    concurrency: options.concurrency,
    threads: options.threads,
  })
  return {
    queue,
    queueName: queueName(options.queueName),
    allowHub,
    onEvent,
    concurrency,
    threads,
    allow: folders.map(realFolder),
    lock: seconds('lockSeconds', options.lockSeconds, 4, 30),
    grace: seconds('graceSeconds', options.graceSeconds, 0, 20),
  }
}

/** The real path or the address of an allowed folder. */
function realFolder(folder) {
  if (isAddress(folder)) return folderAddress(folder)
  try {
    return fs.realpathSync(folder)
  } catch (failure) {
    throw fileFailure(folder, failure)
  }
}

function seconds(name, value, least, byDefault) {
  if (value === undefined) return byDefault * 1000
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!(value >= least && value <= 86_400)) throw wrongValue(name, `seconds from ${least} to 86400`, value)
  return value * 1000
}

class CorpusWorker {
  #options
  #bullmq
  #worker
  /** @type {Map<string, Promise<Job>>} */
  #jobs = new Map()
  #isClosing = false
  #isReturning = false
  /** Number of jobs in progress. */
  #active = 0
  #resolve = (_nothing) => {}
  #fail = (_failure) => {}
  /** Resolves when the worker is closed; rejects if it cannot continue. */
  done

  constructor(bullmq, connection, options) {
    this.#bullmq = bullmq
    this.#options = options
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#fail = reject
      this.#worker = new bullmq.Worker(options.queueName, (job, token) => this.#counted(job, token), {
        connection,
        concurrency: options.concurrency,
        // A lock that is not renewed expires after half of `lock`, and another worker notices
        // within two checks of a quarter each.
        lockDuration: options.lock / 2,
        stalledInterval: options.lock / 4,
        maxStalledCount: MAX_STALLED,
        name: `${os.hostname()}:${process.pid}`,
      })
      this.#worker.on('closed', () => resolve(undefined))
    })
    this.done.catch(() => {})
    // It reconnects by itself, so the error is only reported.
    this.#worker.on('error', (failure) =>
      this.#options.onEvent({ event: 'error', message: queueFailed(connection, failure).message }),
    )
  }

  /**
   * Takes no more shards and waits for those in progress. After the grace period they are returned
   * to the queue.
   */
  async close() {
    if (this.#isClosing) return this.done
    this.#isClosing = true
    const timer = setTimeout(() => this.#returnShards(), this.#options.grace)
    const closed = this.#worker.close().then(
      () => true,
      () => true,
    )
    try {
      // A broken connection can keep BullMQ from closing. In that case nothing is left to send.
      if (!(await Promise.race([closed, this.#quiet()])))
        await Promise.race([this.#worker.disconnect(), pause(QUIET_MS)])
    } finally {
      clearTimeout(timer)
      await this.#endThreads()
    }
    this.#resolve(undefined)
    return undefined
  }

  /** Resolves to `false` when there has been no shard for `QUIET_MS`. */
  async #quiet() {
    for (let since = performance.now(); performance.now() - since < QUIET_MS; ) {
      await pause(POLL_MS)
      if (this.#active > 0) since = performance.now()
    }
    return false
  }

  #returnShards() {
    this.#isReturning = true
    return this.#endThreads()
  }

  async #endThreads() {
    for (const known of this.#jobs.values()) {
      const job = await known.catch(() => undefined)
      await job?.end()
    }
  }

  async #counted(job, token) {
    this.#active += 1
    try {
      return await this.#process(job, token)
    } finally {
      this.#active -= 1
    }
  }

  async #process(job, token) {
    const { onEvent } = this.#options
    try {
      const { data } = job
      checkData(data)
      if (data.tokenlane !== VERSION) {
        const message = `the job is one of tokenlane ${data.tokenlane}, but this worker is ${VERSION}: install the same version on all machines`
        throw Object.assign(otherJob(message), { isFatal: true })
      }
      if (job.name === 'manifest') return await this.#manifest(job)
      return await this.#shard(job)
    } catch (failure) {
      if (this.#isReturning || failure.isFatal) {
        // Another worker takes the job at once. This attempt does not count.
        await job.moveToWait(token)
        if (failure.isFatal) this.#stop(failure)
        throw new this.#bullmq.WaitingError()
      }
      onEvent({
        event: 'failed',
        shard: job.data?.shard,
        attempt: job.attemptsMade + 1,
        code: failure.code,
        message: failure.message,
      })
      throw Object.assign(
        new Error(failure.code === undefined ? failure.message : `${failure.message} (${failure.code})`),
        { stack: '' },
      )
    }
  }

  /** Ends the worker with an error, which `done` rejects with. */
  #stop(failure) {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#fail(failure)
    // Not awaited, because closing waits for the current job, which called this.
    const closed = this.#worker.close()
    closed.finally(() => this.#endThreads()).catch(() => {})
  }

  /** Processes a shard. */
  async #shard(job) {
    const { id, output, base, shard, from, to } = job.data
    const known = await this.#job(id, output, base)
    // The plan itself may be a link.
    allowed(known.store.where(PLAN), known.allow)
    const parts = await readSlice(known.store, from, to)
    for (const part of parts) allowed(placeIn(base, part.path), known.allow)
    let last = performance.now()
    const host = os.hostname()
    const onProgress = (progress) => {
      if (performance.now() - last < PROGRESS_INTERVAL_MS) return
      last = performance.now()
      job.updateProgress({ host, ...progress }).catch(() => {})
    }
    const { record, isNew } = await known.run({ shard, parts, job: id, base }, onProgress)
    const { documents, tokens, skipped, seconds: taken } = record
    const bytes = parts.reduce((sum, part) => sum + part.end - part.start, 0)
    const result = { shard, isNew, documents, tokens, bytes, skipped: skipped.rows, seconds: taken, host }
    this.#options.onEvent({ event: 'shard', ...result })
    return result
  }

  /** Writes the manifest. */
  async #manifest(job) {
    const { id, output, base } = job.data
    const known = await this.#job(id, output, base)
    const { ignored = 0 } = await job.getDependenciesCount({ ignored: true })
    if (ignored > 0) throw new this.#bullmq.UnrecoverableError(`${ignored} shards failed`)
    const totals = await writeManifest(known.store, known.job)
    await known.store.finish()
    this.#options.onEvent({ event: 'manifest', id, ...totals.toJSON() })
    return undefined
  }

  /**
   * The corpus job that a BullMQ job belongs to. It is kept, with threads that loaded the
   * tokenizer.
   */
  #job(id, output, base) {
    const key = JSON.stringify([id, output, base])
    let known = this.#jobs.get(key)
    this.#jobs.delete(key)
    known ??= Job.open(id, output, base, this.#options)
    this.#jobs.set(key, known)
    known.catch(() => this.#jobs.delete(key))
    this.#forgetOldest()
    return known
  }

  #forgetOldest() {
    for (const [key, known] of this.#jobs) {
      if (this.#jobs.size <= MAX_JOBS) return
      this.#jobs.delete(key)
      known.then((job) => job.endWhenIdle()).catch(() => {})
    }
  }
}

/** A corpus job that a worker has opened, with its threads. */
class Job {
  /** The shards in progress. */
  #running = new Set()

  constructor({ job, store, allow, threads }) {
    this.job = job
    this.store = store
    this.allow = allow
    this.threads = threads
  }

  async run(request, onProgress) {
    this.#running.add(request.shard)
    try {
      return await this.threads.run(request, onProgress)
    } finally {
      this.#running.delete(request.shard)
    }
  }

  static async open(id, output, base, { allow, allowHub, concurrency, threads }) {
    const folder = allowed(output, allow)
    const store = await openStore(folder)
    const job = await readJob(store)
    if (job === undefined || job.id !== id)
      throw otherJob(`${output} holds ${job === undefined ? 'no job' : 'another job'}`)
    const content = JSON.parse(JSON.stringify(checkContent(job.options)))
    const writer = content.format === 'parquet' ? parquetWriterVersion() : undefined
    if (job.options.writer !== writer)
      throw otherJob(`the job writes Parquet files with ${job.options.writer}, but this worker has ${writer}`)
    const { name, kind, encoding, sha256, bos, eos } = job.tokenizer
    if (kind === 'hub' && !allowHub)
      throw otherJob(
        `the job uses ${name} of the Hugging Face Hub, but this worker does not allow that: set allowHub (--allow-hub)`,
      )
    const found =
      kind === 'file'
        ? await findTokenizer(allowed(path.resolve(base, name), allow), encoding)
        : await findTokenizer(kind === 'hub' ? name : encoding)
    if (found.kind !== kind || found.sha256 !== sha256)
      throw otherJob(`the tokenizer ${name} has the SHA-256 ${found.sha256} here, but ${sha256} in the job`)
    await store.prepare()
    const data = { source: found, content, ids: { bos, eos }, output: folder, threads, check: 'sha256' }
    return new Job({ job, store, allow, threads: new Threads(data, concurrency) })
  }

  async end() {
    const stems = [...this.#running].map(stemOf)
    await this.threads.end()
    await this.store.abandon(stems)
  }

  async endWhenIdle() {
    await this.threads.idle()
    await this.end()
  }
}

/**
 * The real path or the address of a file or folder. Throws if it is not below an allowed folder.
 */
function allowed(place, allow) {
  if (isAddress(place)) {
    checkKey(place)
    if (allow.some((folder) => isAddress(folder) && isBelow(place, folder))) return place
    throw notAllowed(place)
  }
  let real
  try {
    real = fs.realpathSync(place)
  } catch (failure) {
    throw fileFailure(place, failure)
  }
  const isInside = allow.some(
    (folder) =>
      !isAddress(folder) &&
      (real === folder || real.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep)),
  )
  if (isInside) return real
  throw notAllowed(place)
}

const notAllowed = (place) =>
  error('ERR_TOKENLANE_CORPUS_NOT_ALLOWED', `${place} is not below a folder that this worker allows (--allow)`)

/** The path or the address of an input of a plan. */
const placeIn = (base, name) => (isAddress(name) ? name : path.resolve(base, name))

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds, false))

/** Throws if the data of a BullMQ job is not that of a corpus job. */
function checkData(data) {
  const isText = [data?.id, data?.tokenlane, data?.output, data?.base].every((value) => typeof value === 'string')
  const isPlace =
    data?.shard === undefined ||
    [data.shard, data.from, data.to].every((value) => Number.isSafeInteger(value) && value >= 0)
  const isOutput = isText && (path.isAbsolute(data.output) || isAddress(data.output))
  if (!isOutput || !isPlace || !path.isAbsolute(data.base)) {
    throw error('ERR_TOKENLANE_CORPUS_QUEUE', 'the queue holds something that is not a job of tokenlane')
  }
}
