'use strict'

// What the addon cannot know when it is WebAssembly, in Node.

const os = require('node:os')
const path = require('node:path')

/** WebAssembly knows neither how many processors there are nor the folder that the process is in. */
function complete(native) {
  native.setProcessors(os.availableParallelism())
  const { loadFile, loadFileSync } = native
  native.loadFile = (turn, file, told) => loadFile(turn, path.resolve(file), told)
  native.loadFileSync = (file, told) => loadFileSync(path.resolve(file), told)
}

module.exports = { complete }
