'use strict'

const { REASONS } = require('./adapters/blocks.js')
const { Engine } = require('./engine.js')
const { IdInput, TextInput, checkInput } = require('./input.js')
const { choose, controlsOf, startOf } = require('./choice.js')
const { choiceOf, compile } = require('./formats.js')
const { checkNames, typeError, valueError } = require('./errors.js')

const OPTIONS = ['format', 'tools', 'startsIn', 'createId', 'checkArguments']
const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

function checkOptions(options) {
  checkNames(options, OPTIONS)
  const { startsIn, createId, checkArguments = false } = options
  if (startsIn !== undefined && startsIn !== 'text' && startsIn !== 'reasoning')
    throw valueError('startsIn', "'text' or 'reasoning'", startsIn)
  if (createId !== undefined && typeof createId !== 'function') throw typeError('createId', 'a function', createId)
  if (typeof checkArguments !== 'boolean') throw typeError('checkArguments', 'true or false', checkArguments)
  return { startsIn, createId, checkArguments, tools: schemasOf(options.tools), format: options.format }
}

/** The schemas of the arguments of tools by their names. */
function schemasOf(tools) {
  if (tools === undefined || tools === null) return undefined
  if (!Array.isArray(tools)) throw typeError('tools', 'an array', tools)
  return new Map(
    tools.flatMap((tool, i) => {
      const { name, parameters, input_schema: schema } = tool?.function ?? tool ?? {}
      // Tools that a provider runs have another type and no schema.
      if (name === undefined && typeof tool?.type === 'string' && tool.type !== 'function') return []
      if (typeof name !== 'string') throw typeError(`tools[${i}].function.name`, 'a string', name)
      return [[name, parameters ?? schema]]
    }),
  )
}

/** A new id of a call, as OpenAI's; Mistral's have nine letters and digits. */
function newId(length) {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(length ?? 24))
  const id = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return length === undefined ? `call_${id}` : id
}

function checkId(id) {
  if (typeof id !== 'string') throw typeError('what createId returns', 'a string', id)
  return id
}

class CompletionStream {
  #tokenizer
  #options
  /** The input, the engine and its answer, from the first chunk that has something. */
  #state
  /** What was thrown while a chunk was read: the rest of it is lost, so nothing can follow. */
  #failure
  #hasEnded = false

  constructor(tokenizer, options) {
    this.#tokenizer = tokenizer
    this.#options = options
  }

  push(textOrIds) {
    if (this.#failure !== undefined) throw this.#failure.reason
    if (this.#hasEnded) throw valueError('the stream', 'open', 'ended')
    checkInput(textOrIds)
    if (textOrIds.length === 0) return []
    const state = this.#state ?? this.#start(typeof textOrIds === 'string')
    const text = state.input.push(textOrIds)
    this.#state = state
    return this.#read(text)
  }

  end(options = {}) {
    checkNames(options, ['finishReason'])
    if (options.finishReason !== undefined && !REASONS.includes(options.finishReason))
      throw valueError('finishReason', `one of ${REASONS.join(', ')}`, options.finishReason)
    if (this.#failure !== undefined) throw this.#failure.reason
    if (this.#hasEnded) return []
    this.#state ??= this.#start(true)
    this.#hasEnded = true
    const { engine, input } = this.#state
    engine.hasEnded = true
    const events = this.#read(input.end())
    engine.begin('text')
    this.finishReason =
      options.finishReason ?? (engine.isCut ? 'length' : engine.calls.length > 0 ? 'tool_calls' : 'stop')
    events.push({ type: 'finish', reason: this.finishReason })
    return events
  }

  get damage() {
    return this.#state?.engine.damage ?? []
  }

  get parts() {
    const { parts = [], part } = this.#state?.engine ?? {}
    return [...parts, ...(part === undefined || part.raw === '' ? [] : [part])].map(({ type, raw }) => ({ type, raw }))
  }

  get message() {
    const { totals = { text: '', reasoning: '' }, calls = [] } = this.#state?.engine ?? {}
    const message = { role: 'assistant', content: totals.text === '' && calls.length > 0 ? null : totals.text }
    if (totals.reasoning !== '') message.reasoning_content = totals.reasoning
    if (calls.length > 0)
      message.tool_calls = calls.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      }))
    return message
  }

  #start(isText) {
    const { format: name, startsIn, createId, tools, checkArguments } = this.#options
    const tokenizer = this.#tokenizer
    if (!isText && tokenizer === undefined) throw typeError('tokenizer', 'one of tokenlane, for ids', tokenizer)
    const choice = name === undefined ? choose(tokenizer) : choiceOf(name)
    const { format } = choice
    const compiled = compiledOf(tokenizer, choice, isText)
    const input = isText ? new TextInput() : new IdInput(tokenizer, compiled)
    const idOf = createId === undefined ? () => newId(format.idLength) : (index) => checkId(createId(index))
    const engine = new Engine(compiled, { tools, checkArguments, createId: idOf })
    return { input, engine, answer: engine.answer(startsIn ?? startOf(tokenizer, format)) }
  }

  #read(text) {
    const { engine, answer } = this.#state
    engine.events = []
    if (text === '' && !engine.hasEnded) return []
    engine.feed(text)
    try {
      answer.next()
    } catch (reason) {
      this.#failure = { reason }
      throw reason
    }
    return engine.events
  }
}

/** By tokenizer, then by choice: the compiled formats for text and for ids. */
const COMPILED = new WeakMap()
const WITHOUT = {}

function compiledOf(tokenizer, choice, isText) {
  const owner = tokenizer ?? WITHOUT
  if (!COMPILED.has(owner)) COMPILED.set(owner, new Map())
  const choices = COMPILED.get(owner)
  if (!choices.has(choice)) choices.set(choice, {})
  const both = choices.get(choice)
  const { control, eos } = controlsOf(tokenizer)
  return (both[isText ? 'text' : 'ids'] ??= compile(choice.format, isText ? undefined : control, [
    ...eos,
    ...choice.ends,
  ]))
}

const CALLS = ['decodeStream', 'tokenToId', 'idToToken', 'vocabSize']

function checkTokenizer(tokenizer) {
  if (tokenizer === undefined || tokenizer === null) return undefined
  if (typeof tokenizer !== 'object' || !CALLS.every((name) => typeof tokenizer[name] === 'function'))
    throw typeError('tokenizer', 'one of tokenlane', tokenizer)
  return tokenizer
}

function completionStream(tokenizer, ...args) {
  const isSource = args[0]?.[Symbol.asyncIterator] !== undefined || args[0]?.[Symbol.iterator] !== undefined
  const options = checkOptions(args[isSource ? 1 : 0] ?? {})
  const stream = new CompletionStream(checkTokenizer(tokenizer), options)
  return isSource ? eventsOf(stream, args[0]) : stream
}

async function* eventsOf(stream, source) {
  for await (const textOrIds of source) yield* stream.push(textOrIds)
  yield* stream.end()
}

/** The name of the format that the chat template of a tokenizer has. */
const formatFor = (tokenizer) => choose(checkTokenizer(tokenizer)).format.name

function parseCompletion(tokenizer, textOrIds, options = {}) {
  const checked = checkOptions(options)
  const owner = checkTokenizer(tokenizer)
  const read = (startsIn) => {
    const stream = new CompletionStream(owner, { ...checked, startsIn })
    stream.push(textOrIds)
    stream.end()
    const { message, finishReason, parts, damage } = stream
    return { message, finishReason, parts, damage }
  }
  const parsed = read(checked.startsIn)
  // Its reasoning began in the prompt.
  const isUnopened = checked.startsIn === undefined && parsed.damage.some(({ kind }) => kind === 'unopened')
  return isUnopened ? read('reasoning') : parsed
}

module.exports = { completionStream, formatFor, parseCompletion }
