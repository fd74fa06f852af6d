'use strict'

/**
 * The own enumerable entries of an object. Object.entries and the spread syntax take quadratic time
 * in V8 for some objects with many keys that are integers, which a client can choose.
 */
const entriesOf = (object) => Object.keys(object).map((key) => [key, object[key]])

module.exports = { entriesOf }
