'use strict'

// The methods of strings, lists and mappings. Methods that would change a value are refused, as in
// jinja2's ImmutableSandboxedEnvironment. A method takes its object, its arguments and its keyword
// arguments.

const { allocateList, spend } = require('./render-cost.js')
const { bind, boundOf, boundOrNull, positional, stringOf, textOf, textOrNull, wholeOf } = require('./arguments.js')
const { same } = require('./compare.js')
const { formatFields } = require('./format.js')
const { asMarkup, escaped } = require('./markup.js')
const { Traced, bare, computed } = require('./origins.js')
const text = require('./traced.js')
const {
  Dict,
  Float,
  Markup,
  Range,
  TemplateError,
  Tuple,
  View,
  characters,
  isNumber,
  isText,
  isTrue,
  items,
  iterate,
  kind,
  keeping,
  kept,
  seen,
  textLength,
  tuple,
} = require('./values.js')

const NO_KEYWORDS = new Dict()
const NOT_GIVEN = Symbol('not given')

const method = (names, defaults, run) => (self, args, kwargs) => run(self, ...bind(names, defaults, args, kwargs))
/** A method whose arguments have no names in Python. */
const unnamed = (names, defaults, run) => {
  const bound = method(names, defaults, run)
  return (self, args, kwargs) => positional((given) => bound(self, given, NO_KEYWORDS))(args, kwargs)
}
const simple = (run) => method([], [], run)
const isString = (value) => typeof value === 'string' || value instanceof Traced

/** A method with an optional set of characters. */
const stripper = (start, end) =>
  unnamed(['chars'], [null], (self, set) => text.strip(self, textOrNull(set), start, end))
const splitter = (split) =>
  method(['sep', 'maxsplit'], [null, -1], (self, separator, most) => split(self, textOrNull(separator), wholeOf(most)))
const all = (pattern) => simple((self) => text.consistsOf(self, pattern))

/** The part of a string that is searched, or undefined if it does not exist. */
function part(self, start, end) {
  if (start === null && end === null) return self
  const [from, to] = [boundOrNull(start), boundOrNull(end)]
  const length = from === null && to === null ? 0 : textLength(self)
  if (from !== null && positionOf(self, from) > (to === null ? length : Math.min(length, positionOf(self, to))))
    return undefined
  return text.slice(self, from, to, 1)
}

/** Tests whether a string starts or ends with one of several strings. */
const edge = (is) =>
  unnamed(['prefix', 'start', 'end'], [null, null], (self, wanted, start, end) => {
    const within = part(self, start, end)
    if (within === undefined) return false
    if (isText(wanted)) return is(within, seen(wanted))
    if (!(wanted instanceof Tuple))
      throw new TemplateError(`a string or a tuple of strings is needed, not ${kind(wanted)}`)
    return wanted.some((one) => is(within, textOf(one)))
  })

/** The index of a string in another one, in code points, or -1. `find` searches. */
const finder = (find) =>
  unnamed(['sub', 'start', 'end'], [null, null], (self, sub, start, end) => {
    const from = start === null ? 0 : positionOf(self, boundOf(start))
    const within = part(self, start, end)
    if (within === undefined) return -1
    const at = find(within, textOf(sub))
    return at < 0 ? -1 : from + textLength(text.cut(within, 0, at))
  })

/** Converts an index that may count from the end to one from the start. */
const positionOf = (self, at) => (at < 0 ? Math.max(0, at + textLength(self)) : at)

/** Like a finder, but throws if the value is not found. */
const index = (find) => (self, args, kwargs) => found(find(self, args, kwargs))

const found = (at) => {
  if (at < 0) throw new TemplateError('the value is not found')
  return at
}

const partition = (find, otherwise) =>
  unnamed(['sep'], [], (self, separator) => {
    const by = textOf(separator)
    if (by === '') throw new TemplateError('a string cannot be divided at an empty separator')
    const at = find(self, by)
    return at < 0
      ? otherwise(self)
      : tuple(text.cut(self, 0, at), text.cut(self, at, at + by.length), text.cut(self, at + by.length))
  })

/** The strings of an iterable value. */
function texts(parts) {
  const list = items(parts)
  allocateList(list.length)
  return list.map(stringOf)
}

const first = finder(text.find)
const last = finder(text.findLast)

/** Characters with the numeric type of digits. */
const DIGITS =
  /^[\p{Nd}\xb2\xb3\xb9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]+$/u
/** Numbers, and Chinese characters that are numbers. */
const NUMERIC =
  /^[\p{N}㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零\uf96b\uf973\uf978\uf9b2\uf9d1\uf9d3\uf9fd\u{20001}\u{20064}\u{200e2}\u{20121}\u{2092a}\u{20983}\u{2098c}\u{2099c}\u{20aea}\u{20afd}\u{20b19}\u{22390}\u{22998}\u{23b1b}\u{2626d}\u{2f890}]+$/u

/** str.maketrans: a mapping of code points to characters, code points or none. */
function makeTable(from, to, removed) {
  const table = new Dict()
  if (to === undefined) {
    if (!(from instanceof Dict)) throw new TemplateError('maketrans takes a mapping, or two strings')
    for (const [key, value] of from.entries()) table.set(isText(key) ? codeOf(seen(key)) : wholeOf(key), value)
    return table
  }
  const [keys, values] = [characters(textOf(from)), characters(textOf(to))]
  if (keys.length !== values.length) throw new TemplateError('maketrans takes two strings of one length')
  for (const [i, key] of keys.entries()) table.set(key.codePointAt(0), values[i].codePointAt(0))
  for (const one of removed === undefined ? [] : characters(textOf(removed))) table.set(one.codePointAt(0), null)
  return table
}

function codeOf(character) {
  const [one, ...more] = character.slice(0, 3)
  if (one === undefined || more.length > 0) throw new TemplateError('maketrans takes characters as keys')
  return one.codePointAt(0)
}

/** str.translate, with a mapping or a list of what the code points become. */
function translate(self, table) {
  const parts = characters(bare(self)).map((one) => {
    const code = one.codePointAt(0)
    spend(4)
    const value =
      table instanceof Dict
        ? table.get(code)
        : isText(table) || Array.isArray(table)
          ? elementOf(table, code)
          : undefined
    if (value === undefined) return one
    if (value === null) return ''
    if (isText(value)) return seen(value)
    const changed = wholeOf(value)
    if (!(changed >= 0 && changed <= 0x10ffff)) throw new TemplateError('translate takes code points of characters')
    return String.fromCodePoint(changed)
  })
  // The code points of a table may be numbers of the caller.
  return computed(text.join(parts, ''))
}

const elementOf = (table, code) => (isText(table) ? text.characterAt(seen(table), code) : table[code])

const STRING = kept({
  capitalize: simple(text.capitalize),
  casefold: simple(text.caseFold),
  center: unnamed(['width', 'fillchar'], [' '], (self, width, fill) =>
    text.center(self, wholeOf(width), stringOf(fill)),
  ),
  count: unnamed(['sub', 'start', 'end'], [null, null], (self, sub, start, end) => {
    const within = part(self, start, end)
    return within === undefined ? 0 : text.count(within, textOf(sub))
  }),
  endswith: edge(text.endsWith),
  expandtabs: method(['tabsize'], [8], (self, size) => text.expandTabs(self, wholeOf(size))),
  find: first,
  index: index(first),
  isalnum: all(/^[\p{L}\p{N}]+$/u),
  isalpha: all(/^\p{L}+$/u),
  isascii: all(/^[\x00-\x7f]*$/),
  isdecimal: all(/^\p{Nd}+$/u),
  isdigit: all(DIGITS),
  isidentifier: all(/^[\p{XIDS}_]\p{XIDC}*$/u),
  islower: simple(text.isLower),
  isnumeric: all(NUMERIC),
  isprintable: simple((self) => !text.consistsOf(self, /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u)),
  isspace: simple((self) => self !== '' && text.strip(self, null, true, false) === ''),
  istitle: simple(text.isTitle),
  isupper: simple(text.isUpper),
  join: unnamed(['iterable'], [], (self, parts) => text.join(texts(parts), self)),
  ljust: unnamed(['width', 'fillchar'], [' '], (self, width, fill) =>
    text.padRight(self, wholeOf(width), stringOf(fill)),
  ),
  lower: simple(text.lower),
  lstrip: stripper(true, false),
  maketrans: unnamed(['x', 'y', 'z'], [NOT_GIVEN, NOT_GIVEN], (_self, from, to, removed) =>
    makeTable(from, ...[to, removed].map((one) => (one === NOT_GIVEN ? undefined : one))),
  ),
  partition: partition(text.find, (self) => tuple(self, '', '')),
  removeprefix: unnamed(['prefix'], [], (self, prefix) =>
    text.startsWith(self, stringOf(prefix)) ? text.cut(self, stringOf(prefix).length) : self,
  ),
  removesuffix: unnamed(['suffix'], [], (self, suffix) =>
    text.endsWith(self, stringOf(suffix)) ? text.cut(self, 0, self.length - stringOf(suffix).length) : self,
  ),
  replace: method(['old', 'new', 'count'], [-1], (self, old, by, most) =>
    text.replace(self, bare(stringOf(old)), stringOf(by), wholeOf(most)),
  ),
  rfind: last,
  rindex: index(last),
  rjust: unnamed(['width', 'fillchar'], [' '], (self, width, fill) =>
    text.padLeft(self, wholeOf(width), stringOf(fill)),
  ),
  rpartition: partition(text.findLast, (self) => tuple('', '', self)),
  rsplit: splitter(text.splitRight),
  rstrip: stripper(false, true),
  split: splitter(text.split),
  splitlines: method(['keepends'], [false], (self, keep) => text.splitLines(self, isTrue(keep))),
  startswith: edge(text.startsWith),
  strip: stripper(true, true),
  swapcase: simple(text.swapCase),
  title: simple(text.title),
  translate: unnamed(['table'], [], translate),
  upper: simple(text.upper),
  zfill: unnamed(['width'], [], (self, width) => text.zeroFill(self, wholeOf(width))),
})

/** The methods `format` and `format_map` need a function that looks up parts of values. */
const formatMethod = (lookUp) => keeping((self, args, kwargs) => formatFields(self, args, kwargs, lookUp))

// The index of the argument that markupsafe escapes. Other methods use strings unchanged.
const ESCAPED = { center: 1, ljust: 1, replace: 1, rjust: 1 }

/** A method of Markup: the method of strings, with Markup as its result. */
function markupMethod(name) {
  const run = STRING[name]
  return (self, args, kwargs) => {
    let given = args
    if (name === 'join' && args.length === 1) {
      const list = items(args[0])
      allocateList(list.length)
      given = [list.map(escaped)]
    } else if (ESCAPED[name] < args.length) {
      given = args.with(ESCAPED[name], escaped(args[ESCAPED[name]]))
    }
    return asMarkup(run(self.text, given, kwargs), self)
  }
}

/** The indices of a value in a list. */
function* positionsOf(list, value) {
  for (const [at, item] of items(list).entries()) if (same(item, value, 0)) yield at
}

function indexIn(self, value, start, stop) {
  if (self instanceof Range && (start !== 0 || stop !== null))
    throw new TemplateError('index of a range takes one value')
  const [from, to] = text.bounds(self.length, boundOf(start), boundOrNull(stop), 1)
  for (const at of positionsOf(self, value)) if (at >= from) return found(at < to ? at : -1)
  return found(-1)
}

const LIST = {
  count: unnamed(['value'], [], (self, value) => {
    let count = 0
    for (const at of positionsOf(self, value)) count += at >= 0 ? 1 : 0
    return count
  }),
  index: unnamed(['value', 'start', 'stop'], [0, null], indexIn),
}
const ONLY_LIST = {
  ...LIST,
  copy: simple((self) => {
    allocateList(self.length)
    return [...self]
  }),
}
const LIST_CHANGES = ['append', 'clear', 'extend', 'insert', 'pop', 'remove', 'reverse', 'sort']

const DICT = {
  copy: simple((self) => new Dict(self.entries())),
  fromkeys: (_self, args, kwargs) => fromKeys(args, kwargs),
  get: unnamed(['key', 'default'], [null], (self, key, otherwise) => {
    const value = self.get(key)
    return value === undefined ? otherwise : value
  }),
  items: simple((self) => viewOf('dict_items', self.items())),
  keys: simple((self) => viewOf('dict_keys', self.keys())),
  values: simple((self) => viewOf('dict_values', self.values())),
}
const DICT_CHANGES = ['clear', 'pop', 'popitem', 'setdefault', 'update']

/** dict.fromkeys(): a mapping of keys to one value. */
const fromKeys = positional((args) => {
  const [keys, value] = bind(['iterable', 'value'], [null], args, NO_KEYWORDS)
  const result = new Dict()
  for (const key of iterate(keys)) result.set(key, value)
  return result
})

// Attributes in Python that are not supported. Without an error, they would look undefined.
const OF_TEXT = ['encode']
const OF_MARKUP = [...OF_TEXT, 'escape', 'striptags', 'unescape']
const OF_NUMBER = ['as_integer_ratio', 'conjugate', 'imag', 'is_integer', 'real']
const OF_FLOAT = [...OF_NUMBER, 'fromhex', 'hex']
const OF_INTEGER = [...OF_NUMBER, 'bit_count', 'bit_length', 'denominator', 'from_bytes', 'numerator', 'to_bytes']
const OF_VIEW = ['isdisjoint', 'mapping']

function unsupported(value, name) {
  const names = isString(value)
    ? OF_TEXT
    : value instanceof Markup
      ? OF_MARKUP
      : value instanceof Float
        ? OF_FLOAT
        : isNumber(value)
          ? OF_INTEGER
          : value instanceof View
            ? OF_VIEW
            : []
  if (names.includes(name)) throw new TemplateError(`${kind(value)}.${name} is not supported`)
  return undefined
}

function viewOf(name, list) {
  allocateList(list.length)
  return Object.assign(View.from(list), { name })
}

/**
 * The method of a value by name, or undefined. `isRefused` means that it would change the value.
 */
const methodOf = (value, name) => supported(value, name) ?? unsupported(value, name)

function supported(value, name) {
  if (isString(value)) return Object.hasOwn(STRING, name) ? { run: STRING[name] } : undefined
  if (value instanceof Markup) return Object.hasOwn(STRING, name) ? { run: markupMethod(name) } : undefined
  if (value instanceof Dict) return entryOf(DICT, DICT_CHANGES, name)
  if (value instanceof View) return undefined
  if (value instanceof Tuple || value instanceof Range) return entryOf(LIST, [], name)
  return Array.isArray(value) ? entryOf(ONLY_LIST, LIST_CHANGES, name) : undefined
}

function entryOf(methods, changes, name) {
  if (Object.hasOwn(methods, name)) return { run: methods[name] }
  return changes.includes(name) ? { isRefused: true } : undefined
}

module.exports = { STRING, formatMethod, fromKeys, methodOf }
