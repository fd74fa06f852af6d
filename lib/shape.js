'use strict'

// Descriptions of values that reading.js copied, such as a conversation, or the bodies of an API. A
// shape is a function of a value and its place that throws for a value of another type, by its
// place, and for a field that the caller's object hides from JSON. Fields that it does not name are
// not read, or only written as JSON.

const { wrongType, wrongValue } = require('./errors.js')
const { at, hiddenField } = require('./reading.js')
const { isBytes, isPlainObject, isUrl } = require('./realm.js')

/** @typedef {(value: any, place: string) => void} Shape */

/** @returns {Shape} */
const typed = (type, what) => (value, place) => {
  if (typeof value !== type) throw wrongType(place, what, value)
}

const string = typed('string', 'a string')
const boolean = typed('boolean', 'a boolean')

/** Any value. What it cannot be in JSON, the writer leaves out. */
const json = () => {}

/** @returns {Shape} */
const optional = (shape) => (value, place) => {
  if (value !== undefined && value !== null) shape(value, place)
}

/** @returns {Shape} */
const listOf =
  (shape, what = 'an array of objects') =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrongType(place, what, value)
    value.forEach((one, i) => shape(one, at(place, i)))
  }

/**
 * A text, or another value.
 *
 * @returns {Shape}
 */
const textOr = (shape) => (value, place) => {
  if (typeof value !== 'string') shape(value, place)
}

const isObject = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  (isPlainObject(value) || !(isBytes(value) || isUrl(value)))

function fieldOf(object, name, place) {
  if (Object.hasOwn(object, name)) return object[name]
  const hidden = hiddenField(object, name, place)
  if (hidden !== undefined) throw wrongValue(at(place, name), 'a field that JSON has, not one of the class', hidden)
  return undefined
}

/**
 * An object with these fields. `variants` has further fields by the object's `type`.
 *
 * @param {Record<string, Shape>} fields
 * @param {{ what?: string, variants?: Record<string, Record<string, Shape>> }} [more]
 * @returns {Shape}
 */
function object(fields, { what = 'an object', variants } = {}) {
  return (value, place) => {
    if (!isObject(value)) throw wrongType(place, what, value)
    const type = variants === undefined ? undefined : fieldOf(value, 'type', place)
    const isVariant = typeof type === 'string' && Object.hasOwn(variants, type)
    const all = isVariant ? { ...fields, ...variants[type] } : fields
    for (const name of Object.keys(all)) all[name](fieldOf(value, name, place), at(place, name))
  }
}

/** Several shapes of one value. @returns {Shape} */
const both = (first, second) => (value, place) => {
  first(value, place)
  second(value, place)
}

/** A shape of the values that pass a test. Others can be anything. @returns {Shape} */
const where = (test, shape) => (value, place) => {
  if (test(value)) shape(value, place)
}

/** A shape that refers to itself. @returns {Shape} */
const later = (shape) => (value, place) => shape()(value, place)

module.exports = {
  boolean,
  both,
  fieldOf,
  isObject,
  json,
  later,
  listOf,
  object,
  optional,
  string,
  textOr,
  typed,
  where,
}
