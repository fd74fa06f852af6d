'use strict'

// Renders chat templates with the variables and functions of transformers. Compiled templates are
// cached.

const { bind, textOf } = require('./arguments.js')
const { LIMITS, RenderCost, LimitError, spend, within } = require('./render-cost.js')
const { compile } = require('./compile.js')
const { fromJs, messagesFromJs, toJs } = require('./convert.js')
const { entriesOf } = require('./entries.js')
const { GLOBALS } = require('./globals.js')
const { TEMPLATE, bare, tracing } = require('./origins.js')
const { str } = require('./print.js')
const { strftime } = require('./strftime.js')
const { TemplateError, keeping } = require('./values.js')

/** Maximum number of characters of a template, and of all cached templates together. */
const MAX_SOURCE = 1 << 19
const MAX_COMPILED = 32

const error = (code, message, options) => Object.assign(new Error(message, options), { code })

/** A template refused the messages. */
class Refusal extends Error {}

/** A function of the caller threw a value. */
class Thrown extends Error {
  constructor(value) {
    super()
    this.value = value
  }
}

/** Compiled templates by their source. A service has few templates, and uses them repeatedly. */
const compiled = new Map()
let compiledLength = 0

function compiledOf(source) {
  let template = compiled.get(source)
  if (template !== undefined) return template
  if (source.length > MAX_SOURCE) throw new LimitError(undefined, 'characters of source', MAX_SOURCE)
  // Compiling costs the same for all variables, so it has its own cost.
  template = within(new RenderCost(LIMITS), () => compile(source))
  compiled.set(source, template)
  compiledLength += source.length
  for (const oldest of compiled.keys()) {
    if (compiled.size <= MAX_COMPILED && compiledLength <= MAX_SOURCE) break
    compiled.delete(oldest)
    compiledLength -= oldest.length
  }
  return template
}

/**
 * Renders a template. It can call functions among the variables. `finish` changes the text within
 * the same cost. With a trace, the result knows its origins: special tokens of the tokenizer are
 * the template's, and everything else is input.
 *
 * @typedef {InstanceType<typeof import('./origins.js').Trace>} Trace
 * @param {string} source
 * @param {{ tokens?: object, variables?: object, given?: any, trace?: Trace }} request
 */
function render(source, request, finish = (text) => text, cost = new RenderCost(LIMITS)) {
  const { tokens = {}, variables = {}, given = {}, trace } = request
  const run = guarded(() => compiledOf(source), 'cannot be read')
  const globals = () => {
    const all = new Map(Object.entries({ ...GLOBALS, ...OWN_GLOBALS }))
    const { messages, ...others } = given
    for (const [name, token] of entriesOf(tokens)) all.set(name, fromJs(token, 0, TEMPLATE))
    for (const [name, value] of [variables, others].flatMap(entriesOf))
      if (value !== undefined) all.set(name, typeof value === 'function' ? foreign(value) : fromJs(value))
    if (messages !== undefined) all.set('messages', messagesFromJs(messages))
    return all
  }
  return guarded(() => within(cost, () => tracing(trace, () => finish(run(globals())))), 'failed')
}

/** Throws if a template cannot be read. */
const checkTemplate = (source) => void guarded(() => compiledOf(source), 'cannot be read')

/** Wraps a function of the caller for templates. */
function foreign(run) {
  return (args, kwargs) => {
    spend(30)
    // JavaScript has no names of arguments, so a value could only be dropped or guessed.
    if (kwargs.size > 0) throw new TemplateError('a function of the caller takes no named arguments')
    const given = args.map((value) => toJs(value))
    let result
    try {
      result = run(...given)
    } catch (failure) {
      throw isStackOverflow(failure) ? failure : new Thrown(failure)
    }
    return fromJs(result)
  }
}

const isStackOverflow = (failure) => failure instanceof RangeError && failure.message.includes('call stack')

/** Runs `work`, and converts failures of the template to errors with a code. */
function guarded(work, what) {
  try {
    return work()
  } catch (failure) {
    if (failure instanceof Thrown) throw failure.value
    throw errorOf(failure, what)
  }
}

function errorOf(failure, what) {
  if (failure?.code !== undefined) return failure
  if (failure instanceof Refusal) {
    return error('ERR_TOKENLANE_CHAT_REFUSED', `the chat template does not take these messages: ${failure.message}`)
  }
  if (failure instanceof LimitError) return limitError(failure)
  if (isStackOverflow(failure))
    return limitError({ message: 'it is nested too deeply for the stack at this place', cause: failure })
  return error('ERR_TOKENLANE_CHAT_TEMPLATE', `the chat template ${what}: ${failure?.message ?? failure}`, {
    cause: failure,
  })
}

/** @param {{ message: string, option?: string, allowed?: number, cause?: unknown }} failure */
function limitError({ message, option, allowed, cause }) {
  const hint = option === undefined ? '' : `, which is what limits.${option} allows for these messages`
  const thrown = error('ERR_TOKENLANE_CHAT_LIMIT', `the chat template exceeds a limit: ${message}${hint}`, { cause })
  return Object.assign(thrown, { limit: option, allowed })
}

/** The functions of transformers. globals.js has those of jinja2. */
const OWN_GLOBALS = {
  raise_exception(args, kwargs) {
    const [message] = bind(['message'], [], args, kwargs)
    throw new Refusal(bare(str(message)))
  },
  strftime_now: keeping((args, kwargs) => {
    const [format] = bind(['format'], [], args, kwargs)
    return strftime(new Date(), textOf(format))
  }),
}

module.exports = { checkTemplate, guarded, render }
