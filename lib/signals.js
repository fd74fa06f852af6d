'use strict'

// What happens when an AbortSignal aborts. A service may have one signal for all calls, so each
// signal has one listener, whatever the number of calls and streams. Built-in methods are captured
// at load time, because a program may replace them.

const { List } = require('./list.js')

const { apply } = Reflect
const { get, set, delete: forget } = WeakMap.prototype

/** For each signal, what it calls, and the only listener for all of them. */
const watched = new WeakMap()

/**
 * Calls `act` when the signal aborts. Returns a function that ends this.
 *
 * @param {AbortSignal} signal
 * @param {() => void} act must not throw
 */
function watch(signal, act) {
  let entry = apply(get, watched, [signal])
  if (entry === undefined) {
    const acts = new List()
    const onAbort = () => {
      for (let link = acts.first; link !== undefined; link = acts.first) {
        acts.remove(link)
        link.act()
      }
      apply(forget, watched, [signal])
      signal.removeEventListener('abort', onAbort)
    }
    entry = { acts, onAbort }
    signal.addEventListener('abort', onAbort)
    apply(set, watched, [signal, entry])
  }
  const { acts, onAbort } = entry
  const link = { act }
  acts.push(link)
  return () => {
    if (!acts.has(link)) return
    acts.remove(link)
    if (acts.size > 0) return
    apply(forget, watched, [signal])
    signal.removeEventListener('abort', onAbort)
  }
}

module.exports = { watch }
