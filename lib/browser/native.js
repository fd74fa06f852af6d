'use strict'

// Replaces ../native.js in browsers. The WebAssembly addon loads asynchronously, so start.mjs adds
// its functions to this object before the rest of the package runs.

/** @type {Record<string, any>} */
const native = {}

module.exports = native
