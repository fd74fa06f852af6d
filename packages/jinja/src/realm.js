'use strict'

// What an object of another realm is, such as one of a test of jest, follows from its internal
// slots: `instanceof` does not recognize it. The getters that read them are captured here.

const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect

const byteLength = getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength')?.get
const mapSize = getOwnPropertyDescriptor(Map.prototype, 'size')?.get

/** Whether a value has the internal slot that a getter reads. */
function hasSlot(get, value) {
  try {
    apply(get, value, [])
    return true
  } catch {
    return false
  }
}

const isArrayBuffer = (value) => hasSlot(byteLength, value)
const isMap = (value) => hasSlot(mapSize, value)

/**
 * Whether an object is a literal, of any realm, or has no prototype. Such an object is no Map and
 * no buffer, whose check would throw and catch an exception for each.
 */
function isPlainObject(value) {
  const prototype = getPrototypeOf(value)
  return prototype === null || getPrototypeOf(prototype) === null
}

module.exports = { isArrayBuffer, isMap, isPlainObject }
