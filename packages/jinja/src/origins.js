'use strict'

// Where the characters of strings come from. While a template is rendered with origins, strings
// of the caller are `Traced`; plain strings are the template's. Whoever reads the text of a Traced
// with `plain` and makes a new string of it must keep its origins (traced.js does), or else the
// function around it marks the new string as input as a whole (`watched`).

const { allocate } = require('./render-cost.js')

/** The origin of text that the template wrote. */
const TEMPLATE = 0
/** The origin of text of the caller that belongs to no message, or to an unknown one. */
const INPUT = 1
/** The origin of the text of a message. */
const ofMessage = (index) => INPUT + 1 + index
/** The index of the message of an origin, or -1. */
const messageOf = (origin) => Math.max(-1, origin - INPUT - 1)

/** A string with text of the caller. It is never empty. */
class Traced {
  /**
   * @param {string} text
   * @param {number} origin of all characters, if there are no runs
   * @param {number[] | undefined} [runs] the end and the origin of each run, in order
   */
  constructor(text, origin, runs = undefined) {
    this.text = text
    this.origin = origin
    this.runs = runs
  }

  get length() {
    return this.text.length
  }

  /** Code that takes it for a string would lose its origins. */
  [Symbol.toPrimitive]() {
    throw new TypeError('a traced string was used as a string')
  }
}

/** Builds the runs of a string from its parts. */
class Runs {
  #runs = []
  #end = 0

  /** Appends characters of one origin. */
  add(length, origin) {
    if (length === 0) return
    this.#end += length
    const runs = this.#runs
    if (runs.length > 0 && runs[runs.length - 1] === origin) runs[runs.length - 2] = this.#end
    else runs.push(this.#end, origin)
  }

  /** Appends the characters of a string from `from` to `to`. */
  append(string, from = 0, to = string.length) {
    if (typeof string === 'string') return this.add(to - from, TEMPLATE)
    if (string.runs === undefined) return this.add(to - from, string.origin)
    const { runs } = string
    for (let i = firstRun(runs, from); i < runs.length && from < to; i += 2) {
      const end = Math.min(runs[i], to)
      this.add(end - from, runs[i + 1])
      from = end
    }
  }

  /** The string with these runs. */
  of(text) {
    const runs = this.#runs
    if (text === '' || (runs.length === 2 && runs[1] === TEMPLATE)) return text
    if (runs.length === 2) return new Traced(text, runs[1])
    allocate(16 * runs.length)
    return new Traced(text, INPUT, runs)
  }
}

/** The index of the run that has a character. */
function firstRun(runs, at) {
  let [low, high] = [0, runs.length / 2]
  while (low < high) {
    const middle = (low + high) >> 1
    if (runs[2 * middle] <= at) low = middle + 1
    else high = middle
  }
  return 2 * low
}

/** The text of a string, whose characters do not become part of another string. */
const bare = (string) => (typeof string === 'string' ? string : string.text)

/** The parts as one string. */
function joined(parts) {
  let isTraced = false
  for (let i = 0; i < parts.length && !isTraced; i++) isTraced = typeof parts[i] !== 'string'
  if (!isTraced) return parts.join('')
  const runs = new Runs()
  for (const part of parts) runs.append(part)
  return runs.of(parts.map(bare).join(''))
}

/** The part of a string between two UTF-16 units. */
function cut(string, from, to = string.length) {
  if (typeof string === 'string') return string.slice(from, to)
  const text = string.text.slice(from, to)
  if (text === '') return text
  if (string.runs === undefined) return new Traced(text, string.origin)
  const runs = new Runs()
  runs.append(string, from, Math.min(to, string.length))
  return runs.of(text)
}

/** One origin for all characters of a string: that of its input, if it has one. */
function originOf(string) {
  if (typeof string === 'string') return TEMPLATE
  const { runs } = string
  if (runs === undefined) return string.origin
  let found = TEMPLATE
  for (let i = 1; i < runs.length; i += 2) found = both(found, runs[i])
  return found
}

/** The origin of what has characters of two origins. */
function both(a, b) {
  if (a === TEMPLATE || a === b) return b
  return b === TEMPLATE ? a : INPUT
}

/** A new text, made of the characters of a string in an unknown way. */
const marked = (text, origin) => (origin === TEMPLATE || text === '' ? text : new Traced(text, origin))

// Rendering is synchronous, so what it traces is a variable of this module, as the cost is.

/** @type {Trace | undefined} */
let trace
let touched = TEMPLATE

/** What a render with origins collects besides its text. */
class Trace {
  /**
   * The start of each `{% generation %}` block, in UTF-16 units, and its length in code points. As
   * in transformers, a block in captured output starts where that output does.
   */
  generations = []
  /** The output of the template. */
  output
  /** Whether the template has such blocks. */
  hasGenerations = false
  /**
   * The stretches of the output that are written while a message is the current one of a loop, as
   * `{ start, end, message }` in order: turns, and blocks in turns, of inner loops over messages.
   */
  turns = []
  blocks = []
  /** The messages as values of the template, with their indices. */
  messages = new Map()
  #iterations = []

  /** An iteration of a loop starts, whose variable has a value. */
  enter(value, at) {
    this.#iterations.push({ start: at, message: this.messages.get(value) })
  }

  /** A variable is set. In a loop over numbers, the first message that is set is current. */
  set(value) {
    const iteration = this.#iterations.at(-1)
    if (iteration !== undefined) iteration.message ??= this.messages.get(value)
  }

  /** The iteration ends. */
  leave(at) {
    const { start, message } = this.#iterations.pop()
    if (message === undefined || at === start) return
    const around = this.#iterations.filter((outer) => outer.message !== undefined).length
    if (around < 2) [this.turns, this.blocks][around].push({ start, end: at, message })
  }
}

/** Runs `run` with or without origins, and restores what was before. */
function tracing(own, run) {
  const outer = trace
  const outerTouched = touched
  trace = own
  touched = TEMPLATE
  try {
    return run()
  } finally {
    trace = outer
    touched = outerTouched
  }
}

/** The trace of the render that runs, or undefined if it has no origins. */
const current = () => trace

/** The text of a string, from which the function around it makes another one. */
function read(string) {
  if (typeof string === 'string') return string
  touched = both(touched, originOf(string))
  return string.text
}

/** A number, a boolean or none as text. It may be of the caller, and nobody can tell. */
const computed = (text, origin = INPUT) => (trace === undefined ? text : marked(text, origin))

/**
 * A function of up to three values whose plain results are input if it has read text of the
 * caller. `mark` marks a result.
 */
const watched = (run, mark) => (first, second, third) => {
  if (trace === undefined) return run(first, second, third)
  const outer = touched
  touched = TEMPLATE
  try {
    const result = run(first, second, third)
    return touched === TEMPLATE ? result : mark(result, touched)
  } finally {
    touched = outer
  }
}

module.exports = {
  INPUT,
  Runs,
  TEMPLATE,
  Trace,
  Traced,
  bare,
  computed,
  current,
  cut,
  joined,
  marked,
  messageOf,
  ofMessage,
  originOf,
  read,
  tracing,
  watched,
}
