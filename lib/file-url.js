'use strict'

// Paths of file: URLs. Only for Node: the browser's sources.js has a function of its own.

const { fileURLToPath } = require('node:url')

const { wrongValue } = require('./errors.js')

/** Converts the URL of the argument `name` to a path. */
function pathOfUrl(name, url) {
  try {
    return fileURLToPath(url)
  } catch {
    throw wrongValue(name, 'a file: URL of a path on this machine', url.href)
  }
}

module.exports = { pathOfUrl }
