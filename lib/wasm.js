'use strict'

// Completes the WebAssembly addon in Node.

const os = require('node:os')
const path = require('node:path')

/** WebAssembly cannot query the number of processors or the current folder of the process. */
function complete(native) {
  native.setProcessors(os.availableParallelism())
  const { loadFile, loadFileSync } = native
  native.loadFile = (queueEntry, file, options) => loadFile(queueEntry, path.resolve(file), options)
  native.loadFileSync = (file, options) => loadFileSync(path.resolve(file), options)
}

module.exports = { complete }
