'use strict'

// Loads optional packages, which only some calls need.

const { error } = require('./errors.js')

/** Returns the result of `load`. If the package is missing, the error says how to install it. */
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
