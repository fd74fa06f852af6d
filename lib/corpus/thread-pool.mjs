// Threads for work that has no state, such as hashing files. A module exports `work`, which is
// called with one value and returns one.

import { Worker } from 'node:worker_threads'

import { unpackError } from './errors.mjs'

const THREAD = new URL('./pool-thread.mjs', import.meta.url)

export class ThreadPool {
  #module
  #size
  #threads = /** @type {{ worker: Worker, calls: Map<number, any> }[]} */ ([])
  #last = 0

  /**
   * @param {URL} module
   * @param {number} size the maximum number of threads. A thread starts when all others are busy
   */
  constructor(module, size) {
    this.#module = module
    this.#size = size
  }

  /** Calls `work` in the thread that has the least to do. */
  call(value) {
    const id = (this.#last += 1)
    const thread = this.#leastBusy()
    return new Promise((resolve, reject) => {
      thread.calls.set(id, { resolve, reject })
      thread.worker.postMessage({ id, value })
    })
  }

  /** Ends the threads. Calls that have not returned reject. */
  async end() {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()))
  }

  #leastBusy() {
    const [least] = this.#threads.toSorted((a, b) => a.calls.size - b.calls.size)
    if (least !== undefined && (least.calls.size === 0 || this.#threads.length >= this.#size)) return least
    return this.#start()
  }

  #start() {
    const calls = new Map()
    const worker = new Worker(THREAD, { workerData: { module: this.#module.href }, execArgv: [] })
    const thread = { worker, calls }
    worker.on('message', ({ id, value, error }) => {
      const { resolve, reject } = calls.get(id)
      calls.delete(id)
      if (error === undefined) resolve(value)
      else reject(unpackError(error))
    })
    const fail = (failure) => {
      this.#threads = this.#threads.filter((one) => one !== thread)
      for (const { reject } of calls.values()) reject(failure)
      calls.clear()
    }
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('a thread of the job ended')))
    this.#threads.push(thread)
    return thread
  }
}
