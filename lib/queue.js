'use strict'

// The queue of batches and loads of one JavaScript thread. src/queue.rs keeps the order across all
// threads of the process; this file has the tasks of this thread, and handles their AbortSignals.
//
// Code of the caller runs here: getters of texts and signals, and methods of built-in prototypes
// that a program replaced. Whatever it throws rejects its own call, and the queue goes on.

const { error } = require('./errors.js')
const { limits } = require('./limits.js')
const { List } = require('./list.js')
const native = require('./native.js')
const { watch } = require('./signals.js')

/** The interval in milliseconds at which a thread polls while other threads have the permits. */
const POLL_INTERVAL = 1

// Captured at load time: a test of the user may replace the global by a timer that never fires.
const { setTimeout } = globalThis

const waiting = new List()
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
async function enqueue(start, { signal, onWait } = {}) {
  if (signal?.aborted) {
    totals.aborted++
    throw signal.reason
  }
  /** @type {any} */
  const task = { start, queueEntry: native.enqueue(), isLater: false, isAborted: false }
  try {
    return await new Promise((resolve, reject) => {
      Object.assign(task, { resolve, reject, unwatch: signal && watch(signal, () => abort(task, signal)) })
      join(task, onWait)
      task.isLater = true
    })
  } catch (failure) {
    leave(task)
    throw failure === task.laterFailure ? atCaller(failure) : failure
  }
}

function join(task, onWait) {
  waiting.push(task)
  startNext()
  if (!waiting.has(task)) return
  try {
    if (waiting.size > limits.maxQueuedBatches) throw queueFull()
    onWait?.()
  } catch (failure) {
    totals.refused++
    leave(task)
    settle(task, task.reject, failure)
  }
}

/**
 * An error of the addon has no stack if the task failed on another thread. This one, captured where
 * the failed task continues, has the async functions that wait for it. Costs nothing otherwise.
 */
function atCaller(failure) {
  if (failure instanceof Error && /^ERR_TOKENLANE_/.test(/** @type {any} */ (failure).code))
    Error.captureStackTrace?.(failure, enqueue)
  return failure
}

function abort(task, signal) {
  totals.aborted++
  task.isAborted = true
  leave(task)
  try {
    settle(task, task.reject, signal.reason)
  } catch (failure) {
    settle(task, task.reject, failure)
  }
  startNext()
}

/** Takes a task out of both queues; if it runs, it is cancelled. */
function leave(task) {
  waiting.remove(task)
  try {
    native.leaveQueue(task.queueEntry)
  } catch {
    // The addon forgets the entry when it is collected.
  }
}

/** Settles the promise of a task with a function of it: `resolve` or `reject`. */
function settle(task, how, value) {
  const { unwatch } = task
  task.unwatch = undefined
  if (how === task.reject && task.isLater && !task.isAborted) task.laterFailure = value
  try {
    unwatch?.()
  } catch (failure) {
    return task.reject(failure)
  }
  how(value)
}

function queueFull() {
  const max = limits.maxQueuedBatches
  return error('ERR_TOKENLANE_QUEUE_FULL', `the queue is full: ${max} batches wait already (limits.maxQueuedBatches)`)
}

function startNext() {
  for (let task = waiting.first; task !== undefined; task = waiting.first) {
    try {
      if (!native.tryStart(task.queueEntry)) break
      waiting.remove(task)
      launch(task)
    } catch (failure) {
      leave(task)
      settle(task, task.reject, failure)
    }
  }
  // A thread that runs all tasks of the process need not poll: the end of one starts the next.
  if (waiting.size > 0 && running < native.maxRunning() && timer === undefined) {
    timer = setTimeout(() => {
      timer = undefined
      startNext()
    }, POLL_INTERVAL)
  }
}

function launch(task) {
  const result = task.start(task.queueEntry)
  running++
  totals.started++
  finish(task, result)
}

async function finish(task, result) {
  try {
    settle(task, task.resolve, await result)
  } catch (failure) {
    settle(task, task.reject, failure)
  } finally {
    running--
    // If the call failed before the addon ran it, its entry is still in the queue.
    leave(task)
    startNext()
  }
}

/** The state of this thread's queue, and what happened since it was loaded. */
const queue = Object.freeze({ stats: () => ({ waiting: waiting.size, running, ...totals }) })

module.exports = { enqueue, queue }
