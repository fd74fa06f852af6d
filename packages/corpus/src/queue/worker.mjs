// A worker takes shards from a queue and processes them with the threads of this machine
// (jobs.mjs).
//
// What is in the queue is not trusted. A job that cannot succeed fails at once and is not given to
// another worker. A shard that only this machine cannot process returns to the queue, does not
// count as an attempt, and pauses the worker: so a machine that does not fit cannot use up the
// shards faster than others process them.

import os from 'node:os'
import path from 'node:path'

import { checkKnown, pause, within } from 'tokenlane/internal/corpus.js'
import { defaultConcurrency } from '../concurrency.mjs'
import { wrongType, wrongValue } from '../errors.mjs'
import { startMetrics } from '../metrics.mjs'
import { MAX_CONCURRENCY, flag, listener, metricsOption, queueName, text, whole } from '../options.mjs'
import { Allowed, realPlace } from '../store/allowed.mjs'
import { isSize, isText } from '../values.mjs'
import { Connections, connectPatiently, connectionOf, loadBullMq, queueFailed } from './connection.mjs'
import { isOfHost } from './host-failure.mjs'
import { Jobs, checkData, isPermanent } from './jobs.mjs'
import { ATTEMPTS } from './planner.mjs'

/** Number of jobs in a row that are none of tokenlane, after which a worker ends. */
const MAX_FOREIGN_JOBS = 100
/** Time in milliseconds within which the same error of Redis is reported once. */
const ERROR_INTERVAL_MS = 1000
/**
 * Default number of workers that may end while they have a shard, before the shard counts as
 * failed. Machines that are preempted are the normal case, so it is far above what they reach; a
 * shard that needs too much memory reaches it.
 */
const MAX_STALLS = 25
/** Default number of seconds to wait for Redis when a worker starts. */
const WAIT_SECONDS = 300
/** The first and the longest pause in ms of a worker whose machine cannot process shards. */
const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 60_000
/**
 * Time in milliseconds after which a shard that was handed back is tried again. The pauses of the
 * workers keep it from going back and forth.
 */
const RETURN_DELAY_MS = 1000
/** Minimum time in milliseconds between two messages about the progress of a shard. */
const PROGRESS_INTERVAL_MS = 1000
/**
 * A worker that closes stops waiting for Redis when it has had no shard for this many milliseconds.
 */
const QUIET_MS = 5000
/** Time in milliseconds between two looks whether there are shards. */
const POLL_MS = 100
/** Maximum length of the folder that the paths of a job are relative to. */
const MAX_BASE_LENGTH = 4096
/** Maximum length of the message of a failed job, which is stored in Redis. */
const MAX_MESSAGE_LENGTH = 2000

/**
 * Starts a worker.
 *
 * @param {any} options see index.d.ts
 */
export async function createWorker(options) {
  const { options: checked, end } = await startMetrics(checkWorkerOptions(options), 'worker')
  try {
    const bullmq = await loadBullMq()
    const connection = connectionOf(checked.queue)
    const onWait = ({ message }) => checked.onEvent({ event: 'error', message: `${message}; trying again` })
    const client = await connectPatiently(connection, checked.waitSeconds * 1000, onWait)
    client.disconnect()
    let worker
    const connections = await Connections.of(connection, (failure) => worker.fail(queueFailed(connection, failure)))
    worker = new CorpusWorker(bullmq, connections, checked)
    worker.done.then(end, end)
    return worker
  } catch (failure) {
    end()
    throw failure
  }
}

function checkWorkerOptions(options) {
  checkKnown(options, NAMES)
  const { queue, allow } = options
  if (typeof queue !== 'string') throw wrongType('queue', 'a URL', queue)
  const folders = typeof allow === 'string' ? [allow] : allow
  if (!Array.isArray(folders) || folders.length === 0 || folders.some((folder) => typeof folder !== 'string'))
    throw wrongType('allow', 'a folder or an array of folders', allow)
  return { ...ownOptions(options), queue, allowed: new Allowed(folders.map(realPlace)) }
}

function ownOptions(given) {
  const hooks = text(given, 'hooks')
  return {
    queueName: queueName(given.queueName),
    allowHub: flag(given, 'allowHub'),
    hooks: hooks && path.resolve(hooks),
    concurrency: whole(given, 'concurrency', 1, MAX_CONCURRENCY) ?? defaultConcurrency(),
    threads: whole(given, 'threads', 1, 256),
    lockSeconds: seconds(given, 'lockSeconds', 4) ?? 30,
    graceSeconds: seconds(given, 'graceSeconds', 0) ?? 20,
    waitSeconds: seconds(given, 'waitSeconds', 0) ?? WAIT_SECONDS,
    maxStalls: whole(given, 'maxStalls', 0, 1_000_000) ?? MAX_STALLS,
    metrics: metricsOption(given.metrics),
    onEvent: listener(given.onEvent),
  }
}

const NAMES = ['queue', 'allow', ...Object.keys(ownOptions({}))]

function seconds(given, name, least) {
  const value = given[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!(value >= least && value <= 86_400)) throw wrongValue(name, `seconds from ${least} to 86400`, value)
  return value
}

const ignored = (work) => work.catch(() => {})

/**
 * A class of workers whose locks can end before the worker has closed. BullMQ renews them until no
 * job is in progress, and with a Redis that answers nonsense that may never be.
 *
 * @param {any} Worker
 * @returns {any}
 */
const withEndOfLocks = (Worker) =>
  class extends Worker {
    endLocks() {
      return this.lockManager.close()
    }
  }

class CorpusWorker {
  #options
  #bullmq
  #connections
  #worker
  #jobs
  #isClosing = false
  #isReturning = false
  /** Number of jobs in progress. */
  #active = 0
  /** The number of pauses since the last job that this machine could process. */
  #pauses = 0
  /** The number of jobs since the last one of tokenlane. */
  #foreign = 0
  /** The error that was reported last, and when. */
  #lastError = { message: '', at: 0 }
  /** The timer that ends the pause. */
  #paused = /** @type {NodeJS.Timeout | undefined} */ (undefined)
  #resolve = (_nothing) => {}
  #fail = (_failure) => {}
  /** Resolves when the worker is closed; rejects if it cannot continue. */
  done

  constructor(bullmq, connections, options) {
    this.#bullmq = bullmq
    this.#connections = connections
    this.#options = options
    this.#jobs = new Jobs(options)
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#fail = reject
      const work = (job, token) => this.#counted(job, token)
      const settings = {
        concurrency: options.concurrency,
        // A lock that is not renewed expires after half of lockSeconds, and another worker notices
        // within two checks of a quarter each.
        lockDuration: options.lockSeconds * 500,
        stalledInterval: options.lockSeconds * 250,
        maxStalledCount: options.maxStalls,
        name: `${os.hostname()}:${process.pid}`,
      }
      const Worker = withEndOfLocks(bullmq.Worker)
      this.#worker = connections.open((own) => new Worker(options.queueName, work, { connection: own, ...settings }))
      this.#worker.on('closed', () => resolve(undefined))
    })
    this.done.catch(() => {})
    // It reconnects by itself, so the error is only reported.
    this.#worker.on('error', (failure) => this.#reportError(queueFailed(connections.options, failure).message))
  }

  /** BullMQ may repeat a refused command without a pause; its error is reported once a second. */
  #reportError(message) {
    const now = performance.now()
    if (message === this.#lastError.message && now - this.#lastError.at < ERROR_INTERVAL_MS) return
    this.#lastError = { message, at: now }
    this.#options.onEvent({ event: 'error', message })
  }

  /**
   * Takes no more shards and waits for those in progress. After the grace period they are returned
   * to the queue. A Redis that does not answer delays the end by a few seconds.
   */
  async close() {
    if (this.#isClosing) return this.done
    this.#isClosing = true
    clearTimeout(this.#paused)
    const timer = setTimeout(() => this.#returnShards(), this.#options.graceSeconds * 1000)
    const closed = this.#worker.close().catch(() => {})
    // A broken connection can keep BullMQ from closing. In that case nothing is left to send, and
    // shards cannot be returned: their locks expire.
    const limit = this.#options.graceSeconds * 1000 + QUIET_MS
    await ignored(within(Promise.race([closed, this.#quiet()]), limit, () => undefined))
    clearTimeout(timer)
    await ignored(within(this.#jobs.end(), QUIET_MS, () => undefined))
    await this.#disconnect()
    this.#resolve(undefined)
    return undefined
  }

  /** Ends the worker at once, because Redis cannot be used. `done` rejects with the error. */
  fail(failure) {
    this.#stop(failure, 0)
  }

  /** Resolves when there has been no shard for `QUIET_MS`. */
  async #quiet() {
    for (let since = performance.now(); performance.now() - since < QUIET_MS; ) {
      await pause(POLL_MS)
      if (this.#active > 0) since = performance.now()
    }
  }

  #returnShards() {
    this.#isReturning = true
    return this.#jobs.end()
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
    try {
      this.#check(job)
      await this.#jobs.checkVersion(job.data)
      const result = await this.#does[job.name](job)
      this.#pauses = 0
      return result
    } catch (failure) {
      if (this.#isReturning || failure.isFatal) {
        // Another worker takes the job at once. This attempt does not count.
        await job.moveToWait(token)
        if (failure.isFatal) this.#stop(failure)
        throw new this.#bullmq.WaitingError()
      }
      if (isText(job.data?.base, MAX_BASE_LENGTH) && (await isOfHost(failure, job.data.base)))
        return this.#handBack(job, token, failure)
      throw this.#failed(job, failure)
    }
  }

  /** Throws for a job that is none of tokenlane. A queue of them is that of another program. */
  #check(job) {
    this.#foreign += 1
    try {
      checkData(job.name, job.data)
      this.#foreign = 0
    } catch (failure) {
      if (this.#foreign >= MAX_FOREIGN_JOBS) this.fail(failure)
      throw failure
    }
  }

  /** What the jobs do, by their names. */
  #does = {
    shard: (job) => this.#shard(job),
    manifest: (job) => this.#manifest(job),
    compare: (job) => this.#compare(job),
    compared: (job) => this.#checkFailed(job),
  }

  /** Returns a job that another machine may be able to process, and pauses. */
  async #handBack(job, token, { code, message }) {
    const refused = String(message).slice(0, MAX_MESSAGE_LENGTH)
    const shard = isSize(job.data?.shard) ? job.data.shard : undefined
    const milliseconds = Math.min(MIN_PAUSE_MS * 2 ** this.#pauses, MAX_PAUSE_MS)
    this.#options.onEvent({ event: 'paused', shard, code, message: refused, seconds: milliseconds / 1000 })
    if (this.#paused === undefined && !this.#isClosing) {
      this.#pauses += 1
      this.#paused = setTimeout(() => {
        this.#paused = undefined
        this.#worker.resume().catch(() => {})
      }, milliseconds)
      await this.#worker.pause(true)
    }
    await job.updateProgress({ host: os.hostname(), code, refused }).catch(() => {})
    // The clock of this machine may be wrong, and a shard would wait for as long as it is ahead.
    const [seconds] = await (await this.#worker.client).time()
    await job.moveToDelayed(Number(seconds) * 1000 + RETURN_DELAY_MS, token)
    throw new this.#bullmq.DelayedError()
  }

  /** Reports a failure. Returns the error that BullMQ stores. */
  #failed(job, failure) {
    const { code, message } = failure
    const shard = isSize(job.data?.shard) ? job.data.shard : undefined
    const attempt = job.attemptsMade + 1
    const short = String(message).slice(0, MAX_MESSAGE_LENGTH)
    // BullMQ may still pass on jobs when the worker has ended for want of its own.
    if (this.#foreign <= MAX_FOREIGN_JOBS)
      this.#options.onEvent({ event: 'failed', shard, attempt, code, message: short })
    // The number of attempts that the job asks for is not trusted either.
    const isLast = isPermanent(failure) || attempt >= ATTEMPTS || failure instanceof this.#bullmq.UnrecoverableError
    const ErrorOfJob = isLast ? this.#bullmq.UnrecoverableError : Error
    return Object.assign(new ErrorOfJob(code === undefined ? short : `${short} (${code})`), { stack: '' })
  }

  /**
   * Ends the worker with an error, which `done` rejects with.
   *
   * @param {any} failure
   * @param {number} [limit] time in milliseconds for the jobs in progress
   */
  #stop(failure, limit = this.#options.graceSeconds * 1000 + QUIET_MS) {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#fail(failure)
    // Not awaited, because closing waits for the current job, which called this.
    within(this.#worker.close(), limit, () => undefined)
      .finally(() => this.#jobs.end())
      .finally(() => this.#disconnect())
      .catch(() => {})
  }

  /** Ends what keeps the process alive if BullMQ cannot close. */
  async #disconnect() {
    await this.#worker.endLocks()
    await this.#connections.end()
  }

  /** Processes a shard. */
  async #shard(job) {
    const started = performance.now()
    let last = started
    const host = os.hostname()
    const onProgress = (progress) => {
      if (performance.now() - last < PROGRESS_INTERVAL_MS) return
      last = performance.now()
      const seconds = (last - started) / 1000
      job.updateProgress({ host, seconds, ...progress }).catch(() => {})
    }
    const result = await this.#jobs.shard(job.data, onProgress)
    this.#options.onEvent({ event: 'shard', ...result })
    return result
  }

  /** Compares the files of some shards with their records. */
  async #compare(job) {
    const { isNew, ...result } = await this.#jobs.compare(job.data)
    this.#options.onEvent({ event: 'compared', ...result, problems: result.problems.length })
    return { isNew, ...result }
  }

  /** Throws if a job that had to be done before this one has failed. */
  async #checkFailed(job) {
    const { ignored = 0 } = await job.getDependenciesCount({ ignored: true })
    if (ignored > 0) throw new this.#bullmq.UnrecoverableError(`${ignored} shards failed`)
  }

  /** Writes the manifest. */
  async #manifest(job) {
    await this.#checkFailed(job)
    const totals = await this.#jobs.manifest(job.data)
    this.#options.onEvent({ event: 'manifest', id: job.data.id, ...totals.toJSON() })
    return undefined
  }
}
