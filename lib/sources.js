'use strict'

// The sources of tokenizers: files, the bundled encodings, and the hub.
// packages/web/src/sources.mjs replaces this file.

const path = require('node:path')

const { later } = require('./later.js')
const native = require('./native.js')
const { encodingPath } = require('./package-root.js')

module.exports = later(
  {
    pathOfUrl: () => require('./file-url.js').pathOfUrl,
    chatFiles: () => require('./chat/chat-files.js'),
    ggufFile: () => require('./model/gguf/file.js'),
    modelFolder: () => require('./model/folder.js'),
    fromConfigs: () => require('./model/from-configs.js').fromConfigs,
    hub: () => require('./hub/pretrained.js'),
    hubOptions: () => require('./hub/options.js'),
  },
  {
    loadFile: (queueEntry, file, options) => native.loadFile(queueEntry, file, options),
    loadFileSync: (file, options) => native.loadFileSync(file, options),
    loadEncoding: (queueEntry, file, options) => native.loadFile(queueEntry, encodingPath(file), options),
    loadEncodingSync: (file, options) => native.loadFileSync(encodingPath(file), options),

    folderOf: (file) => path.dirname(file),
  },
)
