'use strict'

// Objects of other realms. A context of node:vm has built-in classes of its own, and so has each
// test file of jest: `instanceof` does not recognize their objects, so what an object is follows
// from its internal slots. They can be read by the built-in getters of any realm, which are
// captured here before a program could replace them.

const { apply, getPrototypeOf, getOwnPropertyDescriptor } = Reflect

const getter = (prototype, name) => getOwnPropertyDescriptor(prototype, name)?.get
const typedArrayName = getter(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
const typedArrayBuffer = getter(getPrototypeOf(Uint8Array.prototype), 'buffer')
const byteLength = getter(ArrayBuffer.prototype, 'byteLength')
const isResizable = getter(ArrayBuffer.prototype, 'resizable')
const mapSize = getter(Map.prototype, 'size')

/** The name of a typed array's class, or undefined for other values. */
const nameOf = (value) => apply(typedArrayName, value, [])

const isUint8Array = (value) => nameOf(value) === 'Uint8Array'
const isUint32Array = (value) => nameOf(value) === 'Uint32Array'

/** Whether a value has the internal slot that a getter reads. */
function hasSlot(get, value) {
  try {
    apply(get, value, [])
    return true
  } catch {
    return false
  }
}

/** Array.isArray, which throws for a revoked Proxy. */
function isArray(value) {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

/** Whether a value is a revoked Proxy, with which nothing can be done. */
function isRevoked(value) {
  try {
    Array.isArray(value)
    return false
  } catch {
    return true
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

const { toString: tagOf } = Object.prototype
/** Whether an object says so of itself. Reading a slot that it lacks is much slower. */
const isTagged = (value, name) => apply(tagOf, value, []) === `[object ${name}]`

const isBytes = (value) => ArrayBuffer.isView(value) || (isTagged(value, 'ArrayBuffer') && isArrayBuffer(value))

/** The functions that read the primitive in an object such as `new String('x')`, by its class. */
const PRIMITIVES = Object.fromEntries(
  [String, Number, Boolean, BigInt, Symbol].map(({ name, prototype }) => [name, prototype.valueOf]),
)

/** The primitive in an object such as `new String('x')`; another object stays. */
function unboxed(value) {
  const name = Object.keys(PRIMITIVES).find((one) => isTagged(value, one) && hasSlot(PRIMITIVES[one], value))
  return name === undefined ? value : apply(PRIMITIVES[name], value, [])
}

/** Whether a typed array has bytes in a buffer that is not detached, shared or resizable. */
function hasPlainBuffer(bytes) {
  const buffer = apply(typedArrayBuffer, bytes, [])
  if (!isArrayBuffer(buffer) || apply(byteLength, buffer, []) === 0) return false
  return isResizable === undefined || !apply(isResizable, buffer, [])
}

/** Whether a value is a URL, by the properties for which Node's functions accept it. */
const isUrl = (value) =>
  typeof value === 'object' &&
  value !== null &&
  typeof value.href === 'string' &&
  typeof value.protocol === 'string' &&
  value.auth === undefined &&
  value.path === undefined

/** @type {Record<string, ErrorConstructor | TypeErrorConstructor | RangeErrorConstructor>} */
const ERRORS = { Error, TypeError, RangeError }

/** The properties that the addon gives to its errors. */
const DATA = ['code', 'row', 'component', 'reached', 'limit']

/** An error of the addon as an error of this realm. What a getter of the caller threw stays. */
function localError(thrown) {
  const isOwn = typeof thrown?.code === 'string' && /^ERR_TOKENLANE_/.test(thrown.code) && !(thrown instanceof Error)
  if (!isOwn) return thrown
  const made = new (ERRORS[thrown.name] ?? Error)(thrown.message)
  for (const name of DATA) if (thrown[name] !== undefined) made[name] = thrown[name]
  return made
}

/** A result of the addon as a value of this realm. The memory of a buffer is not copied. */
function localValue(value) {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Array.from(value, localValue)
  if (isUint8Array(value)) return new Uint8Array(value.buffer, value.byteOffset, value.length)
  if (isUint32Array(value)) return new Uint32Array(value.buffer, value.byteOffset, value.length)
  if (typeof value.then !== 'function') return value
  return value.then(localValue, (thrown) => {
    throw localError(thrown)
  })
}

/**
 * The functions of an addon whose realm is another one: jest loads this file in the context of each
 * test file, and the addon once, in the main context.
 */
function inThisRealm(native) {
  // The first array that the addon creates shows its realm.
  if (getPrototypeOf(native.columnNames()) === Array.prototype) return native
  const localized =
    (call) =>
    (...args) => {
      try {
        return localValue(call(...args))
      } catch (thrown) {
        throw localError(thrown)
      }
    }
  const local = { ...native }
  for (const name of Object.keys(native)) if (typeof native[name] === 'function') local[name] = localized(native[name])
  return local
}

module.exports = {
  hasPlainBuffer,
  inThisRealm,
  isArray,
  isArrayBuffer,
  isBytes,
  isMap,
  isPlainObject,
  isRevoked,
  isUint32Array,
  isUint8Array,
  isUrl,
  nameOf,
  unboxed,
}
