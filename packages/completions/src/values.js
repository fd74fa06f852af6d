'use strict'

// Values in calls: JSON, which is passed on as it was written, and literals of Python or of Gemma,
// which become JSON while they are read. Both end at the bracket that closes them, so a marker in a
// string of them is text.

const { Markers } = require('./reader.js')

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])
/** What ends a number or a word. */
const AFTER = new Set([...',;]}', ...' \t\r\n'].map((character) => character.charCodeAt(0)))
const SPACE = /\s*/y
/** Words; one without quotes has no half of a pair, by which marks of control tokens begin. */
const WORD = /[\w.+-]+/y
const BARE = /[^:{}[\],\ud800]+/uy
/** Depth of lists in a literal. Deeper ones are damage. */
const MAX_DEPTH = 200

/**
 * Reads one JSON value without judging what is in it. `stops` end it outside of strings, `hard`
 * everywhere. Returns whether its end was found.
 */
function* json(reader, write, { stops, hard }) {
  let [depth, inString, isCleared] = [0, false, false]
  for (;;) {
    const { text, hasEnded } = reader
    let [i, isDone, mayStop] = [reader.at, false, false]
    for (; i < text.length && !isDone; i++) {
      const unit = text.charCodeAt(i)
      const markers = inString ? hard : stops
      if (markers.starts.has(unit) && !(isCleared && i === reader.at) && mayStart(markers, reader, i)) {
        mayStop = true
        break
      }
      if (inString) {
        if (unit === BACKSLASH) {
          if (i + 1 === text.length && !hasEnded) break
          i++
        } else if (unit === QUOTE) {
          inString = false
          isDone = depth === 0
        }
      } else if (unit === QUOTE) inString = true
      else if (OPENING.has(unit)) depth++
      else if (depth === 0 && AFTER.has(unit)) return pass(reader, write, i, true)
      else if (CLOSING.has(unit)) isDone = --depth === 0
    }
    isCleared = false
    pass(reader, write, Math.min(i, text.length), isDone)
    if (isDone) return true
    if (mayStop) {
      if ((yield* reader.match(inString ? hard : stops)) !== undefined) return depth === 0 && !inString
      isCleared = true
    } else if (hasEnded) return depth === 0 && !inString
    else yield
  }
}

/** Whether a stop is at a place, or may be when more arrives. */
const mayStart = ({ list }, { text, hasEnded }, at) =>
  list.some(
    (marker) => text.startsWith(marker, at) || (!hasEnded && marker.startsWith(text.slice(at, at + marker.length))),
  )

function pass(reader, write, at, isDone) {
  if (at > reader.at) write(reader.take(at - reader.at))
  return isDone
}

/** The content of a JSON string; undefined if it is none or does not end. */
function* jsonString(reader, bounds) {
  if ((yield* reader.peek()) !== '"') return undefined
  let source = ''
  const isWhole = yield* json(reader, (text) => (source += text), bounds)
  return isWhole ? decoded(source) : undefined
}

function decoded(source) {
  try {
    const value = JSON.parse(source)
    return typeof value === 'string' ? value : undefined
  } catch {
    // Line ends and tabs that are written as they are.
    const escaped = source.replace(/[\0-\x1f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    try {
      return escaped === source ? undefined : JSON.parse(escaped)
    } catch {
      return undefined
    }
  }
}

const PYTHON = {
  quotes: ['"""', "'''", '"', "'"],
  escapes: true,
  words: { True: 'true', False: 'false', None: 'null', true: 'true', false: 'false', null: 'null' },
}
/** Strings between special quotes, and words without quotes. */
const gemma = (quote) => ({
  quotes: [quote, '"'],
  escapes: false,
  bare: true,
  words: { true: 'true', false: 'false', null: 'null', None: 'null', True: 'true', False: 'false' },
})

/** A dialect with its markers, written as they stand in the text of a reader. */
function dialectOf({ quotes, escapes, ...dialect }, mark) {
  const marked = quotes.map(mark)
  const closing = marked.map((quote) => [quote, new Markers(escapes ? [quote, '\\'] : [quote])])
  return { ...dialect, marks: new Markers(marked), closing: new Map(closing) }
}

const ESCAPES = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07', 0: '\0', '\n': '' }
const HEX = { x: 2, u: 4, U: 8 }

/** JSON of a text, without the quotes. */
const inner = (text) => JSON.stringify(text).slice(1, -1)

/**
 * Reads a literal and writes it as JSON. Returns whether it could.
 */
function* literal(reader, write, dialect, depth = 0) {
  yield* reader.skip(SPACE)
  const quote = yield* reader.match(dialect.marks)
  if (quote !== undefined) {
    reader.take(quote.length)
    return yield* quoted(reader, write, dialect, quote)
  }
  const first = yield* reader.peek()
  if (first === '[' || first === '(') return yield* list(reader, write, dialect, depth)
  if (first === '{') return yield* object(reader, write, dialect, depth)
  return yield* word(reader, write, dialect)
}

function* quoted(reader, write, dialect, quote) {
  write('"')
  const marks = dialect.closing.get(quote)
  for (;;) {
    const mark = yield* reader.until(marks, (text) => write(inner(text)))
    if (mark === undefined) return false
    if (mark !== quote && mark !== '\\') return false
    reader.take(mark.length)
    if (mark === quote) break
    const kind = yield* reader.peek()
    if (kind === '') return false
    reader.take(1)
    if (HEX[kind] === undefined) write(inner(ESCAPES[kind] ?? (`'"\\`.includes(kind) ? kind : `\\${kind}`)))
    else if (!(yield* escaped(reader, write, HEX[kind]))) return false
  }
  write('"')
  return true
}

function* escaped(reader, write, digits) {
  let code = ''
  while (code.length < digits && /[\da-fA-F]/.test(yield* reader.peek())) code += reader.take(1)
  const value = Number.parseInt(code, 16)
  if (code.length < digits || value > 0x10ffff) return false
  // A half of a pair stays an escape, so that both halves together are the character.
  write(digits === 4 ? `\\u${code}` : inner(String.fromCodePoint(value)))
  return true
}

function* list(reader, write, dialect, depth) {
  const close = reader.take(1) === '[' ? ']' : ')'
  if (depth === MAX_DEPTH) return false
  if (close === ']') write('[')
  for (let count = 0; ; count++) {
    const next = yield* separated(reader, write, close, count)
    if (next === true) write(close === ')' && count === 0 ? '[]' : ']')
    if (next !== undefined) return next
    if (close === ')' && count === 0) {
      // Parentheses without a comma are no list.
      let first = ''
      const isWhole = yield* literal(reader, (text) => (first += text), dialect, depth + 1)
      yield* reader.skip(SPACE)
      const isPlain = isWhole && (yield* reader.peek()) === ')'
      write(isPlain ? first : `[${first}`)
      if (isPlain) reader.take(1)
      if (isPlain || !isWhole) return isWhole
    } else if (!(yield* literal(reader, write, dialect, depth + 1))) return false
  }
}

/** Between items: true at the end, false where neither an item nor the end can be. */
function* separated(reader, write, close, count) {
  yield* reader.skip(SPACE)
  if (count > 0 && (yield* reader.peek()) === ',') {
    reader.take(1)
    yield* reader.skip(SPACE)
    if ((yield* reader.peek()) !== close) {
      write(', ')
      return undefined
    }
  } else if (count > 0 && (yield* reader.peek()) !== close) return false
  if ((yield* reader.peek()) !== close) return (yield* reader.peek()) === '' ? false : undefined
  reader.take(1)
  return true
}

/** A mapping, or a set, which becomes a list. */
function* object(reader, write, dialect, depth) {
  reader.take(1)
  if (depth === MAX_DEPTH) return false
  let [first, isSet] = ['', false]
  for (let count = 0; ; count++) {
    const next = yield* separated(reader, count === 0 ? noText : write, '}', count)
    if (next === true) write(count === 0 ? '{}' : isSet ? ']' : '}')
    if (next !== undefined) return next
    const writeKey = count === 0 ? (text) => (first += text) : write
    const read = yield* isSet ? literal(reader, writeKey, dialect, depth + 1) : key(reader, writeKey, dialect, depth)
    if (read === false) return false
    yield* reader.skip(SPACE)
    const after = yield* reader.peek()
    if (count === 0) {
      isSet = !dialect.bare && (after === ',' || after === '}')
      if (typeof read === 'string') first = isSet ? wordText(read, dialect) : JSON.stringify(read)
      if (first === undefined) return false
      write(`${isSet ? '[' : '{'}${first}`)
    }
    if (isSet) continue
    if (count > 0 && typeof read === 'string') write(JSON.stringify(read))
    if (after !== ':') return false
    reader.take(1)
    write(': ')
    if (!(yield* literal(reader, write, dialect, depth + 1))) return false
  }
}

const noText = () => {}

/** Writes a key, or returns one that is a word, which is a value in a set. False if it is none. */
function* key(reader, write, dialect, depth) {
  const quote = yield* reader.match(dialect.marks)
  if (quote !== undefined) {
    reader.take(quote.length)
    return yield* quoted(reader, write, dialect, quote)
  }
  if (!dialect.bare && /[[({]/.test(yield* reader.peek())) return yield* literal(reader, write, dialect, depth + 1)
  const name = (yield* characters(reader, dialect.bare ? BARE : WORD)).trim()
  return name === '' ? false : name
}

function* word(reader, write, dialect) {
  const source = (yield* characters(reader, dialect.bare ? BARE : WORD)).trim()
  const text = wordText(source, dialect)
  if (text !== undefined) write(text)
  return text !== undefined
}

/** JSON of a word; undefined if it is none. */
function wordText(source, dialect) {
  if (Object.hasOwn(dialect.words, source)) return dialect.words[source]
  if (/^[+-]?(\d[\d_]*(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(source)) return numberText(source.replaceAll('_', ''))
  return dialect.bare && source !== '' ? JSON.stringify(source) : undefined
}

/** A number of Python as JSON, digit for digit. */
function numberText(source) {
  const [, sign, whole, rest] = /^([+-]?)0*(\d*)(.*)$/.exec(source)
  const fraction = rest.replace(/^\.(?=e|$)/i, '.0')
  return `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${fraction}`
}

function* characters(reader, pattern) {
  let text = ''
  for (;;) {
    if ((yield* reader.peek()) === '') return text
    pattern.lastIndex = reader.at
    const [run] = pattern.exec(reader.text) ?? ['']
    text += reader.take(run.length)
    if (reader.at < reader.text.length) return text
  }
}

module.exports = { PYTHON, SPACE, characters, dialectOf, gemma, json, jsonString, literal }
