'use strict'

// `object.name`, `object[key]` and `object[start:stop:step]`.

const { allocate, spend } = require('./render-cost.js')
const { boundOf, textOf } = require('./arguments.js')
const { part } = require('./markup.js')
const { formatMethod, methodOf } = require('./methods.js')
const { str } = require('./print.js')
const { bare } = require('./origins.js')
const text = require('./traced.js')
const {
  Dict,
  Namespace,
  Range,
  TemplateError,
  Tuple,
  Undefined,
  View,
  isInteger,
  isText,
  kind,
  seen,
  stringIn,
} = require('./values.js')
const { Cycler, Loop } = require('./loop.js')

/** The attribute of a value, or undefined if values of its kind have none with this name. */
function attribute(object, name) {
  if (object instanceof Namespace) return object.attributes.get(name)
  if (object instanceof Loop || object instanceof Cycler) return object.get(name)
  if (typeof object === 'function') return object.attributes?.get(name)
  if (isText(object) && (name === 'format' || name === 'format_map')) return formatOf(object, name)
  if (object instanceof Range && (name === 'start' || name === 'stop' || name === 'step')) return object[name]
  // The tuples of the filter groupby have names for their elements.
  const named = object instanceof Tuple ? /** @type {any} */ (object).fields?.indexOf(name) : undefined
  if (named >= 0) return object[named]
  spend(2)
  const found = methodOf(object, name)
  if (found === undefined) return undefined
  if (found.isRefused) return new Undefined(`${kind(object)}.${name} would change a value, which a template must not`)
  return (args, kwargs) => found.run(object, args, kwargs)
}

function formatOf(object, name) {
  const run = formatMethod((value, key, isAttribute) => (isAttribute ? getAttribute(value, key) : getItem(value, key)))
  if (name === 'format') return (args, kwargs) => run(object, args, kwargs)
  return (args) => {
    if (args.length !== 1 || !(args[0] instanceof Dict)) throw new TemplateError('format_map takes one mapping')
    return run(object, [], args[0])
  }
}

/** The element of a value, or undefined if there is none. */
function element(object, key) {
  if (object instanceof Dict) return isHashable(key) ? object.get(key) : undefined
  if (object instanceof Range) return isInteger(key) || typeof key === 'boolean' ? object.at(Number(key)) : undefined
  if (object instanceof View || (!isText(object) && !Array.isArray(object))) return undefined
  if (!isInteger(key) && typeof key !== 'boolean') return undefined
  if (Array.isArray(object)) return object.at(Number(key))
  const character = text.characterAt(stringIn(object), Number(key))
  return character === undefined ? undefined : part(object, () => character)
}

const isHashable = (key) => !(key instanceof Dict) && key?.constructor !== Array

/** `object.name`: attributes come before elements, which the filter `attr` does not have. */
function getAttribute(object, name, { orElement = true } = {}) {
  spend(0.5)
  if (object instanceof Undefined) object.refuse()
  const own = attribute(object, name)
  return own === undefined ? orMissing(orElement ? element(object, name) : undefined, object, name) : own
}

/** `object[key]`: elements come before attributes. */
function getItem(object, key) {
  spend(1)
  if (object instanceof Undefined) object.refuse()
  const own = element(object, key)
  if (own !== undefined || !isText(key)) return orMissing(own, object, key)
  return orMissing(attribute(object, seen(key)), object, key)
}

function orMissing(value, object, name) {
  if (value !== undefined) return value
  allocate(128)
  return new Undefined(
    `${kind(object)} has no '${isText(name) || isInteger(name) ? bare(str(name)).slice(0, 100) : kind(name)}'`,
  )
}

/**
 * `object[start:stop:step]`. If it is constant, a slice of a value that has none is undefined, as
 * for jinja2 when it compiles a template.
 */
function getSlice(object, start, stop, step, isConstant = false) {
  if (object instanceof Undefined) object.refuse()
  const hasSlices = isText(object) || object instanceof Range || (Array.isArray(object) && !(object instanceof View))
  const areIndices = [start, stop, step].every((one) => one === null || isInteger(one) || typeof one === 'boolean')
  if (isConstant && !(hasSlices && areIndices)) return orMissing(undefined, object, null)
  if (!hasSlices) throw new TemplateError(`${kind(object)} has no slices`)
  const [from, to, by] = [start, stop, step].map((place) => (place === null ? null : boundOf(place)))
  if (isText(object)) return part(object, (whole) => text.slice(whole, from, to, by ?? 1))
  if (object instanceof Range) return object.part(...text.bounds(object.length, from, to, by ?? 1), by ?? 1)
  const list = text.sliceList(object, from, to, by ?? 1)
  return object instanceof Tuple ? Tuple.from(list) : list
}

/** Parses an attribute path of a filter, such as 'a.b' or 0, to its names. */
function attributePath(path) {
  if (path === null) return []
  if (isInteger(path)) return [path]
  allocate(300)
  return text.split(textOf(path), '.', -1).map((name) => (/^\d+$/.test(name) ? Number(name) : name))
}

/** The value at a path. `otherwise` replaces missing values on the path unless it is null. */
function follow(value, path, otherwise = null) {
  let found = value
  for (const name of path) {
    found = getItem(found, name)
    if (otherwise !== null && found instanceof Undefined) found = otherwise
  }
  return found
}

module.exports = { attributePath, follow, getAttribute, getItem, getSlice }
