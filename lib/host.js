'use strict'

// What the package asks of what it runs on. Browsers have browser/host.js instead: package.json says so.

const path = require('node:path')
const { fileURLToPath } = require('node:url')

const native = require('./native.js')

const ENCODINGS = path.join(__dirname, '..', 'encodings')

module.exports = {
  fileURLToPath,
  byteLength: Buffer.byteLength,

  loadFile: (turn, file, told) => native.loadFile(turn, file, told),
  loadFileSync: (file, told) => native.loadFileSync(file, told),
  loadEncoding: (turn, file, told) => native.loadFile(turn, path.join(ENCODINGS, file), told),
  loadEncodingSync: (file, told) => native.loadFileSync(path.join(ENCODINGS, file), told),

  // Loaded by the first call that needs them.
  get beside() {
    return require('./chat/beside.js')
  },
  get hub() {
    return require('./hub/pretrained.js')
  },
  get hubOptions() {
    return require('./hub/options.js')
  },

  /** How many bytes of memory there are. A container may have less than the machine; 0, or more than the machine has, stands for no limit. */
  memoryThere: () => Math.min(require('node:os').totalmem(), process.constrainedMemory?.() || Infinity),

  /** V8's own `gc`, which it shows to contexts that are made while a flag is set. A runtime without it collects when it likes. */
  findGc() {
    try {
      const v8 = require('node:v8')
      const vm = require('node:vm')
      v8.setFlagsFromString('--expose-gc')
      const found = vm.runInNewContext('gc')
      v8.setFlagsFromString('--no-expose-gc')
      if (typeof found === 'function') return found
    } catch {
      // Not V8, or one that does not let its flags be set.
    }
    return () => {}
  },
}
