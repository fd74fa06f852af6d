'use strict'

// The filters of jinja2, with tojson as transformers has it.

const { toJson } = require('./json.js')
const { bind, getAttribute, getItem, textOf, wholeOf } = require('./methods.js')
const { tests } = require('./tests.js')
const text = require('./text.js')
const values = require('./values.js')
const { Float, Generator, TemplateError, Undefined, compare, equals, isInteger, isNumber, isTrue, items, kind, length, numberOf, str, tuple } = values

const filter = (names, defaults, run) => (value, args, kwargs) => run(value, ...bind(names, defaults, args, kwargs))
const plain = (run) => filter([], [], run)

const lowered = (value) => (typeof value === 'string' ? value.toLowerCase() : value)

/** What an attribute such as 'a.b' or 0 is of a value. */
function attributeOf(value, path) {
  if (isInteger(path)) return getItem(value, path)
  return textOf(path).split('.').reduce((object, part) => getItem(object, /^\d+$/.test(part) ? Number(part) : part), value)
}

/** By what values are put in order or found alike. */
function keyOf(path, caseSensitive) {
  const fold = isTrue(caseSensitive) ? (value) => value : lowered
  if (path === null) return fold
  const paths = typeof path === 'string' ? path.split(',') : [path]
  return (value) => (paths.length === 1 ? fold(attributeOf(value, paths[0])) : paths.map((one) => fold(attributeOf(value, one))))
}

/** Like sorted(): what is alike stays in its order, in reverse too. */
function sorted(list, key, reverse) {
  const sign = isTrue(reverse) ? -1 : 1
  const pairs = list.map((value) => [key(value), value])
  return pairs.sort(([a], [b]) => sign * compare(a, b)).map(([, value]) => value)
}

/** jinja2 looks into what it selects from only if that counts as true. */
const itemsIfAny = (value) => (isTrue(value) ? items(value) : [])

const orNothing = (value) => (value === undefined ? new Undefined('there is nothing in an empty list') : value)

function extreme(sign) {
  return filter(['case_sensitive', 'attribute'], [false, null], (value, caseSensitive, path) => {
    const key = keyOf(path, caseSensitive)
    const list = items(value)
    if (list.length === 0) return orNothing(undefined)
    return list.reduce((best, one) => (sign * compare(key(one), key(best)) > 0 ? one : best))
  })
}

/** select and reject, of values or of an attribute: keeps those for which a test says so. */
function chooser(byAttribute, wanted) {
  return (value, args, kwargs) => {
    const rest = byAttribute ? args.slice(1) : args
    const path = byAttribute ? args[0] : null
    if (byAttribute && path === undefined) throw new TemplateError('selectattr and rejectattr need the name of an attribute')
    const test = rest.length === 0 ? isTrue : (one) => tests(textOf(rest[0]))(one, rest.slice(1), kwargs)
    return new Generator(itemsIfAny(value).filter((one) => test(path === null ? one : attributeOf(one, path)) === wanted))
  }
}

function map(value, args, kwargs) {
  if (args.length === 0 && kwargs.has('attribute')) {
    const [path, byDefault] = bind(['attribute', 'default'], [null], args, kwargs)
    return new Generator(itemsIfAny(value).map((one) => {
      const found = attributeOf(one, path)
      return found instanceof Undefined && byDefault !== null ? byDefault : found
    }))
  }
  if (args.length === 0) throw new TemplateError('map needs an attribute or a filter')
  const run = filters(textOf(args[0]))
  return new Generator(itemsIfAny(value).map((one) => run(one, args.slice(1), kwargs)))
}

function toInteger(value, byDefault, base) {
  if (value instanceof Undefined) value.refuse()
  if (typeof value === 'string') {
    const digits = text.strip(value, null, true, true).replace(/(?<=\d)_(?=\d)/g, '')
    if (base === 10 && /^[+-]?\d+$/.test(digits)) return values.integer(BigInt(digits.replace('+', '')))
    if (base !== 10) {
      const number = parseInt(digits, base)
      return Number.isNaN(number) ? byDefault : number
    }
    const float = toFloat(value, null)
    return float === null || !Number.isFinite(float.value) ? byDefault : Math.trunc(float.value)
  }
  return isNumber(value) ? values.integer(typeof value === 'bigint' ? value : Math.trunc(numberOf(value))) : byDefault
}

function toFloat(value, byDefault) {
  if (value instanceof Undefined) value.refuse()
  if (isNumber(value)) return new Float(numberOf(value))
  const digits = typeof value === 'string' ? text.strip(value, null, true, true).replace(/(?<=\d)_(?=\d)/g, '') : ''
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits)) return new Float(Number(digits))
  const special = digits.toLowerCase().match(/^([+-]?)(inf|infinity|nan)$/)
  return special ? new Float((special[1] === '-' ? -1 : 1) * (special[2] === 'nan' ? NaN : Infinity)) : byDefault
}

function round(value, precision, way) {
  if (!isNumber(value)) throw new TemplateError(`${kind(value)} cannot be rounded`)
  const scale = 10 ** wholeOf(precision)
  const run = { common: halfToEven, ceil: Math.ceil, floor: Math.floor }[way]
  if (run === undefined) throw new TemplateError("round knows 'common', 'ceil' and 'floor'")
  const result = way === 'common' && scale > 1 ? Number(numberOf(value).toFixed(wholeOf(precision))) : run(numberOf(value) * scale) / scale
  return !(value instanceof Float) && way === 'common' ? values.integer(value) : new Float(result)
}

function halfToEven(number) {
  const rounded = Math.round(number)
  return Math.abs(number % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}

function indent(value, width, first, blank) {
  const by = typeof width === 'string' ? width : ' '.repeat(wholeOf(width))
  const lines = text.splitLines(`${textOf(value)}\n`)
  const rest = lines.slice(1).map((line) => `\n${line !== '' || isTrue(blank) ? by : ''}${line}`)
  return (isTrue(first) ? by : '') + lines[0] + rest.join('')
}

function unique(value, caseSensitive, path) {
  const key = keyOf(path, caseSensitive)
  const seen = []
  return new Generator(items(value).filter((one) => {
    const its = values.keyed(key(one))
    return seen.some((other) => equals(other, its)) ? false : seen.push(its)
  }))
}

function batch(value, size, fill) {
  const rows = []
  for (const item of items(value)) {
    if (rows.length === 0 || rows.at(-1).length >= size) rows.push([])
    rows.at(-1).push(item)
  }
  while (fill !== null && rows.length > 0 && rows.at(-1).length < size) rows.at(-1).push(fill)
  return new Generator(rows)
}

/** Printf, as far as templates use it. */
function format(pattern, args) {
  let next = 0
  const written = textOf(pattern).replace(/%(.)/gs, (_, letter) => {
    if (letter === '%') return '%'
    const value = args[next++]
    if (value === undefined) throw new TemplateError('there are fewer values than places for them')
    if (letter === 's') return str(value)
    if (letter === 'r') return values.repr(value)
    if ((letter === 'd' || letter === 'i') && isNumber(value)) return str(toInteger(value))
    throw new TemplateError(`%${letter} is not supported here`)
  })
  // A list or a mapping may be there for its elements.
  const isWhole = args.length === 1 && (args[0] instanceof Map || args[0] instanceof Undefined || args[0]?.constructor === Array)
  if (next < args.length && !isWhole) throw new TemplateError('there are more values than places for them')
  return written
}

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' }
const escape = plain((value) => str(value).replace(/[&<>'"]/g, (one) => HTML[one]))
const size = plain((value) => length(value))
const byDefault = filter(['default_value', 'boolean'], ['', false], (value, other, empty) =>
  value instanceof Undefined || (isTrue(empty) && !isTrue(value)) ? other : value,
)
const titled = (value) => str(value).split(text.WORD_START).map((word) => (word === '' ? '' : word[0].toUpperCase() + word.slice(1).toLowerCase())).join('')

const FILTERS = {
  abs: plain((value) => {
    if (!isNumber(value)) throw new TemplateError(`${kind(value)} is no number`)
    return value instanceof Float ? new Float(Math.abs(value.value)) : value < 0 ? -value : values.integer(value)
  }),
  attr: filter(['name'], [], (value, name) => getAttribute(value, name)),
  batch: filter(['linecount', 'fill_with'], [null], (value, count, fill) => batch(value, wholeOf(count), fill)),
  capitalize: plain((value) => text.capitalize(str(value))),
  center: filter(['width'], [80], (value, width) => text.center(str(value), wholeOf(width))),
  count: size,
  d: byDefault,
  default: byDefault,
  dictsort: filter(['case_sensitive', 'by', 'reverse'], [false, 'key', false], (value, caseSensitive, by, reverse) => {
    const place = { key: 0, value: 1 }[by]
    if (place === undefined || !(value instanceof Map)) throw new TemplateError("dictsort sorts a mapping by 'key' or by 'value'")
    const key = keyOf(null, caseSensitive)
    return sorted([...value].map((pair) => tuple(...pair)), (pair) => key(pair[place]), reverse)
  }),
  e: escape,
  escape,
  first: plain((value) => orNothing(value instanceof Generator ? value.next() : items(value)[0])),
  float: filter(['default'], [new Float(0)], toFloat),
  format: (value, args) => format(value, args),
  indent: filter(['width', 'first', 'blank'], [4, false, false], indent),
  int: filter(['default', 'base'], [0, 10], toInteger),
  items: plain((value) => {
    if (value instanceof Undefined) return new Generator([])
    if (!(value instanceof Map)) throw new TemplateError(`${kind(value)} has no items`)
    return new Generator([...value].map((pair) => tuple(...pair)))
  }),
  join: filter(['d', 'attribute'], ['', null], (value, between, path) =>
    items(value).map((one) => str(path === null ? one : attributeOf(one, path))).join(str(between)),
  ),
  last: plain((value) => {
    if (value instanceof Generator) throw new TemplateError(`${kind(value)} has no last element`)
    return orNothing(items(value).at(-1))
  }),
  length: size,
  list: plain((value) => items(value)),
  lower: plain((value) => str(value).toLowerCase()),
  map,
  max: extreme(1),
  min: extreme(-1),
  reject: chooser(false, false),
  rejectattr: chooser(true, false),
  replace: filter(['old', 'new', 'count'], [null], (value, old, by, most) => text.replace(str(value), str(old), str(by), most === null ? -1 : wholeOf(most))),
  reverse: plain((value) => (typeof value === 'string' ? Array.from(value).reverse().join('') : new Generator(items(value).reverse()))),
  round: filter(['precision', 'method'], [0, 'common'], round),
  safe: plain((value) => str(value)),
  select: chooser(false, true),
  selectattr: chooser(true, true),
  sort: filter(['reverse', 'case_sensitive', 'attribute'], [false, false, null], (value, reverse, caseSensitive, path) =>
    sorted(items(value), keyOf(path, caseSensitive), reverse),
  ),
  string: plain(str),
  sum: filter(['attribute', 'start'], [null, 0], (value, path, start) =>
    items(value).map((one) => (path === null ? one : attributeOf(one, path))).reduce((total, one) => {
      if (!isNumber(one)) throw new TemplateError(`${kind(one)} cannot be added up`)
      const result = numberOf(total) + numberOf(one)
      return total instanceof Float || one instanceof Float ? new Float(result) : values.integer(result)
    }, start),
  ),
  title: plain(titled),
  tojson: filter(['ensure_ascii', 'indent', 'separators', 'sort_keys'], [false, null, null, false], (value, ascii, by, separators, sort) =>
    toJson(value, { ensureAscii: isTrue(ascii), indent: by, separators, sortKeys: isTrue(sort) }),
  ),
  trim: filter(['chars'], [null], (value, chars) => text.strip(str(value), chars === null ? null : textOf(chars), true, true)),
  unique: filter(['case_sensitive', 'attribute'], [false, null], unique),
  upper: plain((value) => str(value).toUpperCase()),
  wordcount: plain((value) => (str(value).match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []).length),
}

/** The filter of a name. */
function filters(name) {
  if (Object.hasOwn(FILTERS, name)) return FILTERS[name]
  throw new TemplateError(`the filter '${name}' is not supported`)
}

module.exports = { filters, format }
