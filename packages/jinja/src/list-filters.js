'use strict'

// The filters of jinja2 for lists and other iterable values.

const { allocate, allocateList, spend } = require('./render-cost.js')
const { attributePath, follow } = require('./access.js')
const { bind, boundOf, textOf, wholeOf } = require('./arguments.js')
const { compare, equals } = require('./compare.js')
const { binary } = require('./operators.js')
const { str } = require('./print.js')
const text = require('./traced.js')
const { Dict, Generator, Markup, Range, TemplateError, Undefined } = require('./values.js')
const { isText, isTrue, items, iterate, kind, length, seen, stringIn, tuple } = require('./values.js')

const filter = (names, defaults, run) => (value, args, kwargs) => run(value, ...bind(names, defaults, args, kwargs))
const simple = (run) => filter([], [], run)

const folded = (value) => (isText(value) ? text.lower(seen(value)) : value)

/**
 * The key by which values are compared: an attribute or the value itself; strings by default
 * without regard to case.
 */
function keyOf(path, caseSensitive) {
  const fold = isTrue(caseSensitive) ? (value) => value : folded
  const names = attributePath(path)
  return (value) => fold(follow(value, names))
}

/**
 * Like keyOf, for several attributes separated by commas. The key is a list for one attribute too,
 * as in jinja2: lists of equal values are equal even if the values have no order, such as none.
 */
function keysOf(path, caseSensitive) {
  const paths = isText(path) ? text.split(seen(path), ',', -1) : [path]
  const keys = paths.map((one) => keyOf(one, caseSensitive))
  return (value) => {
    allocate(24 + 8 * keys.length)
    return keys.map((key) => key(value))
  }
}

/** Like sorted(): the sort is stable, in reverse too. */
function sorted(list, key, reverse) {
  const sign = isTrue(reverse) ? -1 : 1
  spend(4 * list.length)
  allocate(64 * list.length)
  const pairs = list.map((value) => [key(value), value])
  return pairs.sort(([a], [b]) => sign * compare(a, b)).map(([, value]) => value)
}

const emptyList = () => new Undefined('there is nothing in an empty list')

function extreme(sign) {
  return filter(['case_sensitive', 'attribute'], [false, null], (value, caseSensitive, path) => {
    const key = keyOf(path, caseSensitive)
    let best
    let bestKey
    for (const one of iterate(value)) {
      const its = key(one)
      if (best !== undefined && !(sign * compare(its, bestKey) > 0)) continue
      best = one
      bestKey = its
    }
    return best === undefined ? emptyList() : best
  })
}

/**
 * The filters select, reject, selectattr and rejectattr: the values for which a test holds, or does
 * not.
 */
function chooser(byAttribute, wanted, tests) {
  return (value, args, kwargs) => {
    const rest = byAttribute ? args.slice(1) : args
    if (byAttribute && args.length === 0)
      throw new TemplateError('selectattr and rejectattr need the name of an attribute')
    return new Generator(choose(value, byAttribute ? attributePath(args[0]) : [], testOf(rest, kwargs, tests), wanted))
  }
}

function testOf([name, ...args], kwargs, tests) {
  if (name === undefined) return isTrue
  const test = tests(textOf(name))
  return (value) => test(value, args, kwargs)
}

function* choose(value, path, test, wanted) {
  // jinja2 does not iterate over values that are false, so None is like an empty list.
  if (!isTrue(value)) return
  for (const one of iterate(value)) if (isTrue(test(follow(one, path))) === wanted) yield one
}

function map(value, args, kwargs, filters) {
  if (args.length === 0 && kwargs.has('attribute')) {
    const [path, otherwise] = bind(['attribute', 'default'], [null], args, kwargs)
    const names = attributePath(path)
    return new Generator(changed(value, (one) => follow(one, names, otherwise)))
  }
  if (args.length === 0) throw new TemplateError('map needs an attribute or a filter')
  const [name, ...rest] = args
  const run = filters(textOf(name))
  return new Generator(changed(value, (one) => run(one, rest, kwargs)))
}

function* changed(value, change) {
  if (!isTrue(value)) return
  for (const one of iterate(value)) yield change(one)
}

function* unique(value, key) {
  const seen = new Dict()
  for (const one of iterate(value)) {
    const its = key(one)
    if (seen.has(its)) continue
    seen.set(its, true)
    yield one
  }
}

function* batch(value, size, fill) {
  let row = []
  for (const one of iterate(value)) {
    if (row.length === size) {
      yield row
      row = []
    }
    allocate(8)
    row.push(one)
  }
  if (row.length === 0) return
  if (fill !== null && row.length < size) {
    allocateList(size - row.length)
    row = row.concat(Array.from({ length: size - row.length }, () => fill))
  }
  yield row
}

function* slices(value, count, fill) {
  const list = items(value)
  if (count === 0) throw new TemplateError('a list cannot be divided into 0 slices')
  const size = Math.floor(list.length / count)
  const longer = list.length - size * count
  let start = 0
  for (let i = 0; i < count; i++) {
    spend(1)
    const end = start + size + (i < longer ? 1 : 0)
    const row = text.sliceList(list, start, end, 1)
    if (fill !== null && i >= longer) row.push(fill)
    yield row
    start = end
  }
}

/** The names of the elements of a group. */
const GROUP = ['grouper', 'list']

function groupBy(value, path, otherwise, caseSensitive) {
  const names = attributePath(path)
  const key = (one) => {
    const its = follow(one, names, otherwise)
    return isTrue(caseSensitive) ? its : folded(its)
  }
  const groups = []
  let last
  for (const one of sorted(items(value), key, false)) {
    const its = key(one)
    spend(4)
    allocate(64)
    if (groups.length > 0 && equals(its, last)) groups.at(-1)[1].push(one)
    else groups.push([isTrue(caseSensitive) ? its : follow(one, names, otherwise), [one]])
    last = its
  }
  return groups.map(([name, list]) => Object.assign(tuple(name, list), { fields: GROUP }))
}

function sum(value, path, start) {
  const names = attributePath(path)
  let total = start
  for (const one of iterate(value)) {
    const item = follow(one, names)
    if (isText(total)) throw new TemplateError('strings are joined, not summed')
    total = binary('+', total, item)
  }
  return total
}

function join(value, between, path) {
  const names = attributePath(path)
  const parts = []
  for (const one of iterate(value)) {
    allocate(16)
    parts.push(str(follow(one, names)))
  }
  return text.join(parts, str(between))
}

function reverse(value) {
  if (isText(value)) {
    const reversed = text.slice(stringIn(value), null, null, -1)
    return value instanceof Markup ? new Markup(reversed) : reversed
  }
  const list = items(value)
  allocateList(list.length)
  const reversed = Array.from(list).reverse()
  return value instanceof Generator ? reversed : new Generator(reversed)
}

function first(value) {
  const { value: one, done } = iterate(value).next()
  return done ? emptyList() : one
}

function last(value) {
  if (value instanceof Generator) throw new TemplateError(`${kind(value)} has no last element`)
  if (isText(value)) {
    const one = text.characterAt(stringIn(value), -1)
    if (one === undefined) return emptyList()
    return value instanceof Markup ? new Markup(one) : one
  }
  if (value instanceof Dict) return value.size === 0 ? emptyList() : value.keys().at(-1)
  if (value instanceof Undefined) return emptyList()
  if (!Array.isArray(value) && !(value instanceof Range)) throw new TemplateError(`${kind(value)} has no last element`)
  return value.length > 0 ? value.at(-1) : emptyList()
}

/** The elements of an iterable value as a new list. */
function list(value) {
  const own = items(value)
  if (own !== value) return own
  allocateList(own.length)
  return Array.from(own)
}

function dictSort(value, caseSensitive, by, reverse) {
  const place = { key: 0, value: 1 }[isText(by) ? seen(by) : '']
  if (place === undefined || !(value instanceof Dict))
    throw new TemplateError("dictsort sorts a mapping by 'key' or by 'value'")
  const key = keyOf(null, caseSensitive)
  return sorted(value.items(), (pair) => key(pair[place]), reverse)
}

function entries(value) {
  if (value instanceof Undefined) return new Generator([])
  if (!(value instanceof Dict)) throw new TemplateError(`${kind(value)} has no items`)
  return new Generator(value.items())
}

const size = simple(length)

/** The filters by name. `find` looks up the other filters and tests, which map and select call. */
const listFilters = (find) => ({
  batch: filter(
    ['linecount', 'fill_with'],
    [null],
    (value, count, fill) => new Generator(batch(value, boundOf(count), fill)),
  ),
  count: size,
  dictsort: filter(['case_sensitive', 'by', 'reverse'], [false, 'key', false], dictSort),
  first: simple(first),
  groupby: filter(['attribute', 'default', 'case_sensitive'], [null, false], groupBy),
  items: simple(entries),
  join: filter(['d', 'attribute'], ['', null], join),
  last: simple(last),
  length: size,
  list: simple(list),
  map: (value, args, kwargs) => map(value, args, kwargs, find.filters),
  max: extreme(1),
  min: extreme(-1),
  reject: chooser(false, false, find.tests),
  rejectattr: chooser(true, false, find.tests),
  reverse: simple(reverse),
  select: chooser(false, true, find.tests),
  selectattr: chooser(true, true, find.tests),
  slice: filter(
    ['slices', 'fill_with'],
    [null],
    (value, count, fill) => new Generator(slices(value, wholeOf(count), fill)),
  ),
  sort: filter(
    ['reverse', 'case_sensitive', 'attribute'],
    [false, false, null],
    (value, reversed, caseSensitive, path) => sorted(items(value), keysOf(path, caseSensitive), reversed),
  ),
  sum: filter(['attribute', 'start'], [null, 0], sum),
  unique: filter(
    ['case_sensitive', 'attribute'],
    [false, null],
    (value, caseSensitive, path) => new Generator(unique(value, keyOf(path, caseSensitive))),
  ),
})

module.exports = { listFilters }
