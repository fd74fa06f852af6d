'use strict'

// A template's text to the tree that @huggingface/jinja makes of it. What its parser does not know is written as filters of names
// that no template has: tests, which can have an argument and filters behind them, and parentheses, of which the tree would not tell.

const { parse, tokenize } = require('@huggingface/jinja')

const { layOut } = require('./layout.js')

/** Stands before the name of a test, which is written as a filter. */
const TEST = 'is '
const NO_TEST = 'is not '
/** Gives back what stands in parentheses; the other makes a tuple of it. */
const GROUP = '( )'
const ONE_TUPLE = '( , )'

const NO_ARGUMENT = ['and', 'else', 'if', 'in', 'is', 'not', 'or']
const CLOSING = { OpenParen: 'CloseParen', OpenSquareBracket: 'CloseSquareBracket', OpenCurlyBracket: 'CloseCurlyBracket' }

function parseTemplate(source) {
  // jinja2 reads every end of a line alike, and does without the last. So does the lexer, which gets one for that.
  const text = source.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  return parse(withTests(withGroups(tokenize(`${layOut(text)}\n`))))
}

const isWord = (token, ...words) => token?.type === 'Identifier' && words.includes(token.value)

const KEYWORDS = ['and', 'elif', 'else', 'if', 'in', 'is', 'not', 'or', 'set', 'for']

/** Where each bracket is closed: the place behind it, by the place of the one that opens. */
function closings(tokens) {
  const ends = new Map()
  const open = []
  tokens.forEach(({ type }, i) => {
    if (type in CLOSING) open.push(i)
    else if (type === CLOSING[tokens[open.at(-1)]?.type]) ends.set(open.pop(), i + 1)
  })
  return ends
}

/**
 * The tokens with `(a < b)` as `((a < b) | group)`, so that `(a < b) == c` is not taken for `a < b == c`, which is something else,
 * and with `(a,)` as `((a) | one tuple)`.
 */
function withGroups(tokens) {
  const ends = closings(tokens)
  const opened = new Set()
  const closed = new Map()
  const open = []
  tokens.forEach((one, i) => {
    if (one.type in CLOSING) open.push({ start: i, commas: 0, compares: false })
    else if (Object.values(CLOSING).includes(one.type)) {
      const group = open.pop()
      const filter = group && tokens[group.start].type === 'OpenParen' && !isCall(tokens[group.start - 1]) ? groupFilter(group, tokens[i - 1]) : undefined
      if (filter === undefined || ends.get(group.start) !== i + 1) return
      opened.add(group.start)
      closed.set(i, filter)
    } else if (open.length > 0) {
      open.at(-1).commas += one.type === 'Comma' ? 1 : 0
      open.at(-1).compares ||= one.type === 'ComparisonBinaryOperator' || isWord(one, 'in')
    }
  })
  return tokens.flatMap((one, i) => {
    if (opened.has(i)) return [one, one]
    if (closed.has(i)) return [one, token('|', 'Pipe'), token(closed.get(i), 'Identifier'), one]
    return one.type === 'Comma' && closed.has(i + 1) ? [] : [one]
  })
}

/** Whether parentheses behind this hold arguments. */
const isCall = (before) => ['CloseParen', 'CloseSquareBracket'].includes(before?.type) || (before?.type === 'Identifier' && !KEYWORDS.includes(before.value))

/** What is to be said of parentheses: of those that hold a comparison, and of tuples that end with a comma. */
function groupFilter({ commas, compares }, last) {
  if (last.type === 'Comma') return commas === 1 ? ONE_TUPLE : GROUP
  return compares ? GROUP : undefined
}

/** The tokens with `a is name`, `a is name(b)` and `a is name b` as `a | is_name` and `a | is_name(b)`. */
function withTests(tokens) {
  const ends = closings(tokens)
  const toClose = new Map()
  const result = []
  for (let i = 0; i <= tokens.length; i++) {
    result.push(...Array.from({ length: toClose.get(i) ?? 0 }, () => token(')', 'CloseParen')))
    if (i === tokens.length) break
    const negated = isWord(tokens[i], 'is') && isWord(tokens[i + 1], 'not')
    const name = tokens[i + (negated ? 2 : 1)]
    const start = i + (negated ? 3 : 2)
    if (!isWord(tokens[i], 'is') || name?.type !== 'Identifier' || tokens[i - 1]?.type === 'Dot') {
      result.push(tokens[i])
      continue
    }
    result.push(token('|', 'Pipe'), token((negated ? NO_TEST : TEST) + name.value, 'Identifier'))
    const end = argumentEnd(tokens, start, ends)
    if (end > start && tokens[start].type !== 'OpenParen') {
      result.push(token('(', 'OpenParen'))
      toClose.set(end, (toClose.get(end) ?? 0) + 1)
    }
    i = start - 1
  }
  return result
}

const token = (value, type) => ({ value, type })

/** Where the argument of a test ends that may start here. */
function argumentEnd(tokens, start, ends) {
  const first = tokens[start]
  const starts = ['StringLiteral', 'NumericLiteral', 'Identifier', ...Object.keys(CLOSING)].includes(first?.type) && !isWord(first, ...NO_ARGUMENT)
  if (!starts) return start
  const behind = (place) => ends.get(place) ?? place + 1
  let end = behind(start)
  if (first.type === 'OpenParen') return end
  while (['Dot', 'OpenSquareBracket', 'OpenParen'].includes(tokens[end]?.type)) end = tokens[end].type === 'Dot' ? end + 2 : behind(end)
  return end
}

module.exports = { GROUP, NO_TEST, ONE_TUPLE, TEST, parseTemplate }
