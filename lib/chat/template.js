'use strict'

// A chat template: compiled once, and rendered with what transformers gives to templates.

const { error } = require('../errors.js')
const { Interpreter } = require('./interpreter.js')
const { bind, textOf, wholeOf } = require('./methods.js')
const { strftime } = require('./strftime.js')
const { parseTemplate } = require('./syntax.js')
const { Namespace, TemplateError, fromJs, items, str, toJs } = require('./values.js')

const MOST_COMPILED = 32
const MOST_RANGE = 100_000

/** What a template says of messages that it does not take. */
class Refusal extends Error {}

/** What a function of the caller's threw. */
class Thrown extends Error {
  constructor(value) {
    super()
    this.value = value
  }
}

/** Trees by their source; a service has few templates, and uses them all the time. */
const compiled = new Map()

function compile(source) {
  let program = compiled.get(source)
  if (program === undefined) {
    program = guarded(() => parseTemplate(source), 'cannot be read')
    if (compiled.size >= MOST_COMPILED) compiled.delete(compiled.keys().next().value)
    compiled.set(source, program)
  }
  return program
}

/** The text of a template with these variables; a function among them is one that the template can call. */
function render(source, variables) {
  const program = compile(source)
  return guarded(() => {
    const globals = new Map(Object.entries(GLOBALS))
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) continue
      globals.set(name, typeof value === 'function' ? foreign(value) : fromJs(value))
    }
    return new Interpreter().run(program, globals)
  }, 'failed')
}

function foreign(run) {
  return (args) => {
    try {
      return fromJs(run(...args.map(toJs)))
    } catch (failure) {
      throw failure instanceof TemplateError ? failure : new Thrown(failure)
    }
  }
}

function guarded(work, what) {
  try {
    return work()
  } catch (failure) {
    if (failure instanceof Thrown) throw failure.value
    if (failure instanceof Refusal) {
      throw error('ERR_TOKENLANE_CHAT_REFUSED', `the chat template does not take these messages: ${failure.message}`)
    }
    // Whatever else a template brings about, too deep a recursion among it, is the template's failure.
    throw error('ERR_TOKENLANE_CHAT_TEMPLATE', `the chat template ${what}: ${failure.message}`, { cause: failure })
  }
}

const GLOBALS = {
  raise_exception(args, kwargs) {
    const [message] = bind(['message'], [], args, kwargs)
    throw new Refusal(str(message))
  },
  strftime_now(args, kwargs) {
    const [format] = bind(['format'], [], args, kwargs)
    return strftime(new Date(), textOf(format))
  },
  range(args) {
    const numbers = args.map(wholeOf)
    const [start, stop, step = 1] = numbers.length === 1 ? [0, numbers[0]] : numbers
    if (step === 0 || stop === undefined || numbers.length > 3) throw new TemplateError('range takes one to three integers, and no step of 0')
    const length = Math.max(0, Math.ceil((stop - start) / step))
    if (length > MOST_RANGE) throw new TemplateError(`a range has ${MOST_RANGE} numbers at most`)
    return Array.from({ length }, (_, i) => start + i * step)
  },
  namespace: (args, kwargs) => new Namespace(dict(args, kwargs)),
  dict,
}

/** As Python's dict(): of a mapping or pairs, and names. */
function dict(args, kwargs) {
  const pairs = args.flatMap((one) => (one instanceof Map ? [...one] : items(one).map(items)))
  return new Map([...pairs, ...kwargs])
}

module.exports = { compile, render }
