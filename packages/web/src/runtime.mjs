// Replaces lib/runtime.js.

import { errors } from 'tokenlane/internal/base.js'

// Edge runtimes lack some of these, or have ones that throw. A timer may wait for milliseconds.
const TURNS = [
  (callback) => void setImmediate(callback),
  (callback) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      callback()
    }
    port2.postMessage(undefined)
  },
  (callback) => void setTimeout(callback, 0),
]

/** Calls back in the next iteration of the event loop. */
export function nextTurn(callback) {
  for (;;) {
    try {
      return TURNS[0](callback)
    } catch (failure) {
      if (TURNS.length === 1 || errors.isStackOverflow(failure)) throw failure
      TURNS.shift()
    }
  }
}

/** Unknown: Proxies of arrays are refused. */
export const isProxy = () => false

const encoder = new TextEncoder()
export const byteLength = (text) => encoder.encode(text).length
