'use strict'

// Work that waits for files or for the addon, written once for synchronous and asynchronous calls:
// a generator that yields its steps, each in both forms.

const { nextTurn } = require('./runtime.js')

/**
 * A step of such work.
 *
 * @param {() => any} now does it, and blocks the event loop
 * @param {() => any} later begins it, and returns a promise of its result
 */
const step = (now, later) => ({ now, later })

/**
 * The result of work, whose steps block the event loop.
 *
 * @param {Generator<any, any, any>} work
 */
function runNow(work) {
  let { done, value } = work.next()
  while (!done) {
    let result
    try {
      result = value.now()
    } catch (failure) {
      ;({ done, value } = work.throw(failure))
      continue
    }
    ;({ done, value } = work.next(result))
  }
  return value
}

/**
 * A promise of the result of work.
 *
 * @param {Generator<any, any, any>} work
 */
async function run(work) {
  let { done, value } = work.next()
  while (!done) {
    let result
    try {
      result = await value.later()
    } catch (failure) {
      ;({ done, value } = work.throw(failure))
      continue
    }
    ;({ done, value } = work.next(result))
  }
  return value
}

/** Entries that are read before the event loop has its turn: about a millisecond. */
const ENTRIES = 16_384
const TURN = step(
  () => {},
  () => new Promise((resolve) => nextTurn(() => resolve(undefined))),
)

/**
 * Work that reads each of many entries of a file.
 *
 * @param {number} count
 * @param {(index: number) => void} read
 */
function* inTurns(count, read) {
  for (let index = 0; index < count; index++) {
    read(index)
    if ((index + 1) % ENTRIES === 0) yield TURN
  }
}

module.exports = { ENTRIES, TURN, inTurns, run, runNow, step }
