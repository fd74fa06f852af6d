'use strict'

// The filters of jinja2. `tojson` is that of transformers.

const { allocate, walk } = require('./render-cost.js')
const { getAttribute } = require('./access.js')
const { bind, boundOf, textOf, textOrNull, wholeOf } = require('./arguments.js')
const { percent } = require('./format.js')
const { toJson } = require('./json.js')
const { listFilters } = require('./list-filters.js')
const { add, escape, part } = require('./markup.js')
const { fixed, round, toFloat, toInteger } = require('./numbers.js')
const { softText, str } = require('./print.js')
const { tests } = require('./tests.js')
const { bare, computed } = require('./origins.js')
const text = require('./traced.js')
const {
  Dict,
  Float,
  Generator,
  Markup,
  Range,
  TemplateError,
  Tuple,
  Undefined,
  integer,
  isNumber,
  isText,
  isTrue,
  items,
  iterate,
  kind,
  length,
  kept,
  plain,
  stringIn,
  textLength,
} = require('./values.js')
const { wordWrap } = require('./word-wrap.js')

const filter = (names, defaults, run) => (value, args, kwargs) => run(value, ...bind(names, defaults, args, kwargs))
const simple = (run) => filter([], [], run)
/** A filter of a string; returns Markup for Markup. */
const soft = (run) => simple((value) => part(softText(value), run))

function absolute(value) {
  if (value instanceof Undefined) value.refuse()
  if (!isNumber(value)) throw new TemplateError(`${kind(value)} is not a number`)
  if (value instanceof Float) return new Float(Math.abs(value.value))
  const whole = integer(value)
  return whole < 0 ? integer(-BigInt(whole)) : whole
}

function indent(value, width, first, blank) {
  if (!isText(value)) throw new TemplateError(`only strings are indented, not ${kind(value)}`)
  const by = isText(width) ? stringIn(width) : text.repeat(' ', wholeOf(width))
  return part(value, (whole) => {
    const [head, ...rest] = text.splitLines(text.concat(whole, '\n'))
    const lines = rest.map((line) => {
      allocate(8)
      return line !== '' || isTrue(blank) ? text.concat(by, line) : line
    })
    return text.join([text.concat(isTrue(first) ? by : '', head), ...lines], '\n')
  })
}

function replace(value, old, by, count) {
  return text.replace(str(value), bare(str(old)), str(by), count === null ? -1 : wholeOf(count))
}

function format(value, args, kwargs) {
  if (args.length > 0 && kwargs.size > 0) throw new TemplateError('format takes values or names of values, not both')
  return percent(softText(value), kwargs.size > 0 ? kwargs : Tuple.from(args))
}

function truncate(value, size, killWords, end, leeway) {
  const limit = boundOf(size)
  const spare = leeway === null ? 5 : boundOf(leeway)
  const capacity = limit - textLength(textOf(end))
  if (capacity < 0 || spare < 0) throw new TemplateError('truncate needs a length for its end, and no negative leeway')
  if (length(value) <= limit + spare) return value
  const start = part(value, (whole) => text.slice(whole, 0, capacity, 1))
  return add(isTrue(killWords) ? start : part(start, (whole) => text.splitRight(whole, ' ', 1)[0]), end)
}

/** Like urllib's quote. Mappings and lists of pairs become `key=value` pairs. */
function urlEncode(value) {
  const quote = (one, pattern) => {
    const whole = plain(str(one))
    allocate(9 * whole.length)
    return text.substitute(whole.toWellFormed(), pattern, ([character]) =>
      encodeURIComponent(character).replace(/[!'()*]/, hexOf),
    )
  }
  const isList = Array.isArray(value) || value instanceof Dict || value instanceof Range || value instanceof Generator
  if (!isList) return quote(value, /[^\w.~/-]/gu)
  const inQuery = (one) => text.replace(quote(one, /[^\w.~ -]/gu), ' ', '+', -1)
  const parts = []
  for (const pair of value instanceof Dict ? value.items() : iterate(value)) {
    const [key, one, ...more] = items(pair)
    if (one === undefined || more.length > 0) throw new TemplateError('urlencode takes pairs of a key and a value')
    allocate(64)
    parts.push(text.concat(text.concat(inQuery(key), '='), inQuery(one)))
  }
  return text.join(parts, '&')
}

const hexOf = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

function wordCount(value) {
  const whole = bare(str(value))
  walk(whole.length)
  let count = 0
  for (const { index } of whole.matchAll(/[\p{L}\p{N}_]+/gu)) count += index >= 0 ? 1 : 0
  walk(64 * count)
  return count
}

/** The attributes of an element: `key="value"`, without values that are none or undefined. */
function xmlAttributes(value, autospace) {
  if (!(value instanceof Dict)) throw new TemplateError(`${kind(value)} has no attributes to write`)
  const parts = []
  for (const [key, one] of value.entries()) {
    if (one === null || one instanceof Undefined) continue
    const name = textOf(key)
    walk(name.length)
    if (/[ \t-\r/>=]/.test(name)) throw new TemplateError("the name of an attribute has white space, '/', '>' or '='")
    allocate(64)
    parts.push(text.join([escape(key).text, '="', escape(one).text, '"'], ''))
  }
  const written = text.join(parts, ' ')
  return isTrue(autospace) && written !== '' ? text.concat(' ', written) : written
}

const SIZES = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']

/** A number of bytes for a person: 1.5 kB, or with binary units 1.5 KiB. */
function fileSize(value, binary) {
  const bytes = toFloat(value, null)
  if (bytes === null) throw new TemplateError(`${kind(value)} is not a number`)
  const [base, end] = isTrue(binary) ? [1024, 'iB'] : [1000, 'B']
  if (bytes.value === 1) return '1 Byte'
  if (bytes.value < base) return `${bare(str(toInteger(bytes, null, 10)))} Bytes`
  let at = 0
  while (at < SIZES.length - 1 && !isBelow(bytes.value, BigInt(base) ** BigInt(at + 2))) at++
  const unit = isTrue(binary) ? SIZES[at].toUpperCase() : SIZES[at]
  const size = (base * bytes.value) / (base === 1024 ? 1024 ** (at + 2) : Number(`1e${3 * (at + 2)}`))
  return `${Number.isFinite(size) ? fixed(size, 1) : bare(str(new Float(size)))} ${unit}${end}`
}

/** Compares a float with an integer that may be no double, exactly as Python does. */
const isBelow = (double, integer) => Number.isFinite(double) && BigInt(Math.floor(double)) < integer

const upper = soft(text.upper)
const otherwise = filter(['default_value', 'boolean'], ['', false], (value, other, empty) =>
  value instanceof Undefined || (isTrue(empty) && !isTrue(value)) ? other : value,
)
const escaped = simple(escape)

const FILTERS = kept({
  abs: simple(absolute),
  attr: filter(['name'], [], (value, name) => getAttribute(value, textOf(name), { orElement: false })),
  capitalize: soft(text.capitalize),
  center: filter(['width'], [80], (value, width) =>
    part(softText(value), (whole) => text.center(whole, wholeOf(width), ' ')),
  ),
  d: otherwise,
  default: otherwise,
  e: escaped,
  escape: escaped,
  filesizeformat: filter(['binary'], [false], (value, binary) => computed(fileSize(value, binary))),
  float: filter(['default'], [new Float(0)], toFloat),
  forceescape: simple((value) => escape(str(value))),
  format,
  indent: filter(['width', 'first', 'blank'], [4, false, false], indent),
  int: filter(['default', 'base'], [0, 10], (value, other, base) => toInteger(value, other, wholeOf(base))),
  lower: soft(text.lower),
  replace: filter(['old', 'new', 'count'], [null], replace),
  round: filter(['precision', 'method'], [0, 'common'], (value, precision, method) =>
    round(value, wholeOf(precision), textOf(method)),
  ),
  safe: simple((value) => new Markup(str(value))),
  string: simple(softText),
  title: simple((value) => text.titleWords(str(value))),
  tojson: filter(
    ['ensure_ascii', 'indent', 'separators', 'sort_keys'],
    [false, null, null, false],
    (value, ascii, by, separators, sort) =>
      toJson(value, { ensureAscii: isTrue(ascii), indent: by, separators, sortKeys: isTrue(sort) }),
  ),
  trim: filter(['chars'], [null], (value, set) =>
    part(softText(value), (whole) => text.strip(whole, textOrNull(set), true, true)),
  ),
  truncate: filter(['length', 'killwords', 'end', 'leeway'], [255, false, '...', null], truncate),
  upper,
  urlencode: simple(urlEncode),
  wordcount: simple(wordCount),
  wordwrap: filter(['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'], [79, true, null, true], wordWrap),
  xmlattr: filter(['autospace'], [true], xmlAttributes),
  ...listFilters({ filters: (name) => filters(name), tests }),
})

/** Returns the filter with a name. */
function filters(name) {
  if (Object.hasOwn(FILTERS, name)) return FILTERS[name]
  throw new TemplateError(`the filter '${name}' is not supported`)
}

module.exports = { FILTERS, filters }
