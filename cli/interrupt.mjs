// Signals that end a command. The first one lets it clean up for a few seconds; a second one of any
// kind ends the process at once.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const { endsSoon } = require('../lib/waits.js')

/** The signals, with the exit codes of a shell. */
export const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

/**
 * Calls `act` with the exit code of the first signal. After that, and after a call of the function
 * that is returned, signals end the process as before.
 *
 * @param {(status: number) => void} act
 */
export function onFirstSignal(act) {
  const before = Object.keys(SIGNALS).map((signal) => ({
    signal,
    listeners: process.listeners(/** @type {any} */ (signal)),
  }))
  const putBack = () => {
    for (const { signal, listeners } of before) {
      process.removeAllListeners(signal)
      for (const listener of listeners) process.on(signal, listener)
    }
  }
  for (const [signal, status] of Object.entries(SIGNALS)) {
    process.removeAllListeners(signal)
    process.on(signal, () => {
      putBack()
      act(status)
    })
  }
  return putBack
}

/**
 * Runs work that the first signal aborts, and then ends the process with the signal's exit code:
 * when the work has ended, after a few seconds at the latest.
 *
 * @template Result
 * @param {(signal: AbortSignal) => Promise<Result>} work
 * @param {() => void} [onInterrupted] called when the work has ended because of a signal
 * @returns {Promise<Result>}
 */
export async function interruptible(work, onInterrupted = () => {}) {
  const controller = new AbortController()
  const { signal } = controller
  /** @type {number | undefined} */
  let status
  const putBack = onFirstSignal((code) => {
    status = code
    controller.abort(new Error('the command was interrupted'))
  })
  try {
    return await endsSoon(() => work(signal), signal)
  } finally {
    putBack()
    if (status !== undefined) {
      onInterrupted()
      process.exit(status)
    }
  }
}
