'use strict'

// Lets a fixed number of asynchronous calls run at once; the others wait in order.

class Gate {
  #free
  #waiting = []

  constructor(slots) {
    this.#free = slots
  }

  /**
   * Runs `work` when a slot is free. Rejects with the signal's reason if it aborts while the call
   * waits.
   */
  async run(work, signal) {
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** @returns {Promise<void> | undefined} */
  #enter(signal) {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.#free > 0) {
      this.#free -= 1
      return undefined
    }
    return new Promise((resolve, reject) => {
      const entry = () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1)
        reject(signal.reason)
      }
      this.#waiting.push(entry)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }

  #leave() {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}

module.exports = { Gate }
