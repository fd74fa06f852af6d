'use strict'

// What Python does with text, where JS does it in another way.

const { TemplateError } = require('./values.js')

// Python's white space is not that of JS: it has U+001C to U+001F and U+0085, and not U+FEFF.
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const START = new RegExp(`^[${SPACE}]+`)
const END = new RegExp(`[${SPACE}]+$`)
const WORD = new RegExp(`[^${SPACE}]+`, 'g')
/** What stands before a word that the filter title begins with a large letter. */
const WORD_START = new RegExp(`([-({[<${SPACE}]+)`)
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g

/** Text without white space, or without such characters, at its start, its end or both. */
function strip(text, characters, start, end) {
  if (characters === null) {
    let rest = start ? text.replace(START, '') : text
    if (end) rest = rest.slice(0, rest.length - trailing(rest))
    return rest
  }
  const set = new Set(characters)
  const points = Array.from(text)
  let [from, to] = [0, points.length]
  while (start && from < to && set.has(points[from])) from++
  while (end && to > from && set.has(points[to - 1])) to--
  return points.slice(from, to).join('')
}

/** How much white space a text ends with; a regular expression would look at every run of it. */
function trailing(text) {
  let count = 0
  while (count < text.length && END.test(text[text.length - 1 - count])) count++
  return count
}

/** As str.split: at white space where there is no separator. */
function split(text, separator, most) {
  if (separator === null) {
    const parts = []
    const rest = strip(text, null, true, false)
    for (const { 0: word, index } of rest.matchAll(WORD)) {
      if (most >= 0 && parts.length >= most) return [...parts, rest.slice(index)]
      parts.push(word)
    }
    return parts
  }
  checkSeparator(separator)
  const parts = text.split(separator)
  return most >= 0 && parts.length > most + 1 ? [...parts.slice(0, most), parts.slice(most).join(separator)] : parts
}

/** As str.rsplit. */
function splitRight(text, separator, most) {
  if (most < 0) return split(text, separator, -1)
  if (separator !== null) {
    const parts = split(text, separator, -1)
    const rest = parts.length - most
    return rest > 1 ? [parts.slice(0, rest).join(separator), ...parts.slice(rest)] : parts
  }
  const words = [...text.matchAll(WORD)]
  const rest = words.length - most
  if (rest < 1) return words.map(([word]) => word)
  const end = words[rest - 1]
  return [text.slice(0, end.index + end[0].length), ...words.slice(rest).map(([word]) => word)]
}

function checkSeparator(separator) {
  if (separator === '') throw new TemplateError('a text cannot be split at nothing')
}

/** As str.splitlines. */
function splitLines(text, keepEnds = false) {
  const lines = []
  let start = 0
  for (const { 0: end, index } of text.matchAll(LINE_END)) {
    lines.push(text.slice(start, keepEnds ? index + end.length : index))
    start = index + end.length
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/** As str.replace, from the left, so many times at most. */
function replace(text, old, by, most) {
  if (most < 0) return old === '' ? `${by}${Array.from(text).map((one) => one + by).join('')}` : text.split(old).join(by)
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old)
  return parts.map((part, i) => (i === 0 ? part : (i <= most ? by : old) + part)).join('')
}

function capitalize(text) {
  const [first = '', ...rest] = Array.from(text)
  return first.toUpperCase() + rest.join('').toLowerCase()
}

/** As str.title: letters behind letters are small, others large. */
const title = (text) => text.replace(/(\p{Cased}[\p{M}]*)((?:\p{Cased}|\p{M})*)/gu, (_, first, rest) => first.toUpperCase() + rest.toLowerCase())

const isLower = (text) => /\p{Cased}/u.test(text) && text === text.toLowerCase()
const isUpper = (text) => /\p{Cased}/u.test(text) && text === text.toUpperCase()

/** The characters of a text by their places: the text itself, where JS counts them as Python does. */
const points = (text) => (/[\ud800-\udfff]/.test(text) ? Array.from(text) : text)

/** Part of a text or of a list, as Python's slices; what is `null` was left out. */
function slice(whole, start, stop, step = 1) {
  if (step === 0) throw new TemplateError('a slice cannot have a step of 0')
  const all = typeof whole === 'string' ? points(whole) : whole
  const size = all.length
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1]
  const clamp = (place, byDefault) => (place === null ? byDefault : Math.min(Math.max(place < 0 ? place + size : place, low), high))
  const [from, to] = [clamp(start, step > 0 ? low : high), clamp(stop, step > 0 ? high : low)]
  if (step === 1 && typeof all === 'string') return all.slice(from, Math.max(from, to))
  const part = []
  for (let i = from; step > 0 ? i < to : i > to; i += step) part.push(all[i])
  return typeof whole === 'string' ? part.join('') : part
}

/** Spaces or other characters on both sides, as str.center. */
function center(text, width, fill = ' ') {
  const size = Array.from(text).length
  const room = Math.max(0, width - size)
  const left = Math.floor(room / 2) + (room & width & 1)
  return fill.repeat(left) + text + fill.repeat(room - left)
}

module.exports = { WORD_START, capitalize, center, isLower, isUpper, points, replace, slice, split, splitLines, splitRight, strip, title }
