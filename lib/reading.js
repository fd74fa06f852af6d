'use strict'

// Reads what a caller or a stranger passed: a conversation, the body of a request, the messages of
// a client. Values are copied once, each property is read once, and nothing behind it meets an
// object of the caller, so a getter, a Proxy or a toJSON cannot answer differently to two readers.
// A copy remembers its place in what was passed, also where it becomes another message.
//
// As in JSON, an object is its own fields or what its toJSON returns, and `new String('x')` is a
// text; a Map is an object of its entries. An object that occurs twice is copied twice, so a copy
// is a tree, and a circular value is one that is too deep. Functions and symbols stay: the shape of
// a field (shape.js) refuses them, JSON leaves them out, and templates can call functions.

const { error, isStackOverflow, withCode, wrongType, wrongValue } = require('./errors.js')
const { isArray, isBytes, isMap, isPlainObject, isRevoked, unboxed } = require('./realm.js')

/** Maximum depth of a value, as of those that templates take. */
const MAX_DEPTH = 200
/** Maximum number of objects and arrays in a value. */
const MAX_OBJECTS = 1 << 19
/** This number of elements or fields counts as one further object. */
const ELEMENTS_PER_OBJECT = 64
/** Depth from which objects have no origin. */
const ORIGINS = 12
/** Maximum length of a name, and of a place, in a message. */
const MAX_NAME = 60
const MAX_PLACE = 300

/**
 * By the copy of an object, its `place`, the object of the caller (`source`), and the object whose
 * fields were copied (`written`), which a toJSON may have returned.
 *
 * @type {WeakMap<object, { place: string, source: any, written: any }>}
 */
const origins = new WeakMap()

const { propertyIsEnumerable: isEnumerable } = Object.prototype
const { forEach: forEachOfMap } = Map.prototype

/** The place of a field or an element. */
function at(place, name) {
  const key = typeof name === 'number' ? `[${name}]` : `${place === '' ? '' : '.'}${name.slice(0, MAX_NAME)}`
  return place.length > MAX_PLACE ? place : `${place}${key}`
}

/**
 * @typedef {object} Description which values are taken beside those of JSON
 * @property {(value: any) => boolean} [takes] bigints, and objects that stay as they are
 * @property {(object: any, depth: number) => any} [fieldsOf] an object with the fields that are
 *   copied of this one; undefined: those that JSON has
 */

/**
 * A copy of a value, which errors call `place`.
 *
 * @param {any} value
 * @param {string} place
 * @param {Description} [description]
 * @returns {any}
 */
function copyOf(value, place, description = {}) {
  const copying = new Copying(place, description)
  return copying.run(() => copying.copy(value, place, 0))
}

/** The fields of a body that have these names, copied. Others can hold what JSON does not. */
function fieldsOf(body, names) {
  const copying = new Copying('', {})
  return copying.run(() => {
    const fields = pick(written(body), names)
    return Object.fromEntries(names.map((name) => [name, copying.copy(fields[name], name, 0, name)]))
  })
}

/** The fields of an object that have these names; those of a class may be getters. */
function pick(object, names) {
  if (!isObject(object)) return {}
  // A program may have added names to Object.prototype.
  const isOwn = isPlainObject(object)
  return Object.fromEntries(
    names.map((name) => [name, isOwn && !Object.hasOwn(object, name) ? undefined : object[name]]),
  )
}

/** What JSON writes for an object. What a toJSON returns is not asked again. */
function written(object, key = '') {
  const { toJSON } = object
  return typeof toJSON === 'function' ? Reflect.apply(toJSON, object, [key]) : object
}

const isObject = (value) => typeof value === 'object' && value !== null

/** The error for what a getter, a toJSON or a trap of a Proxy threw. */
function unreadable(place, cause) {
  const name = place === '' ? 'the body' : place
  if (cause instanceof RangeError && isStackOverflow(cause))
    return error('ERR_TOKENLANE_CHAT_LIMIT', `${name} is nested too deeply for the stack at this place`, { cause })
  const failure = new RangeError(`${name} cannot be read: an object of the caller threw an error`, { cause })
  return withCode(failure, 'ERR_TOKENLANE_ARGUMENT_VALUE')
}

/** Sets a field, which may have the name `__proto__`. */
function setField(object, name, value) {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true })
}

class Copying {
  #takes
  #fieldsOf
  #objects = 0
  /** The place at which code of the caller runs. */
  #place
  #refusal

  /**
   * @param {string} place
   * @param {Description} description
   */
  constructor(place, { takes = () => false, fieldsOf = () => undefined }) {
    this.#place = place
    this.#takes = takes
    this.#fieldsOf = fieldsOf
  }

  /** Runs code that reads values of the caller, which may throw anything. */
  run(read) {
    try {
      return read()
    } catch (failure) {
      throw this.#refusal !== undefined && failure === this.#refusal ? failure : unreadable(this.#place, failure)
    }
  }

  #refuse(refusal) {
    this.#refusal = refusal
    throw refusal
  }

  copy(value, place, depth, key = '') {
    if (depth > MAX_DEPTH) {
      const expected = `a value that JSON can hold, nested at most ${MAX_DEPTH} deep and not circular`
      this.#refuse(wrongValue(place, expected, value))
    }
    if (typeof value === 'bigint' && !this.#takes(value))
      this.#refuse(wrongValue(place, 'a value that JSON can hold', value))
    if (!isObject(value)) return value
    this.#place = place
    if (isRevoked(value)) this.#refuse(wrongType(place, 'a value that can be read', value))
    if (isArray(value)) return this.#noted(this.#list(value, place, depth), place, depth, value, value)
    const isPlain = isPlainObject(value)
    if (!isPlain && this.#takes(value)) return value
    const fields = this.#fieldsOf(value, depth) ?? written(value, key)
    if (fields !== value && (!isObject(fields) || isRevoked(fields) || isArray(fields)))
      return this.#noted(this.copy(fields, place, depth), place, depth, value, fields)
    return this.#ofObject(fields, place, depth, value)
  }

  #ofObject(written, place, depth, source) {
    let object = written
    if (!isPlainObject(written)) {
      const primitive = unboxed(written)
      if (primitive !== written) return this.copy(primitive, place, depth)
      if (isBytes(written)) this.#refuse(wrongType(place, 'a value that JSON can hold', written))
      if (isMap(written)) object = Object.fromEntries(entriesOfMap(written))
    }
    const names = Object.keys(object)
    this.#charge(names.length, place, source)
    const copy = {}
    for (const name of names) {
      this.#place = at(place, name)
      const value = object[name]
      // What a toJSON returned may have one again, which nobody may call.
      const isField = name !== 'toJSON' || typeof value !== 'function'
      const field = isField ? this.copy(value, this.#place, depth + 1, name) : undefined
      // As in JSON, a field that is undefined is missing.
      if (field !== undefined) setField(copy, name, field)
    }
    return this.#noted(copy, place, depth, source, object)
  }

  #list(list, place, depth) {
    const { length } = list
    this.#charge(length, place, list)
    const copy = []
    // An iterator of the caller could go on for ever.
    for (let i = 0; i < length; i++) {
      this.#place = at(place, i)
      copy.push(this.copy(list[i], this.#place, depth + 1, String(i)))
    }
    return copy
  }

  #charge(elements, place, value) {
    this.#objects += 1 + elements / ELEMENTS_PER_OBJECT
    if (!(this.#objects <= MAX_OBJECTS)) this.#refuse(wrongValue(place, `within ${MAX_OBJECTS} objects in all`, value))
  }

  #noted(copy, place, depth, source, written) {
    if (depth < ORIGINS && isObject(copy)) origins.set(copy, { place, source, written })
    return copy
  }
}

/** The entries of a map; an object that is a key has no text. */
function entriesOfMap(map) {
  const entries = []
  forEachOfMap.call(map, (value, key) => void entries.push([isObject(key) ? '<object>' : String(key), value]))
  return entries
}

/**
 * A field that JSON does not have, such as a getter of a class, of the object that was copied;
 * undefined if there is none. JSON would miss it silently.
 */
function hiddenField(copy, name, place) {
  const object = origins.get(copy)?.written
  if (object === undefined) return undefined
  try {
    if (isPlainObject(object) && !Object.hasOwn(object, name)) return undefined
    return isEnumerable.call(object, name) ? undefined : object[name]
  } catch (failure) {
    throw unreadable(place, failure)
  }
}

/** Gives an object the origin of the copy that it replaces, and returns it. */
function withOrigin(object, copy) {
  const origin = origins.get(copy)
  if (origin !== undefined) origins.set(object, origin)
  return object
}

/** Gives an object that replaces a text its place, and returns it. */
function placed(object, place) {
  origins.set(object, { place, source: object, written: object })
  return object
}

/** The place of an object in what the caller passed, or `otherwise`. */
const placeOf = (object, otherwise = '') => origins.get(object)?.place ?? otherwise

/** The object of the caller. */
const sourceOf = (object) => origins.get(object)?.source ?? object

module.exports = { at, copyOf, fieldsOf, hiddenField, pick, placeOf, placed, sourceOf, withOrigin }
