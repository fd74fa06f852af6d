// Puts the shards of a corpus job into a queue of BullMQ, and waits until workers have processed
// or compared them (compare.mjs).
//
// A BullMQ flow has a child job for each shard, and a parent job that writes the manifest when all
// children are done. The job of a shard has the byte range of its lines in plan.jsonl, not the
// lines. Jobs are added in batches while workers already process the first ones. Meanwhile the
// parent waits for one more child, the gate, which no worker takes. All ids are derived from the id
// of the corpus job and its output folder, so a second planner adds nothing twice and continues
// where a planner that died has stopped.

import { createHash, randomUUID } from 'node:crypto'

import { watch, endsSoon, pause } from 'tokenlane/internal/corpus.js'
import { error } from '../errors.mjs'
import { planSlices } from '../plan.mjs'
import { Progress } from '../progress.mjs'
import { permutation } from '../shuffle.mjs'
import { isObject, isSize, isText } from '../values.mjs'
import { Connections, connect, connectionOf, loadBullMq, nameOf, queueFailed } from './connection.mjs'

/** Length of the start of the ids in the queue, in hexadecimal digits. */
const ID_LENGTH = 32
/** Number of jobs that are added at once. */
const JOBS_PER_BATCH = 500
/** How often a job is tried, and the delay before it is tried again. */
export const ATTEMPTS = 3
const BACKOFF = { type: 'exponential', delay: 1000 }
/** Number of finished jobs that stay in the queue for inspection. */
const MAX_FINISHED_JOBS = 10_000
/** Time in milliseconds after which the lock of a planner that does not renew it expires. */
const LOCK_MS = 30_000
/** What BullMQ says of a job that has not ended. */
const WAITING_STATES = ['waiting', 'waiting-children', 'active', 'delayed', 'prioritized', 'paused']
/** Time in milliseconds between two looks at the state of the queue. */
const POLL_MS = 500
/** Time in milliseconds between two reports that no worker processes shards. */
const WAITING_MS = 30_000
/** Time in milliseconds that a planner has to clean up in Redis after its signal has aborted. */
const END_MS = 3000
/**
 * Time in milliseconds for which Redis may be silent when the planner gives up. If it answers, the
 * message says what workers do.
 */
const SILENT_MS = 2000
/** Time in milliseconds without a shard in progress after which that is reported first. */
const IDLE_MS = 3000
/** Number of jobs in progress that are looked at. */
const MAX_SEEN_JOBS = 50
/** BullMQ's reason for a job whose workers ended too often. */
const STALLED = 'job stalled more than allowable limit'
/** Maximum number of failed shards that an error names. */
const MAX_NAMED_SHARDS = 5

/**
 * What workers do.
 *
 * @typedef {object} Task
 * @property {string} key tells its jobs in the queue from those of other tasks of the corpus job
 * @property {string} last the name of the job that follows all others
 * @property {string} tokenlane the version that the workers must have
 * @property {boolean} [isTransient] whether its jobs are removed when this process stops waiting,
 *   because nobody else needs their results
 * @property {() => AsyncIterable<{ name: string, shard: number, data: object }> | Iterable<{ name:
 *   string, shard: number, data: object }>} jobs the jobs, with a shard that no other one has
 * @property {(failed: number, named: string) => string} failed the message for jobs that failed
 */

/**
 * Lets workers process the shards of a corpus job. Resolves when the manifest is written.
 *
 * @param {{ queue: string, queueName: string, output: string, planFile: string, large?:
 *   import('../plan.mjs').LargeShard[], job: any,
 *   resumeCheck?: 'sha256' | 'size', trustPlan?: boolean, giveUpSeconds?: number, signal?:
 *   AbortSignal, onEvent: (event: object) => void }} request `output` is absolute; `planFile` is a
 *   copy of the plan on this machine
 */
export function processOnQueue({ planFile, large, resumeCheck, trustPlan, ...request }) {
  const { job } = request
  const { shuffle } = job.options
  const order = shuffle === undefined ? (shard) => shard : permutation(`shards ${shuffle}`, job.plan.shards)
  const check = { ...(resumeCheck === 'size' && { check: 'size' }), ...(trustPlan && { trustsInputs: true }) }
  /** @type {Task} */
  const task = {
    key: '',
    last: 'manifest',
    tokenlane: job.tokenlane,
    async *jobs() {
      for await (const { shard, from, to } of planSlices(planFile, large))
        yield { name: 'shard', shard, data: { shard: order(shard), from, to, ...check } }
    },
    failed: (failed, named) =>
      `${failed} of ${job.plan.shards} shards failed: ${named}. The others are done; run the command again to try these`,
  }
  return runOnQueue({ ...request, task })
}

/**
 * Lets workers do the jobs of a task. Resolves when the last one is done.
 *
 * @param {{ queue: string, queueName: string, output: string, job: any, task: Task, giveUpSeconds?:
 *   number, signal?: AbortSignal, onEvent: (event: object) => void }} request
 * @returns {Promise<{ kept: number, values: any[] }>} `values` are the results of the jobs of a
 *   task that is transient
 */
export async function runOnQueue({ queue: url, queueName, signal, giveUpSeconds, ...request }) {
  const bullmq = await loadBullMq()
  const connection = connectionOf(url)
  const patience = new Patience({ name: nameOf(connection), giveUpSeconds, signal, onEvent: request.onEvent })
  const connections = await Connections.of(connection, (failure) => patience.fail(queueFailed(connection, failure)))
  let client
  try {
    client = await connect(connection, patience.signal)
    const queue = connections.open((own) => new bullmq.Queue(queueName, { connection: own }))
    const gates = connections.open((own) => new bullmq.Queue(`${queueName}-gates`, { connection: own }))
    const flows = connections.open((own) => new bullmq.FlowProducer({ connection: own }))
    const events = connections.open((own) => new bullmq.QueueEvents(queueName, { connection: own }))
    const planner = new Planner({ client, queue, gates, flows, events, patience, giveUpSeconds, ...request })
    return await endsSoon(() => planner.run(), patience.signal, END_MS)
  } catch (failure) {
    throw failure.code?.startsWith?.('ERR_TOKENLANE_') || failure === patience.signal.reason
      ? failure
      : queueFailed(connection, failure)
  } finally {
    patience.end()
    await connections.end()
    client?.disconnect()
  }
}

/**
 * How long the planner waits for Redis: until the signal of the caller aborts, or until Redis has
 * not answered for `giveUpSeconds`. `signal` aborts then. Meanwhile it is reported that there is no
 * answer.
 */
class Patience {
  #of
  #ending = new AbortController()
  #limit
  #report
  #forget = () => {}

  constructor(of) {
    this.#of = of
    const { signal } = of
    if (signal?.aborted) this.#ending.abort(signal.reason)
    else if (signal !== undefined) this.#forget = watch(signal, () => this.#ending.abort(signal.reason))
    this.answered()
  }

  get signal() {
    return this.#ending.signal
  }

  /**
   * Redis has answered.
   *
   * @param {number} [idle] the time in milliseconds for which no worker had a shard
   */
  answered(idle = 0) {
    this.#stop()
    const { name, giveUpSeconds, onEvent } = this.#of
    const silent = `the queue at ${name} does not answer`
    const since = performance.now()
    this.#report = setInterval(() => {
      onEvent({ event: 'waiting', seconds: Math.round((performance.now() - since) / 1000), message: silent })
    }, WAITING_MS)
    if (giveUpSeconds === undefined) return
    const givenUp = error('ERR_TOKENLANE_CORPUS_QUEUE', `${silent}; gave up after ${giveUpSeconds} seconds`)
    const left = Math.max(0, giveUpSeconds * 1000 - idle)
    this.#limit = setTimeout(() => this.#ending.abort(givenUp), left + SILENT_MS)
  }

  /** Nothing can be expected of Redis any more. */
  fail(failure) {
    this.#ending.abort(failure)
  }

  end() {
    this.#stop()
    this.#forget()
  }

  #stop() {
    clearInterval(this.#report)
    clearTimeout(this.#limit)
  }
}

class Planner {
  /** The queues, the request and the connection. */
  #of
  #keys
  #token = randomUUID()
  /** The start of the ids in the queue. */
  #id
  /** The last reason for which each machine handed a shard back. */
  #refusals = /** @type {Map<string, string>} */ (new Map())

  constructor(of) {
    this.#of = of
    const name = `${of.job.id}\0${of.output}${of.task.key}`
    this.#id = createHash('sha256').update(name).digest('hex').slice(0, ID_LENGTH)
    this.#keys = { lock: `tokenlane:${this.#id}:planner`, run: `tokenlane:${this.#id}:run` }
  }

  async run() {
    if (!this.#of.task.isTransient) return this.#run()
    try {
      return await this.#run()
    } finally {
      await this.#remove().catch(() => {})
    }
  }

  async #run() {
    await this.#lock()
    const renewal = setInterval(() => this.#renewLock().catch(() => {}), LOCK_MS / 3)
    let parent
    try {
      parent = await this.#start()
    } finally {
      clearInterval(renewal)
      await this.#unlock()
    }
    return this.#watch(parent)
  }

  /** Removes the jobs of the first run, but for those that workers have now. */
  async #remove() {
    const { queue, gates, client, task } = this.#of
    for await (const { shard } of task.jobs()) await queue.remove(this.#childId(1, shard)).catch(() => {})
    await gates.remove(this.#gateId(1))
    await queue.remove(this.#parentId(1))
    await client.del(this.#keys.run)
  }

  /**
   * Waits for the lock, so that only one planner adds the jobs of a corpus job. The planner that
   * has it renews it, so a lock whose time does not change for so long is none.
   */
  async #lock() {
    const { client, patience } = this.#of
    let left = -Infinity
    let since = performance.now()
    while ((await client.set(this.#keys.lock, this.#token, 'PX', LOCK_MS, 'NX')) === null) {
      patience.answered()
      const now = await client.pttl(this.#keys.lock)
      if (now > left) since = performance.now()
      else if (performance.now() - since > 2 * LOCK_MS)
        throw error(
          'ERR_TOKENLANE_CORPUS_QUEUE',
          'the queue has a lock that no planner renews, and that does not expire',
        )
      left = now
      await pause(POLL_MS, patience.signal)
    }
  }

  async #renewLock() {
    const { client } = this.#of
    if ((await client.get(this.#keys.lock)) === this.#token) await client.pexpire(this.#keys.lock, LOCK_MS)
  }

  async #unlock() {
    const { client } = this.#of
    if ((await client.get(this.#keys.lock)) === this.#token) await client.del(this.#keys.lock)
  }

  /** Adds the jobs that have not been added yet. If the last run has ended, starts a new one. */
  async #start() {
    const { client, queue, gates } = this.#of
    let run = Number((await client.get(this.#keys.run)) ?? 0)
    let parent = run === 0 ? undefined : await queue.getJob(this.#parentId(run))
    const state = parent === undefined ? 'unknown' : await parent.getState()
    if (['unknown', 'completed', 'failed'].includes(state)) {
      await parent?.remove({ removeChildren: true }).catch(() => {})
      run = await client.incr(this.#keys.run)
      parent = await this.#addParent(run)
    }
    const gate = await gates.getJob(this.#gateId(run))
    if (gate === undefined) return { parent, run }
    await this.#addShards(run, parent)
    await gate.removeChildDependency()
    await gate.remove()
    return { parent, run }
  }

  #parentId = (run) => `${this.#id}-${run}`
  #gateId = (run) => `${this.#id}-${run}-gate`
  #childId = (run, shard) => `${this.#parentId(run)}-${shard}`

  /** The data that all jobs have. */
  get #data() {
    const { output, job, task } = this.#of
    return { id: job.id, tokenlane: task.tokenlane, output, base: process.cwd() }
  }

  /** Adds the last job, with the gate that keeps it waiting. */
  async #addParent(run) {
    const { flows, queue, gates, task } = this.#of
    const gate = { name: 'gate', queueName: gates.name, data: {}, opts: { jobId: this.#gateId(run) } }
    const opts = { jobId: this.#parentId(run), attempts: ATTEMPTS, backoff: BACKOFF }
    const { job } = await flows.add({
      name: task.last,
      queueName: queue.name,
      data: this.#data,
      opts,
      children: [gate],
    })
    return job
  }

  /** Adds the jobs of all shards. */
  async #addShards(run, parent) {
    const { queue, task, job, patience, onEvent } = this.#of
    let jobs = []
    let added = 0
    const flush = async () => {
      await queue.addBulk(jobs)
      patience.answered()
      added += jobs.length
      jobs = []
      onEvent({ event: 'queued', shards: added, allShards: job.plan.shards })
    }
    for await (const { name, shard, data } of task.jobs()) {
      patience.signal.throwIfAborted()
      const opts = {
        jobId: this.#childId(run, shard),
        parent: { id: parent.id, queue: queue.qualifiedName },
        attempts: ATTEMPTS,
        backoff: BACKOFF,
        ignoreDependencyOnFailure: true,
        removeOnComplete: { count: MAX_FINISHED_JOBS },
        stackTraceLimit: 1,
      }
      jobs.push({ name, data: { ...this.#data, ...data }, opts })
      if (jobs.length >= JOBS_PER_BATCH) await flush()
    }
    if (jobs.length > 0) await flush()
  }

  /** Waits until the parent has ended, and reports the progress of the workers. */
  async #watch({ parent, run }) {
    const { queue, events, job, task, patience, onEvent } = this.#of
    const progress = new Progress(job.plan)
    const idle = new Idle(this.#of, this.#refusals)
    /** Aborted when the parent or the wait ends, so that the pause between two looks ends too. */
    let ended = new AbortController()
    const wake = ({ jobId }) => jobId === parent.id && ended.abort()
    patience.signal.addEventListener('abort', () => ended.abort(), { once: true })
    events.on('completed', wake)
    events.on('failed', wake)
    const shardOf = ({ jobId }) => (jobId.startsWith(`${this.#parentId(run)}-`) ? jobId : undefined)
    const numberOf = ({ jobId }) => Number(jobId.split('-').at(-1))
    events.on('progress', (event) => {
      const { data } = event
      if (isReport(data)) {
        if (shardOf(event)) progress.update(event.jobId, data)
      } else if (isRefusal(data) && (shardOf(event) || event.jobId === parent.id)) {
        progress.drop(event.jobId)
        this.#refusals.set(data.host, data.refused)
        onEvent({ event: 'refused', host: data.host, code: data.code, message: data.refused })
      }
    })
    events.on('stalled', (event) => {
      if (shardOf(event) === undefined) return
      progress.drop(event.jobId)
      onEvent({ event: 'stalled', shard: numberOf(event) })
    })
    events.on('completed', (event) => {
      const value = shardOf(event) && valueOf(event.returnvalue)
      if (value === undefined) return
      this.#refusals.delete(value.host)
      progress.end(event.jobId, value)
      onEvent({ ...value, event: 'shard' })
    })
    events.on('failed', (event) => {
      if (shardOf(event) === undefined) return
      progress.drop(event.jobId)
      onEvent({ event: 'failed', shard: numberOf(event), message: reasonOf(event.failedReason) })
    })
    for (;;) {
      patience.signal.throwIfAborted()
      const current = await queue.getJob(parent.id)
      const state = current === undefined ? 'unknown' : await current.getState()
      if (state === 'completed') {
        const values = task.isTransient ? Object.values(await current.getChildrenValues()) : []
        return { kept: progress.kept, values }
      }
      if (state === 'failed') throw await this.#failure(current)
      if (state === 'unknown')
        throw error('ERR_TOKENLANE_CORPUS_QUEUE', 'the job was removed from the queue: run the command again')
      if (!WAITING_STATES.includes(state))
        throw error('ERR_TOKENLANE_CORPUS_QUEUE', 'the queue has a job without a state')
      const { processed = 0, ignored = 0 } = await current.getDependenciesCount({
        processed: true,
        ignored: true,
        unprocessed: true,
      })
      onEvent({ ...progress.event, shards: processed, failed: ignored })
      patience.answered(await idle.look(processed + ignored))
      await pause(POLL_MS, ended.signal).catch(() => {})
      // The event may arrive before the state has changed. In that case the next pause is complete.
      if (ended.signal.aborted) ended = new AbortController()
    }
  }

  /** The error for shards that failed. */
  async #failure(parent) {
    const failures = Object.entries(await parent.getIgnoredChildrenFailures())
    if (failures.length === 0)
      return error('ERR_TOKENLANE_CORPUS_SHARDS_FAILED', `the job ${parent.name} failed: ${parent.failedReason}`)
    const named = failures
      .slice(0, MAX_NAMED_SHARDS)
      .map(([key, reason]) => `shard ${key.split('-').at(-1)}: ${reasonOf(reason)}`)
    const rest = failures.length > MAX_NAMED_SHARDS ? `; and ${failures.length - MAX_NAMED_SHARDS} more` : ''
    const message = this.#of.task.failed(failures.length, `${named.join('; ')}${rest}`)
    return error('ERR_TOKENLANE_CORPUS_SHARDS_FAILED', message)
  }
}

/** Notices that no worker processes shards, and gives up after a time. */
class Idle {
  #of
  #refusals
  #since = performance.now()
  #reported = -Infinity
  #ended = 0
  /** The jobs that were in progress at the last look. */
  #seen = /** @type {Set<string>} */ (new Set())

  constructor(of, refusals) {
    this.#of = of
    this.#refusals = refusals
  }

  /**
   * Looks at the queue. A job that is handed back is in progress for a moment, so only one that
   * two looks find counts.
   *
   * @param {number} ended the number of shards that have ended
   * @returns {Promise<number>} the time in milliseconds without a shard in progress
   */
  async look(ended) {
    const { queue, giveUpSeconds = Infinity, onEvent } = this.#of
    // Unlike the planner's own connection, that of the queue survives a restart of Redis.
    const active = await queue.getRanges(['active'], 0, MAX_SEEN_JOBS - 1)
    const isBusy = ended > this.#ended || active.some((id) => this.#seen.has(id))
    this.#ended = ended
    this.#seen = new Set(active)
    const now = performance.now()
    if (isBusy) this.#since = now
    const idle = now - this.#since
    if (idle > giveUpSeconds * 1000)
      throw error(
        'ERR_TOKENLANE_CORPUS_SHARDS_FAILED',
        `${await this.#state()}; gave up after ${giveUpSeconds} seconds`,
      )
    if (idle >= IDLE_MS && now - this.#reported >= WAITING_MS) {
      this.#reported = now
      onEvent({ event: 'waiting', seconds: Math.round(idle / 1000), message: await this.#state() })
    }
    return idle
  }

  /** Reads why shards were handed back, also before this planner listened to events. */
  async #readRefusals() {
    const { queue, job, output } = this.#of
    for (const one of await queue.getDelayed(0, MAX_SEEN_JOBS - 1)) {
      const { data, progress } = one ?? {}
      if (data?.id === job.id && data.output === output && isRefusal(progress))
        this.#refusals.set(progress.host, progress.refused)
    }
  }

  /** Why no shard is in progress. */
  async #state() {
    await this.#readRefusals()
    const [first, ...more] = this.#refusals
    if (first !== undefined) {
      const rest = more.length > 0 ? `, nor ${more.length} more` : ''
      return `no worker processes shards: ${first[0]} cannot${rest}: ${first[1]}`
    }
    const count = await this.#of.queue.getWorkersCount()
    return count === 0
      ? `no worker takes shards from the queue: start "tokenlane worker" on each machine`
      : `no shard is in progress (workers: ${count})`
  }
}

/** The reason of a failed shard, for messages. */
const reasonOf = (reason) =>
  reason === STALLED
    ? 'too many workers ended while they had it, perhaps for want of memory (--max-stalls of the workers)'
    : reason

/** The result in an event of BullMQ, an object or its JSON; `undefined` for anything else. */
function valueOf(text) {
  try {
    const value = typeof text === 'string' ? JSON.parse(text) : text
    return isReport(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a value has the sums of a shard, as workers report them. */
const isReport = (value) =>
  isObject(value) &&
  isText(value.host, 255) &&
  [value.documents, value.tokens, value.bytes].every(isSize) &&
  (value.seconds === undefined || (Number.isFinite(value.seconds) && value.seconds >= 0))

/** Whether a value says why a machine handed a shard back. */
const isRefusal = (value) => isObject(value) && isText(value.host, 255) && isText(value.refused, 4096)
