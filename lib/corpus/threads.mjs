// Threads that do shards, one each at a time.

import { Worker } from 'node:worker_threads'

import { unpackError } from './errors.mjs'

const THREAD = new URL('./thread.mjs', import.meta.url)

export class Threads {
  #data
  #most
  #idle = /** @type {ShardThread[]} */ ([])
  #all = /** @type {ShardThread[]} */ ([])

  /**
   * @param {object} data for thread.mjs
   * @param {number} most threads at a time
   */
  constructor(data, most) {
    this.#data = data
    this.#most = most
  }

  /**
   * Does a shard on an idle thread, or on a new one. At most `most` calls may be under way.
   *
   * @param {import('./shard.mjs').ShardJob} request
   * @param {(progress: { documents: number, tokens: number, bytes: number }) => void} onProgress
   * @returns {Promise<{ record: any, isNew: boolean }>}
   */
  async run(request, onProgress) {
    let thread = this.#idle.pop()
    if (thread === undefined) {
      if (this.#all.length >= this.#most) throw new Error('all threads are busy')
      thread = new ShardThread(this.#data)
      this.#all.push(thread)
    }
    const result = await thread.run(request, onProgress)
    this.#idle.push(thread)
    return result
  }

  /** Ends all threads, whatever they do. */
  async end() {
    await Promise.all(this.#all.map((thread) => thread.end()))
  }
}

class ShardThread {
  #worker
  #ready
  #resolve = (_result) => {}
  #reject = (_failure) => {}
  #onProgress = (_progress) => {}

  constructor(data) {
    this.#worker = new Worker(THREAD, { workerData: data })
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.once('message', resolve)
      this.#worker.once('error', reject)
      this.#worker.once('exit', () => reject(new Error('a thread of the job ended')))
    })
    this.#ready.catch(() => {})
    this.#worker.on('message', (message) => this.#hear(message))
    this.#worker.on('error', (failure) => this.#reject(failure))
    this.#worker.on('exit', () => this.#reject(new Error('a thread of the job ended')))
  }

  async run(request, onProgress) {
    await this.#ready
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#onProgress = onProgress
      this.#worker.postMessage({ request })
    })
  }

  end() {
    return this.#worker.terminate()
  }

  #hear({ progress, error, record, isNew }) {
    if (progress !== undefined) this.#onProgress(progress)
    else if (error !== undefined) this.#reject(unpackError(error))
    else if (record !== undefined) this.#resolve({ record, isNew })
  }
}
