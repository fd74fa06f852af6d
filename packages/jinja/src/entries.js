'use strict'

/**
 * The own enumerable entries of an object. Object.entries and the spread syntax take quadratic time
 * in V8 for some objects with many keys that are integers, which a client can choose.
 */
function entriesOf(object) {
  const keys = Object.keys(object)
  return keys.length < FEW ? Object.entries(object) : keys.map((key) => [key, object[key]])
}

/** Below this number of keys Object.entries is faster, whatever they are. */
const FEW = 32

module.exports = { entriesOf }
