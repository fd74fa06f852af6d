'use strict'

// The sources of tokenizers: files, the bundled encodings, and the hub. Bundlers for browsers
// replace this file by browser/sources.js (see the field `browser` of package.json).

const path = require('node:path')

const native = require('./native.js')
const { encodingPath } = require('./package-root.js')

module.exports = {
  loadFile: (queueEntry, file, options) => native.loadFile(queueEntry, file, options),
  loadFileSync: (file, options) => native.loadFileSync(file, options),
  loadEncoding: (queueEntry, file, options) => native.loadFile(queueEntry, encodingPath(file), options),
  loadEncodingSync: (file, options) => native.loadFileSync(encodingPath(file), options),

  folderOf: (file) => path.dirname(file),

  // These modules load on first use.
  get pathOfUrl() {
    return require('./file-url.js').pathOfUrl
  },
  get chatFiles() {
    return require('./chat/chat-files.js')
  },
  get ggufFile() {
    return require('./model/gguf/file.js')
  },
  get modelFolder() {
    return require('./model/folder.js')
  },
  get fromConfigs() {
    return require('./model/from-configs.js').fromConfigs
  },
  get hub() {
    return require('./hub/pretrained.js')
  },
  get hubOptions() {
    return require('./hub/options.js')
  },
}
