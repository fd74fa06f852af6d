'use strict'

// Packages that only some calls need, and that npm does not install by itself.

const { error } = require('./errors.js')

/** What `load` gives; where the package is not installed, an error that says how to get it. */
async function optional(load, name, caller) {
  try {
    return await load()
  } catch (cause) {
    const isMissing = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(cause?.code) && cause.message.includes(name)
    if (!isMissing) throw cause
    const message = `${caller} needs the package ${name}, which is not installed: run "npm install ${name}"`
    throw error('ERR_TOKENLANE_PACKAGE_MISSING', message, { cause })
  }
}

module.exports = { optional }
