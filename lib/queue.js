'use strict'

// The queue of batches and loads of one JavaScript thread. src/queue.rs keeps the order across all
// threads of the process; this file has the tasks of this thread, and handles their AbortSignals.

const { error } = require('./errors.js')
const { limits } = require('./limits.js')
const native = require('./native.js')

/**
 * Number of tasks that run at once in the process. A thread that runs all of them need not poll.
 */
const MAX_RUNNING = 2

/** The interval in milliseconds at which a thread polls while other threads have the permits. */
const POLL_INTERVAL = 1

// Captured at load time: a test of the user may replace the global by a timer that never fires.
const { setTimeout } = globalThis

const waiting = []
let running = 0
const totals = { started: 0, refused: 0, aborted: 0 }
let timer

/**
 * Calls `start(queueEntry)` when a permit is free; `start` returns the promise of the addon. The
 * returned promise settles like that one, or rejects with `signal.reason` as soon as the signal
 * aborts. `onWait` is called if the task has to wait.
 *
 * @param {(queueEntry: object) => Promise<any>} start
 * @param {{ signal?: AbortSignal, onWait?: () => void }} [options]
 * @returns {Promise<any>}
 */
function enqueue(start, { signal, onWait } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      totals.aborted++
      return reject(signal.reason)
    }
    const queueEntry = native.enqueue()
    const task = { queueEntry, start, resolve: settle(resolve), reject: settle(reject) }
    const onAbort = () => {
      totals.aborted++
      native.leaveQueue(queueEntry)
      const index = waiting.indexOf(task)
      if (index !== -1) waiting.splice(index, 1)
      task.reject(signal.reason)
      startNext()
    }
    function settle(how) {
      return (value) => {
        signal?.removeEventListener('abort', onAbort)
        how(value)
      }
    }
    signal?.addEventListener('abort', onAbort)
    waiting.push(task)
    startNext()
    if (!waiting.includes(task)) return
    try {
      if (waiting.length > limits.maxQueuedBatches) throw queueFull()
      onWait?.()
    } catch (error) {
      totals.refused++
      waiting.splice(waiting.indexOf(task), 1)
      native.leaveQueue(queueEntry)
      task.reject(error)
    }
  })
}

function queueFull() {
  const max = limits.maxQueuedBatches
  return error('ERR_TOKENLANE_QUEUE_FULL', `the queue is full: ${max} batches wait already (limits.maxQueuedBatches)`)
}

function startNext() {
  while (waiting.length > 0 && native.tryStart(waiting[0].queueEntry)) launch(waiting.shift())
  if (waiting.length > 0 && running < MAX_RUNNING && timer === undefined) {
    timer = setTimeout(() => {
      timer = undefined
      startNext()
    }, POLL_INTERVAL)
  }
}

function launch(task) {
  let result
  try {
    result = task.start(task.queueEntry)
  } catch (error) {
    native.leaveQueue(task.queueEntry)
    task.reject(error)
    return
  }
  running++
  totals.started++
  const ended = (settle) => (value) => {
    running--
    // If the call failed before the addon ran it, its entry is still in the queue.
    native.leaveQueue(task.queueEntry)
    settle(value)
    startNext()
  }
  result.then(ended(task.resolve), ended(task.reject))
}

/** The state of this thread's queue, and what happened since it was loaded. */
const queue = Object.freeze({ stats: () => ({ waiting: waiting.length, running, ...totals }) })

module.exports = { enqueue, queue }
