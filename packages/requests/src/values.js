'use strict'

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object, or one without fields for other values. */
const fieldsOf = (value) => (isObject(value) ? value : {})

module.exports = { fieldsOf, isObject }
