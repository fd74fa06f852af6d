'use strict'

// Errors of the drop-ins. Messages equal those of the replaced library where programs may match
// them; every error also has a tokenlane code.

const withCode = (thrown, code) => Object.assign(thrown, { code })

const error = (code, message, options) => withCode(new Error(message, options), `ERR_TOKENLANE_${code}`)
const typeError = (message) => withCode(new TypeError(message), 'ERR_TOKENLANE_ARGUMENT_TYPE')

/** An error for a feature of the replaced library that tokenlane does not have. */
const notCovered = (what) =>
  error('UNSUPPORTED', `tokenlane's drop-in does not have ${what}; docs/drop-ins.md lists what it has`)

module.exports = { error, typeError, notCovered }
