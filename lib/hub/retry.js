'use strict'

// Repeats requests after temporary failures.

const { pause } = require('../waits.js')
const { isTemporary } = require('./errors.js')

/**
 * Waits before the next attempt: as long as the hub requests, else 0.2 s, 0.6 s, 1.8 s. Rejects
 * with the signal's reason.
 */
function delay(failures, { retryAfter }, signal) {
  return pause(retryAfter === undefined ? 200 * 3 ** (failures - 1) : retryAfter * 1e3, signal)
}

/** Returns the result of `work`, which is called at most `attempts` times. */
async function retry(work, attempts, signal) {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (failure) {
      if (failures >= attempts || signal?.aborted || !isTemporary(failure)) throw failure
      await delay(failures, failure, signal)
    }
  }
}

module.exports = { delay, retry }
