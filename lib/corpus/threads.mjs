// The threads that process shards. Each processes one at a time.

import { Worker } from 'node:worker_threads'

import { ByteBudget } from './byte-budget.mjs'
import { error, unpackError } from './errors.mjs'

const THREAD = new URL('./thread.mjs', import.meta.url)

const threadEnded = () => new Error('a thread of the job ended')

/** The failure for an error that ended a thread. The process continues. */
const ofThread = (/** @type {any} */ failure) =>
  failure?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? error('ERR_TOKENLANE_OUT_OF_MEMORY', 'the values of this shard do not fit into the memory of a thread')
    : failure

export class Threads {
  #data
  #maxThreads
  #idle = /** @type {ShardThread[]} */ ([])
  #all = /** @type {ShardThread[]} */ ([])
  #running = new Set()
  /** The memory of large rows. */
  #budget = new ByteBudget()
  #isEnded = false
  /** The number of shards that are being processed. The threads read it. */
  #count = new Int32Array(new SharedArrayBuffer(4))

  /**
   * @param {object} data the `workerData` of thread.mjs
   * @param {number} maxThreads
   */
  constructor(data, maxThreads) {
    this.#data = { ...data, running: this.#count }
    this.#maxThreads = maxThreads
  }

  /**
   * Processes a shard on an idle thread, or on a new one. At most `maxThreads` calls may run at a
   * time.
   *
   * @param {import('./shard.mjs').ShardJob} request
   * @param {(progress: { documents: number, tokens: number, bytes: number }) => void} onProgress
   * @returns {Promise<{ record: any, isNew: boolean }>}
   */
  async run(request, onProgress) {
    const run = this.#run(request, onProgress)
    this.#running.add(run)
    Atomics.store(this.#count, 0, this.#running.size)
    try {
      return await run
    } finally {
      this.#running.delete(run)
      Atomics.store(this.#count, 0, this.#running.size)
    }
  }

  /** Waits until no shard is being processed. */
  async idle() {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }

  async #run(request, onProgress) {
    if (this.#isEnded) throw threadEnded()
    let thread = this.#idle.pop()
    if (thread === undefined) {
      if (this.#all.length >= this.#maxThreads) throw new Error('all threads are busy')
      thread = new ShardThread(this.#data, this.#budget)
      this.#all.push(thread)
    }
    try {
      return await thread.run(request, onProgress)
    } finally {
      if (thread.isAlive) this.#idle.push(thread)
      else this.#all.splice(this.#all.indexOf(thread), 1)
    }
  }

  /** Ends all threads immediately. Unfinished and later calls reject. */
  async end() {
    this.#isEnded = true
    await Promise.all(this.#all.map((thread) => thread.end()))
  }
}

/** A thread, and the call that it works for. */
class ShardThread {
  #worker
  #budget
  #ready
  #isAlive = true
  #resolve = (_result) => {}
  #reject = (_failure) => {}
  #onProgress = (_progress) => {}

  /**
   * @param {object} data
   * @param {ByteBudget} budget
   */
  constructor(data, budget) {
    this.#budget = budget
    // `--input-type` is an error for a thread, and the modules of a thread need no other argument.
    this.#worker = new Worker(THREAD, { workerData: data, execArgv: [] })
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.once('message', resolve)
      this.#worker.once('error', (failure) => reject(ofThread(failure)))
      this.#worker.once('exit', () => reject(threadEnded()))
    })
    this.#ready.catch(() => {})
    this.#worker.on('message', (message) => this.#receive(message))
    this.#worker.on('error', (failure) => this.#reject(ofThread(failure)))
    this.#worker.on('exit', () => {
      this.#isAlive = false
      budget.release(this)
      this.#reject(threadEnded())
    })
  }

  get isAlive() {
    return this.#isAlive
  }

  async run(request, onProgress) {
    await this.#ready
    if (!this.#isAlive) throw threadEnded()
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#onProgress = onProgress
      this.#worker.postMessage({ request })
    })
  }

  end() {
    this.#isAlive = false
    return this.#worker.terminate()
  }

  #receive({ progress, error, record, isNew, reserve, isReleased }) {
    if (reserve !== undefined) this.#reserve(reserve)
    else if (isReleased) this.#budget.release(this)
    else if (progress !== undefined) this.#onProgress(progress)
    else if (error !== undefined) this.#reject(unpackError(error))
    else if (record !== undefined) this.#resolve({ record, isNew })
  }

  /** Tells the thread when it may read a large row. */
  async #reserve(bytes) {
    await this.#budget.take(this, bytes)
    this.#worker.postMessage({ isReserved: true })
  }
}
