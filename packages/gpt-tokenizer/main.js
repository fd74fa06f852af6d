'use strict'

// Not `module.exports =`, because the typings have a default export beside the names. Node finds
// the names by the name of this function, which is that of TypeScript's.
const __exportStar = (from, to) => Object.defineProperties(to, Object.getOwnPropertyDescriptors(from))

__exportStar(require('./encoding/o200k_base.js'), exports)
