'use strict'

// Splits the source of a template into tokens, like the lexer of jinja2 with the settings of
// transformers: a block removes the newline after it (trim_blocks) and, if it is the first of its
// line, the white space before it (lstrip_blocks). Time and memory are linear in the source.

const { allocate, walk } = require('./render-cost.js')
const { hexEscape } = require('./print.js')
const { SPACE, isSpace } = require('./text.js')
const { Float, TemplateError, integer } = require('./values.js')

/** Maximum number of digits of an integer, as in Python. */
const MAX_DIGITS = 4300

const OPENING = /\{[{%#]/g
const RAW_BLOCK = new RegExp(`\\{%[-+]?[${SPACE}]*raw[${SPACE}]*(?:-%\\}[${SPACE}]*|%\\})`, 'y')
const END_RAW = new RegExp(`\\{%([-+]?)[${SPACE}]*endraw[${SPACE}]*(?:\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?)`, 'g')
const BLOCK_END = new RegExp(`\\+%\\}|-%\\}[${SPACE}]*|%\\}\\n?`, 'y')
const VARIABLE_END = new RegExp(`-\\}\\}[${SPACE}]*|\\}\\}`, 'y')
const SPACES = new RegExp(`[${SPACE}]+`, 'y')
const FLOAT_LITERAL = /\d+(?:_\d+)*(?:(?:\.\d+(?:_\d+)*)?e[+-]?\d+(?:_\d+)*|\.\d+(?:_\d+)*)/iy
const INTEGER_LITERAL = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy
const WORD = /[\p{L}\p{N}_]+/uy
const IDENTIFIER = /^[\p{XIDS}_]\p{XIDC}*$/u
const OPERATOR = /\*\*|\/\/|[=!<>]=|[-+/*%~[\](){}<>=.:|,;]/y
const CLOSINGS = { '(': ')', '[': ']', '{': '}' }

/** The match of a sticky pattern at an index, or undefined. */
function match(pattern, source, at) {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

/**
 * The tokens of a source: { type, value, at }. An operator's type is the operator; the other types
 * are data, name, string, number, variable_begin, variable_end, block_begin, block_end and end.
 */
function tokenize(template) {
  walk(template.length)
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  const tokens = []
  const add = (type, value, at) => {
    allocate(100)
    tokens.push({ type, value, at })
  }
  let at = 0
  for (;;) {
    OPENING.lastIndex = at
    const start = OPENING.exec(source)?.index ?? source.length
    const raw = match(RAW_BLOCK, source, start)
    const sign = source[start + 2]
    const text = stripped(source, at, start, start === source.length || source[start + 1] === '{' ? '+' : sign, sign)
    if (text !== '') add('data', text, at)
    if (start === source.length) break
    if (raw !== undefined) at = rawBlock(source, start, raw, add)
    else if (source[start + 1] === '#') at = commentEnd(source, start)
    else at = tag(source, start, add)
  }
  add('end', '', source.length)
  return tokens
}

/**
 * The text before a tag, without the white space that the tag removes: all of it with a `-`, that
 * of the tag's line if the line has nothing else, none with a `+`.
 */
function stripped(source, from, to, rule, sign) {
  if (to < source.length && sign === '-') {
    let end = to
    while (end > from && isSpace(source.charCodeAt(end - 1))) end--
    return source.slice(from, end)
  }
  const text = source.slice(from, to)
  if (rule === '+') return text
  const line = text.lastIndexOf('\n') + 1
  const startsLine = line > 0 || from === 0 || source[from - 1] === '\n'
  return startsLine && isBlank(text, line) ? text.slice(0, line) : text
}

function isBlank(text, from) {
  for (let i = from; i < text.length; i++) if (!isSpace(text.charCodeAt(i))) return false
  return true
}

/** Adds the text of a raw block, and returns the index after it. */
function rawBlock(source, start, opening, add) {
  const from = start + opening.length
  END_RAW.lastIndex = from
  const closing = END_RAW.exec(source)
  if (closing === null) throw new TemplateError('a raw block without an end')
  const text = stripped(source, from, closing.index, closing[1], closing[1])
  if (text !== '') add('data', text, from)
  return closing.index + closing[0].length
}

/** The index after a comment and the white space that it removes. */
function commentEnd(source, start) {
  const from = start + 2 + (/[-+]/.test(source[start + 2]) ? 1 : 0)
  const end = source.indexOf('#}', from)
  if (end < 0) throw new TemplateError('a comment without an end')
  const sign = end > from ? source[end - 1] : ''
  if (sign === '-') return end + 2 + (match(SPACES, source, end + 2)?.length ?? 0)
  return end + 2 + (sign !== '+' && source[end + 2] === '\n' ? 1 : 0)
}

/** Adds the tokens of a block or a variable, and returns the index after it. */
function tag(source, start, add) {
  const kind = source[start + 1] === '{' ? 'variable' : 'block'
  const ending = kind === 'variable' ? VARIABLE_END : BLOCK_END
  add(`${kind}_begin`, '', start)
  const open = []
  let at = start + 2 + (/[-+]/.test(source[start + 2]) ? 1 : 0)
  while (at < source.length) {
    const end = open.length === 0 ? match(ending, source, at) : undefined
    if (end !== undefined) {
      add(`${kind}_end`, '', at)
      return at + end.length
    }
    const spaces = match(SPACES, source, at)
    at += spaces === undefined ? inner(source, at, open, add) : spaces.length
  }
  throw new TemplateError(`a ${kind} without an end`)
}

/**
 * Adds the token at an index inside of a tag, and returns its length. `open` has the open brackets.
 */
function inner(source, at, open, add) {
  const first = source.charCodeAt(at)
  if (first >= 48 && first <= 57) return numberToken(source, at, add)
  if (first === 39 || first === 34) return stringToken(source, at, add)
  const name = match(WORD, source, at)
  if (name !== undefined) {
    if (!IDENTIFIER.test(name)) throw new TemplateError(`'${name.slice(0, 100)}' is not a name`)
    add('name', name, at)
    return name.length
  }
  const operator = match(OPERATOR, source, at)
  if (operator === undefined) throw new TemplateError(`an unexpected '${String.fromCodePoint(source.codePointAt(at))}'`)
  if (operator in CLOSINGS) open.push(CLOSINGS[operator])
  else if (operator === ')' || operator === ']' || operator === '}') {
    const expected = open.pop()
    if (expected !== operator) throw new TemplateError(`an unexpected '${operator}'`)
  }
  add(operator, operator, at)
  return operator.length
}

function numberToken(source, at, add) {
  const float = source[at - 1] === '.' ? undefined : match(FLOAT_LITERAL, source, at)
  const written = float ?? match(INTEGER_LITERAL, source, at)
  const digits = written.replaceAll('_', '')
  if (digits.length > MAX_DIGITS) throw new TemplateError(`a number of more than ${MAX_DIGITS} digits`)
  add('number', float === undefined ? integer(BigInt(digits)) : new Float(Number(digits)), at)
  return written.length
}

function stringToken(source, at, add) {
  const special = source[at] === "'" ? /['\\]/g : /["\\]/g
  special.lastIndex = at + 1
  let hasEscapes = false
  for (let found; (found = special.exec(source)) !== null; ) {
    if (found[0] !== '\\') {
      const written = source.slice(at + 1, found.index)
      add('string', hasEscapes ? unescape(written) : written, at)
      return found.index + 1 - at
    }
    hasEscapes = true
    special.lastIndex = found.index + 2
  }
  throw new TemplateError('a string without an end')
}

const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/gu
const SIMPLE_ESCAPES = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** Resolves escapes. As in Python, unknown ones stay unchanged. */
function unescape(written) {
  return written.replace(ESCAPE, (whole, octal, hex, unit, point, other) => {
    if (other === undefined)
      return characterOf(octal === undefined ? parseInt(hex ?? unit ?? point, 16) : parseInt(octal, 8))
    if (Object.hasOwn(SIMPLE_ESCAPES, other)) return SIMPLE_ESCAPES[other]
    if ('xuUN'.includes(other)) throw new TemplateError(`an incomplete or unsupported escape \\${other} in a string`)
    // jinja2 escapes non-ASCII characters before it resolves escapes.
    return other > '\x7f' ? hexEscape(other.codePointAt(0)) : whole
  })
}

function characterOf(code) {
  if (code > 0x10ffff) throw new TemplateError('an escape of no character')
  return String.fromCodePoint(code)
}

module.exports = { tokenize }
