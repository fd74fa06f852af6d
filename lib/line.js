'use strict'

// The line that batches and loads stand in, as one JS thread sees it. src/line.rs keeps the order of the whole process;
// here is who waits in this thread, and what an AbortSignal does to them.

const { error } = require('./errors.js')
const { limits } = require('./limits.js')
const native = require('./native.js')

/** As many as run at a time in the process: with that many of its own, a thread need not ask for more. */
const MOST = 2

/** How long to wait before asking again while other threads hold the places, in milliseconds. */
const ASK_AGAIN = 1

// Taken now: a test of the user's may replace it with one that never fires.
const { setTimeout } = globalThis

const waiting = []
let running = 0
let timer

/**
 * Calls `start(turn)` when its turn has come; it returns the addon's promise. The promise given back settles like that
 * one, or is rejected with `signal.reason` as soon as the signal aborts. `onWait` is called if the turn is not now.
 */
function inLine(start, { signal, onWait } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const turn = native.joinLine()
    const job = { turn, start, resolve: settle(resolve), reject: settle(reject) }
    const onAbort = () => {
      native.leaveLine(turn)
      const place = waiting.indexOf(job)
      if (place !== -1) waiting.splice(place, 1)
      job.reject(signal.reason)
      next()
    }
    function settle(how) {
      return (value) => {
        signal?.removeEventListener('abort', onAbort)
        how(value)
      }
    }
    signal?.addEventListener('abort', onAbort)
    waiting.push(job)
    next()
    if (!waiting.includes(job)) return
    try {
      if (waiting.length > limits.maxQueuedBatches) throw queueFull()
      onWait?.()
    } catch (error) {
      waiting.splice(waiting.indexOf(job), 1)
      native.leaveLine(turn)
      job.reject(error)
    }
  })
}

function queueFull() {
  const many = limits.maxQueuedBatches
  return error('ERR_TOKENLANE_QUEUE_FULL', `${many} batches wait already, and that is limits.maxQueuedBatches`)
}

function next() {
  while (waiting.length > 0 && native.mayStart(waiting[0].turn)) launch(waiting.shift())
  if (waiting.length > 0 && running < MOST && timer === undefined) {
    timer = setTimeout(() => {
      timer = undefined
      next()
    }, ASK_AGAIN)
  }
}

function launch(job) {
  let work
  try {
    work = job.start(job.turn)
  } catch (error) {
    native.leaveLine(job.turn)
    job.reject(error)
    return
  }
  running++
  const ended = (settle) => (value) => {
    running--
    settle(value)
    next()
  }
  work.then(ended(job.resolve), ended(job.reject))
}

module.exports = { inLine }
