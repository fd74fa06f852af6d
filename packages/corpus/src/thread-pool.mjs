// Threads for work such as processing shards and hashing files. A module exports `work`, which is
// called with a value and a function that reports progress.

import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

import { projectPlaces } from 'tokenlane/internal/corpus.js'

import { error, unpackError } from './errors.mjs'

const THREAD = new URL('./pool-thread.mjs', import.meta.url)
const threadEnded = () => new Error('a thread of the job ended')

/** The failure for an error that ended a thread. The process continues. */
const ofThread = (/** @type {any} */ failure) =>
  failure?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? error('ERR_TOKENLANE_OUT_OF_MEMORY', 'the values of this shard do not fit into the memory of a thread')
    : failure

/**
 * @typedef {object} Shared
 * @property {object} [data] more `workerData` for the module
 * @property {(worker: Worker, message: any) => void} [onMessage] is called with the messages of the
 *   module that are no progress
 * @property {(worker: Worker) => void} [onEnd] is called when a thread has ended
 */

/** Milliseconds that a thread has to end its calls, which closes their files. */
const GRACE_MS = 2000

async function ended(worker) {
  worker.postMessage({ isLast: true })
  await Promise.race([once(worker, 'exit').catch(() => {}), wait(GRACE_MS, undefined, { ref: false })])
  await worker.terminate()
}

export class ThreadPool {
  #module
  #size
  #shared
  #threads = /** @type {{ worker: Worker, calls: Map<number, any> }[]} */ ([])
  #last = 0
  #isEnded = false

  /**
   * @param {URL} module
   * @param {number} size the maximum number of threads. A thread starts when all others are busy
   * @param {Shared} [shared]
   */
  constructor(module, size, shared = {}) {
    this.#module = module
    this.#size = size
    this.#shared = shared
  }

  /** Calls `work` in the thread that has the least to do. */
  call(value, onProgress = (_progress) => {}) {
    if (this.#isEnded) return Promise.reject(threadEnded())
    const id = (this.#last += 1)
    const thread = this.#leastBusy()
    return new Promise((resolve, reject) => {
      thread.calls.set(id, { resolve, reject, onProgress })
      thread.worker.postMessage({ id, value })
    })
  }

  /** Ends the threads, within their calls too. Unfinished and later calls reject. */
  async end() {
    this.#isEnded = true
    await Promise.all(this.#threads.map(({ worker }) => ended(worker)))
  }

  #leastBusy() {
    const [least] = this.#threads.toSorted((a, b) => a.calls.size - b.calls.size)
    if (least !== undefined && (least.calls.size === 0 || this.#threads.length >= this.#size)) return least
    return this.#start()
  }

  #start() {
    const { data, onMessage, onEnd } = this.#shared
    const calls = new Map()
    // `--input-type` is an error for a thread, and the modules of a thread need no other argument.
    const worker = new Worker(THREAD, {
      workerData: { ...data, module: this.#module.href, projectPlaces: projectPlaces() },
      execArgv: [],
    })
    const thread = { worker, calls }
    worker.on('message', (message) => {
      const { id, value, error: packed, progress } = message
      const call = calls.get(id)
      if (call === undefined) onMessage?.(worker, message)
      else if (progress !== undefined) call.onProgress(progress)
      else {
        calls.delete(id)
        if (packed === undefined) call.resolve(value)
        else call.reject(unpackError(packed))
      }
    })
    const fail = (failure) => {
      this.#threads = this.#threads.filter((one) => one !== thread)
      for (const { reject } of calls.values()) reject(failure)
      calls.clear()
    }
    worker.on('error', (failure) => fail(ofThread(failure)))
    worker.on('exit', () => {
      fail(threadEnded())
      onEnd?.(worker)
    })
    this.#threads.push(thread)
    return thread
  }
}
