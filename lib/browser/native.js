'use strict'

// The addon as WebAssembly, in place of ../native.js. It loads asynchronously: start.mjs fills this in before anything of
// the package runs.

module.exports = {}
