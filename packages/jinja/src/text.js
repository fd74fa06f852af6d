'use strict'

// Methods of Python's str that JavaScript does not have, or that must charge their cost. All
// functions take and return JavaScript strings; methods.js has the methods of Markup.

const { allocate, allocateList, allocateText, scan, spend, walk } = require('./render-cost.js')
const { find, findAll, findAllLast, findLast } = require('./search.js')
const { TemplateError, characters, hasSurrogates, textLength } = require('./values.js')

// Python's white space differs from that of JavaScript: it includes U+001C to U+001F and U+0085,
// but not U+FEFF.
/** Python's \s, for use inside of brackets. */
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const ONE_SPACE = new RegExp(`[${SPACE}]`)
const WORD = new RegExp(`[^${SPACE}]+`, 'g')
/** The separators after which the filter title starts with an upper-case letter. */
const WORD_START = new RegExp(`[-({[<${SPACE}]+`, 'g')
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g

/**
 * Replaces each match. Unlike String.replace, which first finds all matches, it charges each match
 * before the next.
 */
function substitute(text, pattern, by) {
  spend(30)
  walk(text.length)
  const parts = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    spend(8)
    const replacement = by(match)
    allocate(64 + 2 * replacement.length)
    parts.push(text.slice(end, match.index), replacement)
    end = match.index + match[0].length
  }
  if (parts.length === 0) return text
  allocateText(text.length)
  parts.push(text.slice(end))
  return parts.join('')
}

/** Charges a substring, which shares the characters of the whole string. */
const allocatePart = () => allocate(32)

function isSpace(code) {
  if (code <= 32) return code >= 28 || (code >= 9 && code <= 13)
  return code >= 0x85 && ONE_SPACE.test(String.fromCharCode(code))
}

/** str.strip, str.lstrip and str.rstrip; `set` is null for white space. */
function strip(text, set, start, end) {
  scan(text.length)
  allocatePart()
  let [from, to] = [0, text.length]
  if (set === null) {
    while (start && from < to && isSpace(text.charCodeAt(from))) from++
    while (end && to > from && isSpace(text.charCodeAt(to - 1))) to--
    walk(text.length - (to - from))
    return text.slice(from, to)
  }
  const members = new Set(characters(set))
  const points = hasSurrogates(text) || hasSurrogates(set) ? characters(text) : text
  to = points.length
  while (start && from < to && members.has(points[from])) from++
  while (end && to > from && members.has(points[to - 1])) to--
  return typeof points === 'string' ? points.slice(from, to) : points.slice(from, to).join('')
}

/** str.split: at white space if there is no separator. */
function split(text, separator, most) {
  if (separator === null) return splitWords(text, most)
  checkSeparator(separator)
  const parts = []
  let start = 0
  for (const at of findAll(text, separator)) {
    if (most >= 0 && parts.length >= most) break
    allocatePart()
    parts.push(text.slice(start, at))
    start = at + separator.length
  }
  parts.push(text.slice(start))
  return parts
}

function splitWords(text, most) {
  walk(text.length)
  const parts = []
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (most >= 0 && parts.length >= most) {
      parts.push(text.slice(index))
      break
    }
    allocate(200)
    parts.push(word)
  }
  return parts
}

/** str.rsplit. */
function splitRight(text, separator, most) {
  if (separator === null) return splitWordsRight(text, most)
  checkSeparator(separator)
  const parts = []
  let end = text.length
  for (const at of findAllLast(text, separator)) {
    if (most >= 0 && parts.length >= most) break
    allocatePart()
    parts.push(text.slice(at + separator.length, end))
    end = at
  }
  parts.push(text.slice(0, end))
  return parts.reverse()
}

function splitWordsRight(text, most) {
  const words = splitWords(text, -1)
  if (most < 0 || words.length <= most) return words
  const last = words.slice(words.length - most)
  let end = text.length
  // The words are at the end of the text, separated by white space.
  for (const word of last.toReversed()) end = strip(text.slice(0, end), null, false, true).length - word.length
  return [strip(text.slice(0, end), null, false, true), ...last]
}

function checkSeparator(separator) {
  if (separator === '') throw new TemplateError('a string cannot be split at an empty separator')
}

/** str.splitlines. */
function splitLines(text, keepEnds = false) {
  walk(text.length)
  const lines = []
  let start = 0
  for (const { 0: end, index } of text.matchAll(LINE_END)) {
    allocate(200)
    lines.push(text.slice(start, keepEnds ? index + end.length : index))
    start = index + end.length
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/** str.replace: at most `most` times from the left, or without limit if that is negative. */
function replace(text, old, by, most) {
  if (most < 0) most = Infinity
  if (old === '') return interleave(text, by, most)
  const parts = []
  let start = 0
  let count = 0
  for (const at of findAll(text, old)) {
    if (count++ >= most) break
    allocatePart()
    allocateText(by.length)
    parts.push(text.slice(start, at), by)
    start = at + old.length
  }
  if (parts.length === 0) return text
  allocateText(text.length)
  return parts.join('') + text.slice(start)
}

/** `by` before each of the first code points, and at the end if `most` allows it. */
function interleave(text, by, most) {
  const points = characters(text)
  const count = Math.min(most, points.length + 1)
  allocateText(text.length + count * by.length)
  return points.map((point, i) => (i < count ? by + point : point)).join('') + (count > points.length ? by : '')
}

function startsWith(text, start) {
  scan(start.length)
  return text.startsWith(start)
}

function endsWith(text, end) {
  scan(end.length)
  return text.endsWith(end)
}

/** Converts to upper or lower case. A character becomes at most three. */
function upper(text) {
  walk(text.length)
  allocateText(text.length)
  return charged(text, text.toUpperCase())
}

function lower(text) {
  walk(text.length)
  allocateText(text.length)
  return charged(text, text.toLowerCase())
}

/**
 * str.casefold, which expands letters and has no final sigma. The dotless i does not become an i,
 * and Cherokee becomes upper case.
 */
function caseFold(text) {
  const cherokee = (part) => substitute(part, /[\uab70-\uabbf\u13f8-\u13fd]+/g, ([one]) => one.toUpperCase())
  const fold = (part) => cherokee(replace(lower(upper(lower(part))), 'ς', 'σ', -1))
  return join(split(text, 'ı', -1).map(fold), 'ı')
}

function charged(before, after) {
  if (after.length > before.length) allocateText(after.length - before.length)
  return after
}

function capitalize(text) {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0).length
  return text === '' ? '' : titleCase(text.slice(0, first)) + lowerAfter(text.slice(0, first), text.slice(first))
}

/** The lower case of `rest` behind `first`. A sigma has another form at the end of a word. */
const lowerAfter = (first, rest) => (rest === '' ? '' : lower(first + rest).slice(first.toLowerCase().length))

const DIGRAPHS = { Ǆ: 'ǅ', Ǉ: 'ǈ', Ǌ: 'ǋ', Ǳ: 'ǲ' }

/** The title case of a character, which can differ from its upper case. */
function titleCase(character) {
  const changed = upper(character)
  const code = character.charCodeAt(0)
  // Georgian letters have an upper case for words only.
  if (character === changed || /[\u10d0-\u10ff\p{Lt}]/u.test(character)) return DIGRAPHS[character] ?? character
  if (code >= 0x1f80 && code < 0x2000 && changed.length > 1) return greekTitleCase(code, changed) ?? changed
  if (changed.length === 1 || character === 'ŉ') return DIGRAPHS[changed] ?? changed
  const [head, ...tail] = changed
  return head + tail.join('').toLowerCase()
}

/** Letters with an iota subscript, which becomes a letter in upper case only. */
function greekTitleCase(code, changed) {
  if (code < 0x1fb0) return String.fromCharCode(code | 8)
  if (!changed.endsWith('Ι')) return undefined
  return (code & 0xf) === 3 ? String.fromCharCode(code + 9) : `${changed.slice(0, -1)}\u0345`
}

/**
 * A sigma at the end of a word, whose lower case is another letter: behind a letter and not before
 * one, apart from characters such as apostrophes.
 */
const FINAL_SIGMA =
  'Σ(?<=(?!\\p{Case_Ignorable})\\p{Cased}\\p{Case_Ignorable}*Σ)(?!\\p{Case_Ignorable}*(?!\\p{Case_Ignorable})\\p{Cased})'
const FINAL_SIGMAS = new RegExp(FINAL_SIGMA, 'gu')
const CASES = new RegExp(`(${FINAL_SIGMA})|(\\p{Uppercase})|\\p{Lowercase}`, 'gu')

/** str.title: a cased letter becomes lower case after another one, else title case. */
function title(text) {
  const small = (rest) => lower(rest.replaceAll('Σ', 'σ'))
  const words = substitute(text, FINAL_SIGMAS, () => 'ς')
  return substitute(words, /(\p{Cased})(\p{Cased}*)/gu, ([, first, rest]) => titleCase(first) + small(rest))
}

/**
 * The filter title: each part between white space and opening brackets starts with an upper-case
 * letter.
 */
function titleWords(text) {
  const part = (word) => {
    allocate(64)
    if (word === '') return ''
    const first = String.fromCodePoint(word.codePointAt(0)).length
    return upper(word.slice(0, first)) + lower(word.slice(first))
  }
  const parts = []
  let end = 0
  walk(text.length)
  for (const { 0: separator, index } of text.matchAll(WORD_START)) {
    parts.push(part(text.slice(end, index)), separator)
    end = index + separator.length
  }
  parts.push(part(text.slice(end)))
  return join(parts, '')
}

function swapCase(text) {
  return substitute(text, CASES, ([one, final, large]) => {
    if (final !== undefined) return 'ς'
    return large === undefined ? one.toUpperCase() : one.toLowerCase()
  })
}

/** Whether a text has a match of the first pattern, and none of the second. */
function isCased(text, wanted, unwanted) {
  walk(text.length)
  return wanted.test(text) && !unwanted.test(text)
}
const isLower = (text) => isCased(text, /\p{Lowercase}/u, /[\p{Uppercase}\p{Lt}]/u)
const isUpper = (text) => isCased(text, /\p{Uppercase}/u, /[\p{Lowercase}\p{Lt}]/u)
/** Large letters stand only at the start of words, and small ones only behind other letters. */
const isTitle = (text) =>
  isCased(
    text,
    /[\p{Uppercase}\p{Lt}]/u,
    /[\p{Uppercase}\p{Lt}\p{Lowercase}][\p{Uppercase}\p{Lt}]|(?<![\p{Uppercase}\p{Lt}\p{Lowercase}])\p{Lowercase}/u,
  )

/** Whether a text matches a pattern for all its characters, such as /^\p{L}+$/u. */
function consistsOf(text, pattern) {
  walk(text.length)
  return pattern.test(text)
}

/** The code point at an index, which counts from the end if it is negative, or undefined. */
function characterAt(text, index) {
  // Code points have at most two UTF-16 units.
  const units = 2 * (index < 0 ? -index : index + 1)
  const near = index < 0 ? text.slice(-units) : text.slice(0, units)
  if (!hasSurrogates(near)) return near.at(index)
  return characters(near).at(index)
}

/** A slice of a string or of a list as in Python; absent bounds are `null`. */
function slice(whole, start, stop, step) {
  if (typeof whole !== 'string') return sliceList(whole, start, stop, step)
  allocatePart()
  const fromStart = step > 0 && (start ?? 0) >= 0 && stop !== null && stop >= 0
  const text = fromStart ? whole.slice(0, 2 * stop) : whole
  if (hasSurrogates(text)) return joined(sliceList(characters(text), start, stop, step))
  if (step !== 1) return joined(sliceList(characters(text), start, stop, step))
  const [from, to] = bounds(text.length, start, stop, step)
  return text.slice(from, Math.max(from, to))
}

const joined = (parts) => {
  allocateText(2 * parts.length)
  return parts.join('')
}

function sliceList(list, start, stop, step) {
  const [from, to] = bounds(list.length, start, stop, step)
  const count = Math.max(0, Math.ceil((to - from) / step))
  allocateList(count)
  if (step === 1) return Array.prototype.slice.call(list, from, from + count)
  return Array.from({ length: count }, (_, i) => list[from + i * step])
}

/** The start and the end of a slice. */
function bounds(size, start, stop, step) {
  if (step === 0) throw new TemplateError('a slice cannot have a step of 0')
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1]
  const clamp = (index, otherwise) => {
    if (index === null) return otherwise
    return Math.min(Math.max(index < 0 ? index + size : index, low), high)
  }
  return [clamp(start, step > 0 ? low : high), clamp(stop, step > 0 ? high : low)]
}

function repeat(text, times) {
  const count = Math.max(0, times)
  allocateText(text.length * count)
  return text.repeat(count)
}

function concat(a, b) {
  if (a === '' || b === '') return a + b
  allocateText(a.length + b.length)
  return a + b
}

/** Joins strings that are already charged. */
function join(parts, separator) {
  let length = 0
  for (const part of parts) length += part.length + separator.length
  spend(parts.length)
  allocateText(length)
  return parts.join(separator)
}

/** The number of fill characters that a text needs for this width. */
function padding(text, width, fill) {
  if (textLength(fill) !== 1) throw new TemplateError('a text is filled with one character')
  return Math.max(0, width - textLength(text))
}

const padLeft = (text, width, fill) => concat(repeat(fill, padding(text, width, fill)), text)
const padRight = (text, width, fill) => concat(text, repeat(fill, padding(text, width, fill)))

/** The number of fill characters before a text that is centred. */
const leftOf = (room, width) => Math.floor(room / 2) + (room & width & 1)

/** str.center. */
function center(text, width, fill) {
  const room = padding(text, width, fill)
  const left = leftOf(room, width)
  return concat(concat(repeat(fill, left), text), repeat(fill, room - left))
}

/** str.zfill: zeros after the sign. */
function zeroFill(text, width) {
  const sign = /^[-+]/.test(text) ? text[0] : ''
  return sign + padLeft(text.slice(sign.length), width - sign.length, '0')
}

/** str.expandtabs. */
function expandTabs(text, size) {
  walk(2 * text.length)
  const parts = []
  let column = 0
  for (const [part] of text.matchAll(/\t|[\n\r]|[^\t\n\r]+/g)) {
    allocate(200)
    if (part === '\t') {
      const count = size > 0 ? size - (column % size) : 0
      parts.push(repeat(' ', count))
      column += count
    } else {
      parts.push(part)
      column = part === '\n' || part === '\r' ? 0 : column + textLength(part)
    }
  }
  return join(parts, '')
}

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' }

/** Escapes the special characters of HTML. */
const escapeHtml = (text) => substitute(text, /[&<>'"]/g, ([one]) => HTML[one])

/** The number of non-overlapping occurrences of a string in another one. */
function count(text, part) {
  if (part === '') return textLength(text) + 1
  let found = 0
  for (const at of findAll(text, part)) found += at >= 0 ? 1 : 0
  return found
}

module.exports = {
  HTML,
  SPACE,
  bounds,
  capitalize,
  caseFold,
  center,
  characterAt,
  concat,
  consistsOf,
  count,
  endsWith,
  escapeHtml,
  expandTabs,
  find,
  findLast,
  isLower,
  isSpace,
  isTitle,
  isUpper,
  join,
  leftOf,
  lower,
  padLeft,
  padRight,
  padding,
  repeat,
  replace,
  slice,
  sliceList,
  split,
  splitLines,
  splitRight,
  startsWith,
  strip,
  substitute,
  swapCase,
  title,
  titleWords,
  upper,
  zeroFill,
}
