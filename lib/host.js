'use strict'

// The functions that depend on the runtime. Bundlers for browsers replace this file by
// browser/host.js (see the field `browser` of package.json).

const { fileURLToPath } = require('node:url')

const native = require('./native.js')
const { encodingPath } = require('./package-root.js')

// Captured at load time: a test of the user may replace the global by a timer that never fires.
const { setImmediate } = globalThis

module.exports = {
  fileURLToPath,
  byteLength: Buffer.byteLength,
  nextTurn: (callback) => void setImmediate(callback),

  loadFile: (turn, file, options) => native.loadFile(turn, file, options),
  loadFileSync: (file, options) => native.loadFileSync(file, options),
  loadEncoding: (turn, file, options) => native.loadFile(turn, encodingPath(file), options),
  loadEncodingSync: (file, options) => native.loadFileSync(encodingPath(file), options),

  // These modules load on first use.
  get beside() {
    return require('./chat/beside.js')
  },
  get model() {
    return require('./model/folder.js')
  },
  get hub() {
    return require('./hub/pretrained.js')
  },
  get hubOptions() {
    return require('./hub/options.js')
  },

  /**
   * The available memory in bytes. A container can have less than the machine; `constrainedMemory`
   * returns 0, or more than the machine has, if there is no limit.
   */
  systemMemory: () => Math.min(require('node:os').totalmem(), process.constrainedMemory?.() || Infinity),

  heapBytes: () => process.memoryUsage().heapUsed,

  /**
   * Returns V8's function `gc`. V8 adds it to contexts that are created while the flag is set. In
   * other runtimes the result does nothing.
   */
  findGc() {
    try {
      const v8 = require('node:v8')
      const vm = require('node:vm')
      v8.setFlagsFromString('--expose-gc')
      const found = vm.runInNewContext('gc')
      v8.setFlagsFromString('--no-expose-gc')
      if (typeof found === 'function') return found
    } catch {
      // Not V8, or flags cannot be set.
    }
    return () => {}
  },
}
