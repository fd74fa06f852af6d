// Puts the shards of a job into a queue of BullMQ, and watches them.
//
// A flow has a job per shard and one parent, which writes the manifest when they are done. A
// shard's job has the place of its lines in plan.jsonl, not the lines. Jobs are added in batches
// while workers already do the first ones; a child that no worker takes, the gate, keeps the parent
// waiting until all are added. All ids follow from the job's id, so a second planner adds nothing
// twice, and goes on where one that died has stopped.

import { randomUUID } from 'node:crypto'

import { error } from '../errors.mjs'
import { planSlices } from '../plan.mjs'
import { Progress } from '../progress.mjs'
import { permutation } from '../shuffle.mjs'
import { connect, connectionOf, loadBullMq, queueFailed } from './connection.mjs'

/** Jobs that are added at once. */
const BATCH = 500
/** How often a shard is tried, and the wait before it is tried again. */
const ATTEMPTS = 3
const BACKOFF = { type: 'exponential', delay: 1000 }
/** Jobs that are kept to look at when they are done. */
const KEPT = 10_000
/**
 * Milliseconds that a planner may be silent before another one takes over, and between its signs of
 * life.
 */
const LOCK = 30_000
/** Milliseconds between questions how far the job is. */
const INTERVAL = 500
/** Failed shards that an error names. */
const NAMED = 5

/**
 * Has a job done by workers; resolves when the manifest is written.
 *
 * @param {{ queue: string, queueName: string, output: string, planFile: string, job: any, signal?:
 *   AbortSignal, onEvent: (event: object) => void }} request `output` is absolute; `planFile` is
 *   the plan on this machine
 */
export async function runOnQueue({ queue: url, queueName, output, planFile, job, signal, onEvent }) {
  const bullmq = await loadBullMq()
  const connection = connectionOf(url)
  const client = await connect(connection)
  const queue = new bullmq.Queue(queueName, { connection })
  const gates = new bullmq.Queue(`${queueName}-gates`, { connection })
  const flows = new bullmq.FlowProducer({ connection })
  const events = new bullmq.QueueEvents(queueName, { connection })
  // They connect again by themselves.
  for (const one of [client, queue, gates, flows, events]) one.on('error', () => {})
  try {
    const planner = new Planner({ bullmq, client, queue, gates, flows, events, output, planFile, job, signal, onEvent })
    return await planner.run()
  } catch (failure) {
    throw failure.code?.startsWith?.('ERR_TOKENLANE_') || failure === signal?.reason
      ? failure
      : queueFailed(connection, failure)
  } finally {
    await Promise.allSettled([events, flows, gates, queue].map((one) => one.close()))
    client.disconnect()
  }
}

class Planner {
  #of
  #keys
  #token = randomUUID()

  constructor(of) {
    this.#of = of
    this.#keys = { lock: `tokenlane:${of.job.id}:planner`, run: `tokenlane:${of.job.id}:run` }
  }

  async run() {
    await this.#lock()
    const signs = setInterval(() => this.#stillHere().catch(() => {}), LOCK / 3)
    let parent
    try {
      parent = await this.#start()
    } finally {
      clearInterval(signs)
      await this.#unlock()
    }
    return this.#watch(parent)
  }

  /** Waits until no other planner of this job adds jobs. */
  async #lock() {
    const { client, signal } = this.#of
    while ((await client.set(this.#keys.lock, this.#token, 'PX', LOCK, 'NX')) === null) {
      signal?.throwIfAborted()
      await pause(INTERVAL)
    }
  }

  async #stillHere() {
    const { client } = this.#of
    if ((await client.get(this.#keys.lock)) === this.#token) await client.pexpire(this.#keys.lock, LOCK)
  }

  async #unlock() {
    const { client } = this.#of
    if ((await client.get(this.#keys.lock)) === this.#token) await client.del(this.#keys.lock)
  }

  /** Adds what has not been added. A run that has ended is followed by a new one. */
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

  #parentId = (run) => `${this.#of.job.id}-${run}`
  #gateId = (run) => `${this.#of.job.id}-${run}-gate`

  /** What all jobs know. */
  get #data() {
    const { output, job } = this.#of
    return { id: job.id, tokenlane: job.tokenlane, output, base: process.cwd() }
  }

  async #addParent(run) {
    const { flows, queue, gates } = this.#of
    const gate = { name: 'gate', queueName: gates.name, data: {}, opts: { jobId: this.#gateId(run) } }
    const opts = { jobId: this.#parentId(run), attempts: ATTEMPTS, backoff: BACKOFF }
    const { job } = await flows.add({
      name: 'manifest',
      queueName: queue.name,
      data: this.#data,
      opts,
      children: [gate],
    })
    return job
  }

  async #addShards(run, parent) {
    const { queue, planFile, job, signal, onEvent } = this.#of
    const { shuffle } = job.options
    const order = shuffle === undefined ? (shard) => shard : permutation(`shards ${shuffle}`, job.plan.shards)
    let jobs = []
    let added = 0
    const flush = async () => {
      await queue.addBulk(jobs)
      added += jobs.length
      jobs = []
      onEvent({ event: 'queued', shards: added, allShards: job.plan.shards })
    }
    for await (const { shard, from, to } of planSlices(planFile)) {
      signal?.throwIfAborted()
      const opts = {
        jobId: `${this.#parentId(run)}-${shard}`,
        parent: { id: parent.id, queue: queue.qualifiedName },
        attempts: ATTEMPTS,
        backoff: BACKOFF,
        ignoreDependencyOnFailure: true,
        removeOnComplete: { count: KEPT },
        stackTraceLimit: 1,
      }
      jobs.push({ name: 'shard', data: { ...this.#data, shard: order(shard), from, to }, opts })
      if (jobs.length >= BATCH) await flush()
    }
    if (jobs.length > 0) await flush()
  }

  /** Waits for the parent, and passes on what workers say. */
  async #watch({ parent, run }) {
    const { queue, events, job, signal, onEvent } = this.#of
    const progress = new Progress(job.plan)
    /** Ends the pause between two questions when the parent has ended. */
    let ended = new AbortController()
    const wake = ({ jobId }) => jobId === parent.id && ended.abort()
    events.on('completed', wake)
    events.on('failed', wake)
    const shardOf = ({ jobId }) => (jobId.startsWith(`${this.#parentId(run)}-`) ? jobId : undefined)
    events.on('progress', (event) => shardOf(event) && progress.update(event.jobId, event.data))
    events.on('completed', (event) => {
      const value = shardOf(event) && valueOf(event.returnvalue)
      if (value === undefined) return
      progress.end(event.jobId, value)
      onEvent({ event: 'shard', ...value })
    })
    events.on('failed', (event) => {
      if (shardOf(event) === undefined) return
      progress.drop(event.jobId)
      onEvent({ event: 'failed', shard: Number(event.jobId.split('-').at(-1)), message: event.failedReason })
    })
    for (;;) {
      signal?.throwIfAborted()
      const current = await queue.getJob(parent.id)
      const state = current === undefined ? 'unknown' : await current.getState()
      if (state === 'completed') return { kept: progress.kept }
      if (state === 'failed') throw await this.#failure(current)
      if (state === 'unknown')
        throw error('ERR_TOKENLANE_CORPUS_QUEUE', 'the job was removed from the queue: run the command again')
      const { processed = 0, ignored = 0 } = await current.getDependenciesCount({
        processed: true,
        ignored: true,
        unprocessed: true,
      })
      onEvent({ ...progress.event, shards: processed, failed: ignored })
      await pause(INTERVAL, signal, ended.signal)
      // An event may come before the state that it tells of; then the next pause is a whole one.
      if (ended.signal.aborted) ended = new AbortController()
    }
  }

  async #failure(parent) {
    const failures = Object.entries(await parent.getIgnoredChildrenFailures())
    if (failures.length === 0)
      return error('ERR_TOKENLANE_CORPUS_SHARDS_FAILED', `the manifest could not be written: ${parent.failedReason}`)
    const named = failures.slice(0, NAMED).map(([key, reason]) => `shard ${key.split('-').at(-1)}: ${reason}`)
    const rest = failures.length > NAMED ? `; and ${failures.length - NAMED} more` : ''
    return error(
      'ERR_TOKENLANE_CORPUS_SHARDS_FAILED',
      `${failures.length} of ${this.#of.job.plan.shards} shards failed: ${named.join('; ')}${rest}. The others are done; run the command again to try these`,
    )
  }
}

function valueOf(text) {
  const value = typeof text === 'string' ? JSON.parse(text) : text
  return typeof value === 'object' && value !== null ? value : undefined
}

/** Resolves after a time, or when one of the signals aborts. */
const pause = (milliseconds, ...signals) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener('abort', end)
      resolve(undefined)
    }
    const timer = setTimeout(end, milliseconds)
    for (const signal of signals) signal?.addEventListener('abort', end)
    if (signals.some((signal) => signal?.aborted)) end()
  })
