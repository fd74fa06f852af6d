'use strict'

// Waits for what may never come: an answer of a server, of a store or of Redis. Each has a signal
// that ends it, or a limit of time. What was waited for goes on; its failure is ignored then.

const { AsyncLocalStorage } = require('node:async_hooks')

const { watch } = require('./signals.js')

/**
 * The signals of the work that runs, for waits and requests that know nothing of it: `use` aborts
 * with the signal of its caller, `end` when nobody waits for the work any more.
 *
 * @type {AsyncLocalStorage<{ use: AbortSignal | undefined, end: AbortSignal | undefined }>}
 */
const signalsOfWork = new AsyncLocalStorage()

/**
 * Time in milliseconds that work has to clean up after its signal has aborted. Then nobody waits
 * for it any more.
 */
const END_MS = 5000

/** The longest time in milliseconds of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Runs work that `signal` ends. Rejects with the signal's reason if the work has not ended some
 * time after that. Requests end with the work, so that the process can end too.
 *
 * @template Result
 * @param {() => Promise<Result>} run
 * @param {AbortSignal | undefined} signal
 * @param {number} [milliseconds]
 */
async function endsSoon(run, signal, milliseconds = END_MS) {
  const use = new AbortController()
  const end = new AbortController()
  const onAbort = () => use.abort(signal?.reason)
  let forget = () => {}
  if (signal?.aborted) onAbort()
  else if (signal !== undefined) forget = watch(signal, onAbort)
  const work = signalsOfWork.run({ use: use.signal, end: end.signal }, run)
  try {
    return await left(work, signal, milliseconds)
  } finally {
    forget()
    for (const controller of [use, end]) controller.abort(signal?.reason)
  }
}

/**
 * The result of work; rejects with the signal's reason some time after it aborts.
 *
 * @template Result
 * @param {Promise<Result>} work
 * @param {AbortSignal | undefined} signal
 * @param {number} milliseconds 0: at once
 * @returns {Promise<Result>}
 */
function left(work, signal, milliseconds) {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    let timer
    const leave = () => reject(signal.reason)
    const onAbort = () => {
      if (milliseconds === 0) leave()
      else timer = setTimeout(leave, milliseconds)
    }
    let forget = () => {}
    if (signal.aborted) onAbort()
    else forget = watch(signal, onAbort)
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      forget()
    })
  })
}

/**
 * The result of work; rejects with the signal's reason once it aborts.
 *
 * @template Result
 * @param {Promise<Result>} work
 * @param {AbortSignal | undefined} signal
 */
const untilAborted = (work, signal) => left(work, signal, 0)

/**
 * The result of a wait; rejects once the signal of {@link endsSoon} aborts that this runs in. So do
 * its requests.
 *
 * @template Result
 * @param {() => Promise<Result>} run
 */
function untilEnded(run) {
  const use = signalsOfWork.getStore()?.use
  return untilAborted(signalsOfWork.run({ use, end: use }, run), use)
}

/**
 * The result of a wait; rejects once nobody waits for the work any more that this runs in.
 *
 * @template Result
 * @param {Promise<Result>} work
 */
const untilLeft = (work) => untilAborted(work, signalsOfWork.getStore()?.end)

/**
 * The signal that ends a request which starts now: that of the work, or, once this has aborted,
 * the end of the time to clean up.
 */
function signalOfRequest() {
  const signals = signalsOfWork.getStore()
  return signals?.use?.aborted ? signals.end : signals?.use
}

/**
 * The result of work; rejects with `late()` if there is none after some time.
 *
 * @template Result
 * @param {Promise<Result>} work
 * @param {number} milliseconds
 * @param {() => any} late
 */
async function within(work, milliseconds, late) {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(late()), Math.min(milliseconds, MAX_TIMER_MS))
  try {
    return await untilAborted(work, limit.signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits some time; rejects with the signal's reason once it aborts, which by default is that of a
 * request that starts now.
 */
async function pause(milliseconds, signal = signalOfRequest()) {
  let timer
  try {
    await untilAborted(new Promise((resolve) => (timer = setTimeout(resolve, milliseconds))), signal)
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { END_MS, endsSoon, pause, signalOfRequest, untilAborted, untilEnded, untilLeft, within }
