// The threads that process shards. Each processes one at a time.

import { newScratch, removeScratch } from 'tokenlane/internal/files.mjs'
import { RowMemory } from './row-memory.mjs'
import { ThreadPool } from './thread-pool.mjs'

export class Threads {
  #pool
  #running = new Set()
  /** The folder of the threads for tables of words. */
  #scratch
  /** The memory of large rows. */
  #rowMemory = new RowMemory()
  /** The number of shards that are being processed. The threads read it. */
  #count = new Int32Array(new SharedArrayBuffer(4))

  /**
   * @param {{ source: { kind: string } } & object} data the `workerData` of thread.mjs
   * @param {number} maxThreads
   */
  constructor(data, maxThreads) {
    if (data.source.kind === 'base') this.#scratch = newScratch('train')
    this.#pool = new ThreadPool(new URL('./thread.mjs', import.meta.url), maxThreads, {
      data: { ...data, running: this.#count, scratch: this.#scratch },
      onMessage: (worker, { reserve }) =>
        reserve === undefined ? this.#rowMemory.release(worker) : this.#reserve(worker, reserve),
      onEnd: (worker) => this.#rowMemory.release(worker),
    })
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
    const run = this.#pool.call(request, onProgress)
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

  /** Ends all threads immediately. Unfinished and later calls reject. */
  async end() {
    await this.#pool.end()
    if (this.#scratch !== undefined) await removeScratch(this.#scratch)
  }

  /** Tells a thread when it may read a large row. */
  async #reserve(worker, bytes) {
    await this.#rowMemory.take(worker, bytes)
    worker.postMessage({ isReserved: true })
  }
}
