// Signals that end a command. A command that has to clean up first ends at the second one.

/** The signals, with the exit codes of a shell. */
export const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

/**
 * Runs work that the first signal aborts, and then ends the process with the signal's exit code.
 *
 * @template Result
 * @param {(signal: AbortSignal) => Promise<Result>} work
 * @param {() => void} [onInterrupted] called when the work has ended because of a signal
 * @returns {Promise<Result>}
 */
export async function interruptible(work, onInterrupted = () => {}) {
  const controller = new AbortController()
  /** @type {number | undefined} */
  let status
  const restore = Object.entries(SIGNALS).map(([signal, code]) => {
    const before = process.listeners(/** @type {NodeJS.Signals} */ (signal))
    const putBack = () => {
      process.removeAllListeners(signal)
      for (const listener of before) process.on(signal, listener)
    }
    process.removeAllListeners(signal)
    process.on(signal, () => {
      status = code
      putBack()
      controller.abort(new Error('the command was interrupted'))
    })
    return putBack
  })
  try {
    return await work(controller.signal)
  } finally {
    for (const putBack of restore) putBack()
    if (status !== undefined) {
      onInterrupted()
      process.exit(status)
    }
  }
}
