'use strict'

// Reads what a stranger sent, a body or the messages of a client: values are copied once, each
// property is read once, and nothing behind it meets an object of the caller. A copy remembers its
// place in what the caller gave, also where it becomes another message.
//
// As in JSON, an object is its own fields or what its toJSON returns. Functions and symbols stay,
// because the check of a field refuses them, and JSON leaves them out.

const { refuseHidden } = require('../chat/hidden-fields.js')
const { withCode, wrongType, wrongValue } = require('../errors.js')
const { isArray, isArrayBuffer, isPlainObject, isRevoked, isUrl } = require('../realm.js')
const { entriesOf } = require('@tokenlane/jinja/internal').entries

/** Maximum depth of a value, as of those that templates take. */
const MAX_DEPTH = 200
/** Maximum number of objects and arrays; so many elements of arrays count as one. */
const MAX_OBJECTS = 1 << 19
const ELEMENTS_PER_OBJECT = 64
/** Depth from which values have no places of their own. */
const PLACES = 12
/** Maximum length of a name, and of a place, in a message. */
const MAX_NAME = 60
const MAX_PLACE = 300

/** Fields that JSON would miss silently if they were getters of a class. */
const READ_FIELDS = ['role', 'content', 'tool_calls', 'type', 'text']

const isBytes = (data) => ArrayBuffer.isView(data) || isArrayBuffer(data)

/** The place of a field or an element. */
function at(place, name) {
  const key = typeof name === 'number' ? `[${name}]` : `${place === '' ? '' : '.'}${name.slice(0, MAX_NAME)}`
  return place.length > MAX_PLACE ? place : `${place}${key}`
}

/** Runs code of the caller: a getter, a toJSON, a trap of a Proxy. */
function read(place, run) {
  try {
    return run()
  } catch (cause) {
    const failure = new RangeError(`${place} cannot be read: an object of the caller threw an error`, { cause })
    throw withCode(failure, 'ERR_TOKENLANE_ARGUMENT_VALUE')
  }
}

class Reading {
  #objects = 0
  #isOfClient
  /** @type {WeakMap<object, { place: string, source: object }>} */
  #origins = new WeakMap()

  /** @param {{ isOfClient?: boolean }} [options] `isOfClient`: bytes and URLs are values too */
  constructor({ isOfClient = false } = {}) {
    this.#isOfClient = isOfClient
  }

  /**
   * The fields of an object that have these names, copied; `undefined` for those that it lacks.
   *
   * @returns {any}
   */
  fields(object, names, place = '') {
    const isPlain = read(place, () => isPlainObject(object))
    const copy = {}
    for (const name of names) {
      // A program may have added names to Object.prototype.
      const value = read(at(place, name), () => (isPlain && !Object.hasOwn(object, name) ? undefined : object[name]))
      copy[name] = this.copy(value, at(place, name))
    }
    this.#origins.set(copy, { place, source: object })
    return copy
  }

  /** @returns {any} */
  copy(value, place, depth = 0) {
    if (typeof value === 'bigint') throw wrongValue(place, 'a value that JSON can hold', value)
    if (typeof value !== 'object' || value === null) return value
    if (isRevoked(value)) throw wrongType(place, 'a value that can be read', value)
    if (depth > MAX_DEPTH)
      throw wrongValue(place, `a value that JSON can hold, nested at most ${MAX_DEPTH} deep and not circular`, value)
    const copied = isArray(value) ? this.#list(value, place, depth) : this.#object(value, place, depth)
    if (depth < PLACES && typeof copied === 'object' && copied !== null && !this.#origins.has(copied))
      this.#origins.set(copied, { place, source: value })
    return copied
  }

  #charge(objects, place, value) {
    this.#objects += objects
    if (this.#objects > MAX_OBJECTS) throw wrongValue(place, `within a body of ${MAX_OBJECTS} objects`, value)
  }

  /** The elements of a list of the caller, as they are. */
  elements(list, place) {
    if (!isArray(list)) throw wrongType(place, 'an array of messages', list)
    const length = read(at(place, 'length'), () => list.length)
    this.#charge(1 + length / ELEMENTS_PER_OBJECT, place, list)
    return Array.from({ length }, (_, i) => read(at(place, i), () => list[i]))
  }

  #list(list, place, depth) {
    return this.elements(list, place).map((element, i) => this.copy(element, at(place, i), depth + 1))
  }

  #object(object, place, depth) {
    const isPlain = read(place, () => isPlainObject(object))
    if (!isPlain) {
      if (this.#isOfClient && read(place, () => isBytes(object) || isUrl(object))) return object
      if (isBytes(object)) throw wrongType(place, 'a value that JSON can hold', object)
    }
    const toJSON = read(at(place, 'toJSON'), () => object.toJSON)
    if (typeof toJSON === 'function') {
      const written = read(place, () => Reflect.apply(toJSON, object, ['']))
      if (typeof written !== 'object' || written === null || isRevoked(written) || isArray(written))
        return this.copy(written, place, depth + 1)
      return this.#own(written, place, depth)
    }
    return this.#own(object, place, depth)
  }

  #own(object, place, depth) {
    const entries = read(place, () => entriesOf(object))
    this.#charge(1 + entries.length / ELEMENTS_PER_OBJECT, place, object)
    if (!read(place, () => isPlainObject(object))) refuseHidden(object, READ_FIELDS, (name) => at(place, name), read)
    const copies = entries.map(([name, value]) => [name, this.copy(value, at(place, name), depth + 1)])
    return Object.fromEntries(copies.filter(([, value]) => value !== undefined))
  }

  /** Notes that an object was made from one of the caller, and returns it. */
  made(object, from) {
    const origin = this.#origins.get(from)
    if (origin !== undefined) this.#origins.set(object, origin)
    return object
  }

  /** Notes the place of an object that was made from a text. */
  placed(object, place) {
    this.#origins.set(object, { place, source: object })
    return object
  }

  /** The place of the object from which this one was made, or `otherwise`. */
  placeOf(object, otherwise = '') {
    return this.#origins.get(object)?.place ?? otherwise
  }

  /** The object of the caller. */
  sourceOf(object) {
    return this.#origins.get(object)?.source ?? object
  }
}

module.exports = { Reading, at, isBytes, read }
