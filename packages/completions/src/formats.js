'use strict'

// The formats by name, and how the data of one becomes markers for the texts of one tokenizer.

const { Markers } = require('./reader.js')
const { dialectOf } = require('./values.js')
const { typeError, valueError } = require('./errors.js')

const FORMATS = new Map(require('./formats/index.js').map((format) => [format.name, format]))
/** Choices by name; those of a template have the tokens by which it ends answers. */
const BY_NAME = new Map([...FORMATS].map(([name, format]) => [name, { format, ends: [] }]))
const ALIASES = new Map([...FORMATS.values()].flatMap(({ name, also = [] }) => also.map((alias) => [alias, name])))

/** What looks like a control token in a marker. */
const TOKENS = /<[^<>\s]*>|\[[A-Z_]+\]|◁[^▷]*▷|｜[^｜<>]+｜/g
/** The number of surrogates that stand for control tokens. */
const MAX_CONTROLS = 512
const NAME_KEYS = ['name']
const ARGUMENT_KEYS = ['arguments', 'parameters']
const SPACES = /^\s*$/
const HEADER = /^(?<name>[^\s<>{}()[\]"']+)$/

/** @typedef {ReturnType<typeof compile>} Compiled */

function choiceOf(name) {
  if (typeof name !== 'string') throw typeError('format', 'a string', name)
  const choice = BY_NAME.get(name) ?? BY_NAME.get(ALIASES.get(name))
  if (choice === undefined) throw valueError('format', `one of ${[...FORMATS.keys()].join(', ')}`, name)
  return choice
}

/** All marker texts of a format. */
function markersOf(value) {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return []
  return Object.values(value).flatMap(markersOf)
}

/**
 * A format for a tokenizer. `control` says what a token is: `{ id, isSpecial }` for a control
 * token, undefined for a text; without it, all markers are text.
 */
function compile(format, control, eos = []) {
  const controls = []
  const ids = new Map()
  const [places, hardMarks] = [new Map(), new Set()]
  if (control !== undefined)
    for (const marker of [...markersOf(format), ...eos])
      for (const [token] of marker.matchAll(TOKENS)) {
        if (places.has(token)) continue
        const found = controls.length < MAX_CONTROLS ? control(token) : undefined
        if (found === undefined) continue
        const mark = `\ud800${String.fromCharCode(0xda00 + controls.length)}`
        places.set(token, mark)
        if (found.isSpecial) hardMarks.add(mark)
        ids.set(found.id, mark)
        controls.push(token)
      }
  const mark = (marker) => marker.replace(TOKENS, (token) => places.get(token) ?? token)
  const set = (...markers) => new Markers(markers.flat().map(mark))
  const end = [...(format.end ?? []), ...eos]
  const roles = new Map()
  const role = (kind, markers, section) => {
    for (const marker of markers.map(mark)) if (!roles.has(marker)) roles.set(marker, { kind, section })
  }
  const tools = {
    mark,
    set,
    end,
    hardMarks,
    opens: (format.calls ?? []).flatMap((calls) => (calls.guess ? [] : calls.open)),
  }
  role('end', end)
  for (const calls of format.calls ?? []) {
    const section = sectionOf(calls, tools)
    role(calls.guess === undefined ? 'calls' : 'guess', calls.open, section)
    if (calls.open !== calls.begin && calls.isBare) role('calls', calls.begin, section)
  }
  const { reasoning } = format
  if (reasoning !== undefined) {
    role('reasoning', reasoning.open)
    role('reasoningEnd', reasoning.close)
  }
  role('skip', format.skip ?? [])
  for (const calls of format.calls ?? []) role('callsEnd', calls.close ?? [])
  const top = [...roles.keys()]
  const isFirst = (marker) => roles.get(marker).section?.isFirst !== true
  return {
    controls,
    ids,
    roles,
    trim: new Set(format.trim ?? '\n'),
    end: set(end),
    none: set(),
    first: new Markers(top),
    top: new Markers(top.filter(isFirst)),
    reasoning: reasoning && {
      open: set(reasoning.open),
      close: set(reasoning.close),
      closers: set(reasoning.close, reasoning.open, tools.opens, end),
    },
    messages: format.messages && messagesOf(format.messages, set, mark),
  }
}

function messagesOf({ start, channel, constrain, message, ends }, set, mark) {
  return {
    message: mark(message),
    ends: set(ends),
    inHeader: set(start, channel, constrain, message, ends),
    inMessage: set(start, ends),
  }
}

function sectionOf(calls, tools) {
  const { mark, set, end, hardMarks, opens } = tools
  const { close = [], begin, parameters } = calls
  const callEnd = calls.end ?? []
  const outside = [...close, ...end, ...(close.length === 0 && calls.guess === undefined ? opens : [])]
  const stops = set(outside, begin ?? [], callEnd)
  const hard = new Markers(stops.list.filter((marker) => hardMarks.has(marker)))
  return {
    ...calls,
    isGuess: calls.guess !== undefined,
    isFirst: calls.guess === 'first',
    keys: keysOf(calls.keys ?? {}),
    close: set(close),
    begin: begin && set(begin),
    begins: set(begin ?? [], outside),
    end: set(callEnd),
    ends: set(callEnd, outside, begin ?? []),
    stops,
    hard,
    separator: set(calls.separator ?? []),
    separators: set(calls.separator ?? [], calls.until ?? [], callEnd, outside),
    header: calls.header ?? HEADER,
    filler: calls.filler ?? SPACES,
    dialect: calls.dialect && dialectOf(calls.dialect, mark),
    ifJson:
      calls.ifJson &&
      sectionOf({ ...calls, begin: undefined, body: 'json', ...calls.ifJson, ifJson: undefined }, tools),
    parameters: parameters && parametersOf(parameters, set, callEnd, hard),
    inCall: parameters && set(parameters.open, callEnd, outside, begin ?? []),
    // What follows the end of a value. Where a call has no end of its own, anything can.
    afterValue: parameters && callEnd.length > 0 ? set(parameters.open, callEnd, outside) : undefined,
  }
}

function keysOf({ name = NAME_KEYS, arguments: values = ARGUMENT_KEYS, id }) {
  return { name, arguments: values, id, known: ['type', 'id', 'function', ...name, ...values, ...(id ?? [])] }
}

function parametersOf({ open, separator, value, close, types, isTrimmed = false }, set, callEnd, hard) {
  const atLineStart = [...open, ...callEnd].map((marker) => `\n${marker}`)
  const closers = set(close, isTrimmed ? atLineStart : [])
  return {
    open: set(open),
    separator: set(separator),
    value: value && set(value),
    close: set(close),
    closers: hard.list.length === 0 ? closers : new Markers([...closers.list, ...hard.list]),
    types,
    trims: isTrimmed,
  }
}

module.exports = { FORMATS, TOKENS, choiceOf, compile, markersOf }
