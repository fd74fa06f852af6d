'use strict'

// The attributes of strings, lists and mappings, and what `a.b` and `a[b]` mean. Those that would change a value are refused,
// as in jinja2's ImmutableSandboxedEnvironment.

const { Namespace, TemplateError, Tuple, Undefined, View, equals, isInteger, items, kind, length, str, tuple, view } = require('./values.js')
const text = require('./text.js')

/** Arguments by their names, with the defaults of those that are left out. */
function bind(names, defaults, args, kwargs) {
  if (args.length > names.length) throw new TemplateError(`too many arguments: ${args.length}, not ${names.length} at most`)
  for (const key of kwargs.keys()) if (!names.includes(key)) throw new TemplateError(`there is no argument '${key}'`)
  return names.map((name, i) => {
    const value = i < args.length ? args[i] : kwargs.has(name) ? kwargs.get(name) : defaults[i - names.length + defaults.length]
    if (value === undefined) throw new TemplateError(`the argument '${name}' is missing`)
    return value
  })
}

/** A method: its names, its defaults from the right, and what it does with its object and the arguments. */
const method = (names, defaults, run) => (object) => (args, kwargs) => run(object, ...bind(names, defaults, args, kwargs))

const textOf = (value) => {
  if (typeof value !== 'string') throw new TemplateError(`a string is needed, not ${kind(value)}`)
  return value
}
const textOrNull = (value) => (value === null ? null : textOf(value))
const wholeOf = (value) => {
  if (!isInteger(value) && typeof value !== 'boolean') throw new TemplateError(`an integer is needed, not ${kind(value)}`)
  return Number(value)
}

const stripper = (start, end) => method(['chars'], [null], (self, chars) => text.strip(self, textOrNull(chars), start, end))
const splitter = (run) => method(['sep', 'maxsplit'], [null, -1], (self, sep, most) => run(self, textOrNull(sep), wholeOf(most)))
const plain = (run) => method([], [], run)

/** Whether a text starts or ends with one of some. */
const edge = (is) => method(['prefix', 'start', 'end'], [null, null], (self, wanted, start, end) => {
  const within = text.slice(self, start, end)
  return (Array.isArray(wanted) ? wanted : [wanted]).some((one) => is(within, textOf(one)))
})

/** The place of a text in a text, in code points, or -1. */
const finder = (find) => method(['sub'], [], (self, sub) => {
  const place = find(self, textOf(sub))
  return place < 0 ? -1 : length(self.slice(0, place))
})

const found = (place) => {
  if (place < 0) throw new TemplateError('what is sought is not there')
  return place
}

function partition(self, separator, place) {
  return place < 0 ? undefined : tuple(self.slice(0, place), separator, self.slice(place + separator.length))
}

const STRING = {
  capitalize: plain(text.capitalize),
  casefold: plain((self) => self.toLowerCase()),
  center: method(['width', 'fillchar'], [' '], (self, width, fill) => text.center(self, wholeOf(width), textOf(fill))),
  count: method(['sub'], [], (self, sub) => (sub === '' ? length(self) + 1 : self.split(textOf(sub)).length - 1)),
  endswith: edge((self, end) => self.endsWith(end)),
  find: finder((self, sub) => self.indexOf(sub)),
  rfind: finder((self, sub) => self.lastIndexOf(sub)),
  index: method(['sub'], [], (self, sub) => length(self.slice(0, found(self.indexOf(textOf(sub)))))),
  isalpha: plain((self) => /^\p{L}+$/u.test(self)),
  isalnum: plain((self) => /^[\p{L}\p{N}]+$/u.test(self)),
  isdigit: plain((self) => /^\p{Nd}+$/u.test(self)),
  isdecimal: plain((self) => /^\p{Nd}+$/u.test(self)),
  isnumeric: plain((self) => /^\p{N}+$/u.test(self)),
  isspace: plain((self) => self !== '' && text.strip(self, null, true, false) === ''),
  islower: plain(text.isLower),
  isupper: plain(text.isUpper),
  join: method(['iterable'], [], (self, parts) => items(parts).map(textOf).join(self)),
  ljust: method(['width', 'fillchar'], [' '], (self, width, fill) => self + fill.repeat(Math.max(0, wholeOf(width) - length(self)))),
  rjust: method(['width', 'fillchar'], [' '], (self, width, fill) => fill.repeat(Math.max(0, wholeOf(width) - length(self))) + self),
  zfill: method(['width'], [], (self, width) => {
    const [, sign, digits] = self.match(/^([+-]?)([^]*)$/)
    return sign + '0'.repeat(Math.max(0, wholeOf(width) - length(self))) + digits
  }),
  lower: plain((self) => self.toLowerCase()),
  upper: plain((self) => self.toUpperCase()),
  title: plain(text.title),
  strip: stripper(true, true),
  lstrip: stripper(true, false),
  rstrip: stripper(false, true),
  partition: method(['sep'], [], (self, sep) => partition(self, sep, self.indexOf(textOf(sep))) ?? tuple(self, '', '')),
  rpartition: method(['sep'], [], (self, sep) => partition(self, sep, self.lastIndexOf(textOf(sep))) ?? tuple('', '', self)),
  removeprefix: method(['prefix'], [], (self, prefix) => (self.startsWith(textOf(prefix)) ? self.slice(prefix.length) : self)),
  removesuffix: method(['suffix'], [], (self, suffix) => (suffix !== '' && self.endsWith(textOf(suffix)) ? self.slice(0, -suffix.length) : self)),
  replace: method(['old', 'new', 'count'], [-1], (self, old, by, most) => text.replace(self, textOf(old), textOf(by), wholeOf(most))),
  split: splitter(text.split),
  rsplit: splitter(text.splitRight),
  splitlines: method(['keepends'], [false], (self, keep) => text.splitLines(self, keep === true)),
  startswith: edge((self, start) => self.startsWith(start)),
}
const STRING_MORE = ['encode', 'expandtabs', 'format', 'format_map', 'isascii', 'isidentifier', 'isprintable', 'istitle', 'maketrans', 'rindex', 'swapcase', 'translate']

const LIST = {
  count: method(['value'], [], (self, value) => self.filter((item) => equals(item, value)).length),
  index: method(['value'], [], (self, value) => found(self.findIndex((item) => equals(item, value)))),
}
const ONLY_LIST = { ...LIST, copy: plain((self) => [...self]) }
const LIST_CHANGES = ['append', 'clear', 'extend', 'insert', 'pop', 'remove', 'reverse', 'sort']

const DICT = {
  get: method(['key', 'default'], [null], (self, key, byDefault) => (self.has(key) ? self.get(key) : byDefault)),
  items: plain((self) => view('dict_items', [...self].map((pair) => tuple(...pair)))),
  keys: plain((self) => view('dict_keys', self.keys())),
  values: plain((self) => view('dict_values', self.values())),
  copy: plain((self) => new Map(self)),
}
const DICT_CHANGES = ['clear', 'pop', 'popitem', 'setdefault', 'update', 'fromkeys']

/** The attribute of a value, or undefined if its kind has none of this name. */
function attribute(object, name) {
  const [known, refused] =
    typeof object === 'string' ? [STRING, STRING_MORE]
    : object instanceof Tuple ? [LIST, []]
    : object instanceof View ? [{}, []]
    : Array.isArray(object) ? [ONLY_LIST, LIST_CHANGES]
    : object instanceof Map ? [DICT, DICT_CHANGES]
    : [{}, []]
  if (Object.hasOwn(known, name)) return known[name](object)
  if (!refused.includes(name)) return undefined
  const why = refused === STRING_MORE ? 'is not supported' : 'would change a value, which a template may not'
  return new Undefined(`${kind(object)}.${name} ${why}`)
}

/** The element of a value, or undefined if there is none. */
function element(object, key) {
  if (object instanceof Map) return object.get(key)
  if ((typeof object !== 'string' && !Array.isArray(object)) || object instanceof View) return undefined
  if (!isInteger(key) && typeof key !== 'boolean') return undefined
  return (typeof object === 'string' ? text.points(object) : object).at(Number(key))
}

/** `object.name`: attributes come before elements. */
function getAttribute(object, name) {
  if (object instanceof Undefined) object.refuse()
  const own = object instanceof Namespace ? object.attributes.get(name) : attribute(object, name)
  return own === undefined ? orMissing(element(object, name), object, name) : own
}

/** `object[key]`: elements come before attributes. */
function getItem(object, key) {
  if (object instanceof Undefined) object.refuse()
  const own = element(object, key)
  if (own !== undefined || typeof key !== 'string') return orMissing(own, object, key)
  return getAttribute(object, key)
}

function orMissing(value, object, name) {
  return value === undefined ? new Undefined(`${kind(object)} has no '${str(name)}'`) : value
}

/** `object[start:stop:step]` */
function getSlice(object, start, stop, step) {
  if (object instanceof Undefined) object.refuse()
  if ((typeof object !== 'string' && !Array.isArray(object)) || object instanceof View) throw new TemplateError(`${kind(object)} has no parts`)
  const whole = (value) => (value === null ? null : wholeOf(value))
  const part = text.slice(object, whole(start), whole(stop), whole(step) ?? 1)
  return object instanceof Tuple ? Tuple.from(part) : part
}

module.exports = { bind, getAttribute, getItem, getSlice, textOf, wholeOf }
