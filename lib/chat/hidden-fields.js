'use strict'

const { wrongValue } = require('../errors.js')

const { propertyIsEnumerable: isEnumerable } = Object.prototype

/**
 * Refuses fields of a class, such as getters, which JSON would miss silently.
 *
 * @param {object} object of the caller
 * @param {string[]} names those of the fields that matter
 * @param {(name: string) => string} placeOf the place of a field
 * @param {<T>(place: string, run: () => T) => T} read runs code of the caller
 */
function refuseHidden(object, names, placeOf, read = (_place, run) => run()) {
  for (const name of names) {
    const place = placeOf(name)
    const hidden = read(place, () => (isEnumerable.call(object, name) ? undefined : object[name]))
    if (hidden !== undefined) throw wrongValue(place, 'a field that JSON has, not one of the class', hidden)
  }
}

module.exports = { refuseHidden }
