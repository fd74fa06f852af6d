'use strict'

// Errors of the drop-ins: the words of the library that is replaced, where its users see them, and a code.

const withCode = (thrown, code) => Object.assign(thrown, { code })

const error = (code, message, options) => withCode(new Error(message, options), `ERR_TOKENLANE_${code}`)
const typeError = (message) => withCode(new TypeError(message), 'ERR_TOKENLANE_ARGUMENT_TYPE')

/** What the other library has and this one does not. */
const notCovered = (what) => error('UNSUPPORTED', `tokenlane's drop-in does not have ${what}; docs/drop-ins.md says what it has`)

module.exports = { error, typeError, notCovered }
