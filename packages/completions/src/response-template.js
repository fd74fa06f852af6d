'use strict'

// The `response_template` of a repository, with which transformers 5.13 and later read answers, as
// data of a format. Its patterns are not run: an unknown pattern can take a time that grows faster
// than the answer. Those that are texts with a name, a key or a value between them are translated;
// with others the repository has no template of its own here.

const { PYTHON, gemma } = require('./values.js')

/** What a pattern can be made of: a group, white space, an escaped character, a character. */
const PIECE = /\(\?P<(\w+)>((?:[^()\\[]|\\.|\[(?:[^\]\\]|\\.)*\])*)\)|\\[sn][*+?]*|\\([^\w])|([^\\()[\]{}|*+?.^$])/y

/**
 * A pattern as texts and `{ group }`, in a row: `<function=(?P<name>\w+)>` is `['<function=',
 * { group: 'name' }, '>']`. Undefined if it is another kind of pattern.
 */
function piecesOf(pattern) {
  const pieces = []
  PIECE.lastIndex = 0
  let isNew = true
  while (PIECE.lastIndex < pattern.length) {
    const found = PIECE.exec(pattern)
    if (found === null) return undefined
    const [, group, , escaped, character] = found
    const text = escaped ?? character
    if (text === undefined) {
      isNew = true
      if (group !== undefined) pieces.push({ group })
    } else if (isNew) {
      pieces.push(text)
      isNew = false
    } else pieces[pieces.length - 1] += text
  }
  return pieces
}

/** The texts by which a field opens or closes. */
function textsOf(literals, pattern) {
  if (literals !== undefined) return [literals].flat()
  if (pattern === undefined) return []
  const choices = pattern.replace(/^\(\?:(.*)\)(?:\\s\*)?/, '$1').split(/(?<!\\)\|/)
  const pieces = choices.filter((choice) => choice !== '$').map(piecesOf)
  return pieces.every((one) => one?.length === 1 && typeof one[0] === 'string') ? pieces.flat() : undefined
}

const isGroup = (piece, name) => piece?.group === name

/**
 * The dialect of arguments that are nearly JSON.
 *
 * @param {{ unquoted_keys?: boolean, string_delims?: string[][] }} [args]
 */
function dialectOf(args = {}) {
  const { unquoted_keys: isBare, string_delims: quotes } = args
  const [[quote] = []] = quotes ?? []
  if (isBare && quote !== undefined) return gemma(quote)
  return quotes === undefined ? undefined : PYTHON
}

function parametersOf({ tag_pattern: pattern = '' } = {}) {
  const [open, key, ...rest] = piecesOf(pattern) ?? []
  const at = rest.findIndex((piece) => isGroup(piece, 'value'))
  const [separator, value] = rest.slice(0, at)
  const close = rest[at + 1]
  if (!isGroup(key, 'key') || at < 1 || typeof close !== 'string') return undefined
  const isTrimmed = /\(\?P<value>.*?\)\\s/.test(pattern)
  return { open: [open], separator: [separator], value: value && [value], close: [close], isTrimmed }
}

function callsOf({ open, open_pattern: pattern, close, close_pattern: closing, content, content_args: args }) {
  const ends = textsOf(close, closing)
  if (ends === undefined) return undefined
  if (open !== undefined) return content === 'json' ? [{ open: [open].flat(), close: ends, body: 'json' }] : undefined
  const pieces = piecesOf(pattern ?? '') ?? []
  const at = pieces.findIndex((piece) => isGroup(piece, 'name'))
  const [first, second] = pieces.slice(0, at)
  if (at < 1 || at > 2 || pieces.length > at + 2) return undefined
  const separator = pieces[at + 1]
  const headed = { body: 'headed', begin: [second ?? first], separator: separator === undefined ? [] : [separator] }
  // A call within a wrapper ends before it; one without ends with its closing text.
  const around = second === undefined ? { open: [first], end: ends } : { open: [first], close: ends }
  if (content === 'json') return [{ ...headed, ...around, until: ['{'], dialect: dialectOf(args) }]
  const parameters = content === 'xml-inline' ? parametersOf(args) : undefined
  return parameters && [{ ...headed, ...around, until: parameters.open, parameters, filler: /^[^]*$/ }]
}

function translated({ fields }) {
  const { content = {}, tool_calls: tools } = fields
  const thinking = fields.thinking ?? fields.reasoning_content
  const calls = tools && callsOf(tools)
  const reasoning = thinking && {
    open: textsOf(thinking.open, thinking.open_pattern),
    close: textsOf(thinking.close, thinking.close_pattern),
  }
  if ((tools && calls === undefined) || content.open !== undefined || content.open_pattern !== undefined)
    return undefined
  return { name: 'response_template', end: textsOf(content.close, content.close_pattern), reasoning, calls }
}

/** Whether all markers are texts; a part that could not be translated has none. */
const isWhole = (markers) =>
  Array.isArray(markers) && markers.every((one) => typeof one === 'string' && one.trim() !== '')

/** A format for a `response_template`; undefined if it cannot be translated. */
function formatOfTemplate(template) {
  let format
  try {
    format = translated(template)
  } catch {
    // A file of a stranger can have anything there.
    return undefined
  }
  if (format === undefined) return undefined
  const { end, reasoning = { open: [], close: [] }, calls = [] } = format
  const sets = calls.flatMap(({ open, close = [], begin = [], end: ends = [], separator = [], until = [] }) => [
    ...[open, close, begin, ends, separator, until],
  ])
  return [end, reasoning.open, reasoning.close, ...sets].every(isWhole) ? format : undefined
}

module.exports = { formatOfTemplate }
