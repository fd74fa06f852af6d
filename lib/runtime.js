'use strict'

// Functions that depend on the JavaScript runtime. packages/web/src/runtime.mjs replaces this file.

const { types } = require('node:util')

// Captured at load time: a test of the user may replace the global by a timer that never fires.
const { setImmediate } = globalThis

module.exports = {
  /** Whether a value is a Proxy. */
  isProxy: types.isProxy,

  /** The number of bytes of a string in UTF-8. */
  byteLength: Buffer.byteLength,

  /** Calls back in the next iteration of the event loop. */
  nextTurn: (callback) => void setImmediate(callback),

  /**
   * The available memory in bytes. A container can have less than the machine; `constrainedMemory`
   * returns 0, or more than the machine has, if there is no limit.
   */
  systemMemory: () => Math.min(require('node:os').totalmem(), process.constrainedMemory?.() || Infinity),

  /** The used bytes of V8's heap. */
  heapBytes: () => process.memoryUsage().heapUsed,

  /**
   * Returns V8's function `gc`. V8 adds it to contexts that are created while the flag
   * `--expose-gc` is set. Where the process did not set it, it is set for the time of one context.
   * In other runtimes the result does nothing.
   */
  findGc() {
    try {
      const v8 = require('node:v8')
      const vm = require('node:vm')
      const gcOfNewContext = () => vm.runInNewContext('globalThis.gc')
      const exposedGc = gcOfNewContext()
      if (typeof exposedGc === 'function') return exposedGc
      v8.setFlagsFromString('--expose-gc')
      try {
        const gc = gcOfNewContext()
        if (typeof gc === 'function') return gc
      } finally {
        v8.setFlagsFromString('--no-expose-gc')
      }
    } catch {
      // Not V8, or flags cannot be set.
    }
    return () => {}
  },
}
