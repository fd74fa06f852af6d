'use strict'

// Runs work that several callers request concurrently only once.

const running = new Map()

/**
 * @typedef {object} Run
 * @property {AbortSignal} [signal]
 * @property {(progress: import('../..').DownloadProgress) => void} [onProgress]
 */

/**
 * Joins the work with this key, or starts it. Each caller can leave through its own signal; the
 * work is aborted when all callers have left.
 *
 * @template T
 * @param {string} key
 * @param {Run} run
 * @param {(run: Required<Run>) => Promise<T>} start
 * @returns {Promise<T>}
 */
function shared(key, { signal, onProgress }, start) {
  if (signal?.aborted) return Promise.reject(signal.reason)
  let work = running.get(key)
  if (work === undefined) {
    work = begin(start, () => running.get(key) === work && running.delete(key))
    running.set(key, work)
  }
  return join(work, signal, onProgress)
}

function begin(start, end) {
  const controller = new AbortController()
  const listeners = new Set()
  const onProgress = (progress) => listeners.forEach((listener) => listener(progress))
  const promise = start({ signal: controller.signal, onProgress }).finally(end)
  // If all callers have left, nothing handles a rejection.
  promise.catch(() => {})
  return { controller, listeners, promise, end }
}

function join({ controller, listeners, promise, end }, signal, onProgress) {
  return new Promise((resolve, reject) => {
    const leave = () => {
      signal?.removeEventListener('abort', stop)
      if (!listeners.delete(listener) || listeners.size > 0) return
      end()
      controller.abort(new Error('no caller waits for it any more'))
    }
    const fail = (reason) => {
      reject(reason)
      leave()
    }
    const stop = () => fail(signal.reason)
    const listener = (progress) => {
      try {
        onProgress?.({ ...progress })
      } catch (thrown) {
        fail(thrown)
      }
    }
    listeners.add(listener)
    signal?.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(leave)
  })
}

module.exports = { shared }
