'use strict'

// Descriptions of values that a Reading copied, such as the bodies in shapes.js. A shape is a
// function of a value and its place that throws for a value of another type, by its place. Fields
// that it does not name are not read, or only written as JSON.

const { wrongType } = require('../errors.js')
const { isPlainObject, isUrl } = require('../realm.js')
const { at, isBytes } = require('./reading.js')

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
const fieldOf = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined)

/**
 * An object with these fields. `variants` has further fields by the object's `type`.
 *
 * @param {Record<string, Shape>} fields
 * @param {{ what?: string, variants?: Record<string, Record<string, Shape>> }} [more]
 * @returns {Shape}
 */
function object(fields, { what = 'an object', variants = {} } = {}) {
  return (value, place) => {
    if (!isObject(value)) throw wrongType(place, what, value)
    const type = fieldOf(value, 'type')
    const isVariant = typeof type === 'string' && Object.hasOwn(variants, type)
    const all = isVariant ? { ...fields, ...variants[type] } : fields
    for (const name of Object.keys(all)) all[name](fieldOf(value, name), at(place, name))
  }
}

/** Several shapes of one value. @returns {Shape} */
const both = (first, second) => (value, place) => {
  first(value, place)
  second(value, place)
}

/** A shape that refers to itself. @returns {Shape} */
const later = (shape) => (value, place) => shape()(value, place)

module.exports = { boolean, both, fieldOf, isObject, json, later, listOf, object, optional, string, textOr, typed }
