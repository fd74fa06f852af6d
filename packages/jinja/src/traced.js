'use strict'

// The functions of text.js for strings of any origin: each character of a result has the origin of
// the character that it was made of.

const { allocate, spend } = require('./render-cost.js')
const { Runs, bare, cut, marked, originOf } = require('./origins.js')
const text = require('./text.js')
const { charactersIn } = require('./values.js')

const isPlain = (string) => typeof string === 'string'

/** A function that makes a number or a boolean of strings. */
const measure =
  (run) =>
  (...strings) =>
    run(...strings.map((one) => (one?.text === undefined ? one : bare(one))))

/** A function that changes single characters. Where their number changes, they have one origin. */
const changer = (run) => (string) => {
  if (isPlain(string)) return run(string)
  const changed = run(string.text)
  if (string.runs === undefined || changed.length !== string.length) return marked(changed, originOf(string))
  const runs = new Runs()
  runs.append(string)
  return runs.of(changed)
}

function substitute(string, pattern, by) {
  if (isPlain(string)) {
    let isTraced = false
    const parts = []
    const written = text.substitute(string, pattern, (match) => {
      const made = by(match)
      isTraced ||= !isPlain(made)
      parts.push([match.index, match[0].length, made])
      return bare(made)
    })
    return isTraced ? withParts(string, parts, written) : written
  }
  const parts = []
  const written = text.substitute(string.text, pattern, (match) => {
    const [at, length] = [match.index, match[0].length]
    const made = by(match)
    parts.push([at, length, isPlain(made) ? marked(made, originOf(cut(string, at, at + length))) : made])
    return bare(made)
  })
  return withParts(string, parts, written)
}

/** A string in which parts are replaced, as `written`. */
function withParts(string, parts, written) {
  const runs = new Runs()
  let end = 0
  spend(parts.length)
  for (const [at, length, made] of parts) {
    runs.append(string, end, at)
    runs.append(made)
    end = at + length
  }
  runs.append(string, end)
  return runs.of(written)
}

/** `text.strip`. */
function strip(string, set, start, end) {
  if (isPlain(string)) return text.strip(string, set, start, end)
  const head = start ? text.strip(string.text, set, true, false) : string.text
  const from = string.length - head.length
  const kept = end ? text.strip(head, set, false, true) : head
  return cut(string, from, from + kept.length)
}

/** A function that divides a text into parts of it, in order, with separators between them. */
const divider = (divide) => (string, separator, most) => {
  const parts = divide(bare(string), separator, most)
  if (isPlain(string)) return parts
  let at = 0
  return parts.map((part, i) => {
    // Between parts are separators of one length, or white space, with which no part starts.
    if (separator !== null && i > 0) at += separator.length
    const from = separator === null ? string.text.indexOf(part, at) : at
    at = from + part.length
    return cut(string, from, at)
  })
}

function splitLines(string, keepEnds = false) {
  const lines = text.splitLines(bare(string), keepEnds)
  if (isPlain(string)) return lines
  let at = 0
  return text.splitLines(string.text, true).map((whole, i) => {
    const from = at
    at += whole.length
    return cut(string, from, from + lines[i].length)
  })
}

function replace(string, old, by, most) {
  if (isPlain(string) && isPlain(by)) return text.replace(string, old, by, most)
  const whole = bare(string)
  const positions = []
  if (old === '') {
    let at = 0
    for (const point of [...whole, '']) {
      positions.push(at)
      at += point.length
    }
    allocate(24 * whole.length)
  } else {
    // The positions are those of the separators.
    const parts = text.split(whole, old, -1)
    let at = 0
    for (const part of parts.slice(0, -1)) {
      positions.push(at + part.length)
      at += part.length + old.length
    }
  }
  const chosen = most < 0 ? positions : positions.slice(0, most)
  const written = text.replace(whole, old, bare(by), most)
  return withParts(
    string,
    chosen.map((at) => [at, old.length, by]),
    written,
  )
}

function characterAt(string, index) {
  const found = text.characterAt(bare(string), index)
  if (found === undefined || isPlain(string)) return found
  return slice(string, index, index === -1 ? null : index + 1, 1)
}

function slice(whole, start, stop, step) {
  if (isPlain(whole) || Array.isArray(whole)) return text.slice(whole, start, stop, step)
  const part = text.slice(whole.text, start, stop, step)
  if (part === '' || whole.runs === undefined) return marked(part, whole.origin)
  if (step !== 1) return join(text.sliceList(charactersIn(whole), start, stop, step), '')
  // A part of a text is found behind the characters before it.
  const before = text.slice(whole.text, 0, start, 1)
  const isFromEnd = start !== null && start < 0
  const from =
    start === null ? 0 : isFromEnd ? whole.length - text.slice(whole.text, start, null, 1).length : before.length
  return cut(whole, from, from + part.length)
}

function repeat(string, times) {
  const whole = text.repeat(bare(string), times)
  if (isPlain(string)) return whole
  if (string.runs === undefined) return marked(whole, string.origin)
  const runs = new Runs()
  const count = Math.max(0, times)
  spend(count)
  allocate(8 * count * string.runs.length)
  for (let i = 0; i < count; i++) runs.append(string)
  return runs.of(whole)
}

function concat(a, b) {
  if (isPlain(a) && isPlain(b)) return text.concat(a, b)
  const whole = text.concat(bare(a), bare(b))
  const runs = new Runs()
  runs.append(a)
  runs.append(b)
  return runs.of(whole)
}

function join(parts, separator) {
  if (isPlain(separator) && parts.every(isPlain)) return text.join(parts, separator)
  const whole = text.join(parts.map(bare), bare(separator))
  const runs = new Runs()
  parts.forEach((part, i) => {
    if (i > 0) runs.append(separator)
    runs.append(part)
  })
  return runs.of(whole)
}

const room = (string, width, fill) => text.padding(bare(string), width, bare(fill))
const padLeft = (string, width, fill) => concat(repeat(fill, room(string, width, fill)), string)
const padRight = (string, width, fill) => concat(string, repeat(fill, room(string, width, fill)))

function center(string, width, fill) {
  const count = room(string, width, fill)
  const left = text.leftOf(count, width)
  return concat(concat(repeat(fill, left), string), repeat(fill, count - left))
}

function zeroFill(string, width) {
  const sign = /^[-+]/.test(bare(string)) ? 1 : 0
  return concat(cut(string, 0, sign), padLeft(cut(string, sign), width - sign, '0'))
}

/** A function of the whole string, whose result has one origin. */
const whole =
  (run) =>
  (string, ...rest) =>
    isPlain(string) ? run(string, ...rest) : marked(run(string.text, ...rest), originOf(string))

/** Escapes the special characters of HTML. */
const escapeHtml = (string) => substitute(string, /[&<>'"]/g, ([one]) => text.HTML[one])

module.exports = {
  ...text,
  capitalize: changer(text.capitalize),
  caseFold: changer(text.caseFold),
  center,
  characterAt,
  concat,
  consistsOf: measure(text.consistsOf),
  count: measure(text.count),
  cut,
  endsWith: measure(text.endsWith),
  escapeHtml,
  expandTabs: whole(text.expandTabs),
  find: measure(text.find),
  findLast: measure(text.findLast),
  isLower: measure(text.isLower),
  isTitle: measure(text.isTitle),
  isUpper: measure(text.isUpper),
  join,
  lower: changer(text.lower),
  padLeft,
  padRight,
  repeat,
  replace,
  slice,
  split: divider(text.split),
  splitLines,
  splitRight: divider(text.splitRight),
  startsWith: measure(text.startsWith),
  strip,
  substitute,
  swapCase: changer(text.swapCase),
  title: changer(text.title),
  titleWords: changer(text.titleWords),
  upper: changer(text.upper),
  zeroFill,
}
