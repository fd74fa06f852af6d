'use strict'

// Counts requests to OpenAI's models as its API bills them. OpenAI documents the tokens of messages
// with texts, and of images; all else is an estimate whose constants are those of real requests
// with the usage that the API reported (__test__/testdata/chat/usage.json has them with their
// sources). The estimates are listed by their places.
//
// The API turns a request into one text for the model. What the figures show of it:
//
//   tools      are TypeScript declarations (openai-types.js) at the end of the first system
//              message, or in a message of their own
//   a call     is a message to the function, its result one from the function
//   parallel   calls of one message, in chat completions, are one call of `multi_tool_use.parallel`
//              with the calls as JSON; in their results all characters beyond ASCII are escaped as
//              `\uXXXX`, so that a Korean syllable takes four to six tokens
//   format     a JSON Schema is JSON without `required` and `additionalProperties`

const {
  entriesOf,
  countContent,
  errors: { wrongValue },
  images: { countImage, imageOf },
  reading: { placeOf },
} = require('tokenlane/internal/requests.js')

const { instructionsOf } = require('./adapters/openai.js')
const { jsonText, parsed } = require('./json-text.js')
const { HEADING, declarations } = require('./openai-types.js')
const { givenTokens } = require('./parts.js')

const PER_MESSAGE = 3
const PER_NAME = 1
/** A message of the role `function` takes less, because that role is no text. */
const PER_FUNCTION_RESULT = 1
/** Beside the name of the function that the model has to call; `function_call` is the old form. */
const PER_CHOICE = { tool_choice: 7, function_call: 4 }
const NO_CHOICE = 1
/** An item of the Responses API that adds tools within a conversation. */
const ADDED_TOOLS = 79
/** UTF-16 units of a system message with which the tokens of the tools after it are counted. */
const TAIL = 200

/**
 * The constants of families of models. `answer` starts each answer; `call` is a call beside name
 * and arguments, `parallel` several of one message, `line` the result of one of these; `turn` is
 * added to those that the model makes after the last message of the user; `tools` are added to the
 * declarations, and `format` to a schema.
 */
const CHAT = {
  cl100k_base: { answer: 3, call: 3, parallel: 18, line: 3, turn: 0, tools: -1, format: 13 },
  o200k_base: { answer: 3, call: 6, parallel: 15, line: 2, turn: 0, tools: 0, format: 13 },
  o: { answer: 2, call: 6, parallel: 15, line: 2, turn: 6, tools: 4, format: 10 },
  'gpt-5': { answer: 2, call: 6, parallel: 15, line: 2, turn: 6, tools: 85, format: 10 },
}
/** The same of the Responses API; `stored` is added to calls that name a stored answer. */
const RESPONSES = {
  cl100k_base: { answer: 3, call: 8, turn: 0, stored: 3, tools: -4, format: 7 },
  o200k_base: { answer: 3, call: 8, turn: 0, stored: 3, tools: -3, format: 7 },
  o: { answer: 2, call: 8, turn: 6, stored: 3, tools: 0, format: 6 },
  'gpt-5': { answer: 2, call: 8, turn: 6, stored: 3, tools: 3, format: 6 },
  'gpt-5.': { answer: 2, call: 8, turn: 6, stored: 3, tools: 17, format: 6 },
}
/** The models for which OpenAI verified its rule for messages. */
const DOCUMENTED = /^(ft:)?(gpt-3\.5-turbo|gpt-4|gpt-4o|gpt-4o-mini)(-\d{4}|-\d{4}-\d\d-\d\d|:|$)/

function constantsOf(constants, encoding, model = '') {
  const name = model.replace(/^ft:/, '')
  if (/^gpt-5\./.test(name)) return constants['gpt-5.'] ?? constants['gpt-5']
  if (/^gpt-5/.test(name)) return constants['gpt-5']
  return /^o\d/.test(name) ? constants.o : constants[encoding]
}

const TEXT_TYPES = ['text', 'input_text', 'output_text', 'summary_text', 'reasoning_text']
/** Items of the Responses API. */
const CALLS = ['function_call', 'custom_tool_call']
/** Fields of an answer of the API, or of its client, that are not sent to the model again. */
const NOT_SENT = ['annotations', 'id', 'status', 'phase', 'metadata', 'parsed']

/** What is counted of one request. */
class Estimate {
  /** The places of what OpenAI does not document. */
  estimated = []
  #encoding
  #model
  #imageSize
  #partTokens
  #countOf
  #chat
  #responses

  /**
   * `countOf` returns the number of tokens of a text. `isOther`: the request names a model that is
   * not known to have this encoding.
   *
   * @param {{ encoding: string, model?: string, imageSize?: Function, partTokens?: Function,
   *   isOther?: boolean }} of
   * @param {(text: string) => number} countOf
   */
  constructor({ encoding, model, imageSize, partTokens, isOther = false }, countOf) {
    this.#encoding = encoding
    this.#model = model
    this.#imageSize = imageSize
    this.#partTokens = partTokens
    this.#countOf = countOf
    this.#chat = constantsOf(CHAT, encoding, model)
    this.#responses = constantsOf(RESPONSES, encoding, model)
    if (isOther || (model !== undefined && !DOCUMENTED.test(model))) this.#note('model')
  }

  /** Chat completions. `request` has the messages, and further fields of the body. */
  chat({ messages, tools, functions, tool_choice: choice, function_call: called, response_format: format }) {
    const sum = this.messages(messages).reduce((a, b) => a + b, this.#chat.answer)
    const old = (functions ?? []).map((one) => ({ type: 'function', function: one }))
    const declared = [...(tools ?? []), ...old]
    const extra =
      this.#tools(declared, old.length > 0 ? 'functions' : 'tools', firstSystemText(messages), this.#chat.tools) +
      this.#format(format?.json_schema ?? format, format?.type, 'response_format', this.#chat.format)
    if (declared.length === 0) return sum + extra
    return sum + extra + this.#choice(choice, 'tool_choice') + this.#choice(called, 'function_call')
  }

  /** The Responses API. `request` has the fields of the body. */
  responses({
    input,
    instructions,
    tools,
    tool_choice: choice,
    text,
    previous_response_id: previous,
    conversation,
    prompt,
  }) {
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? [])
    for (const [name, value] of Object.entries({ previous_response_id: previous, conversation, prompt }))
      if (value !== undefined && value !== null) this.#note(`${name} (it is not in the request)`)
    const said = instructionsOf(instructions)
    const names = new Map()
    for (const item of items) if (typeof item.name === 'string') names.set(item.call_id, item.name)
    const turn = lastOfUser(items)
    const own = said.reduce((sum, item) => sum + this.#item(item, names), this.#responses.answer)
    const sum = items.reduce((total, item, i) => {
      const isOfTurn = i > turn && CALLS.includes(item.type)
      return total + this.#item(item, names) + (isOfTurn ? this.#responses.turn : 0)
    }, own)
    const format = text?.format
    return (
      sum +
      this.#tools(tools ?? [], 'tools', firstSystemText([...said, ...items]), this.#responses.tools, true) +
      this.#format(format, format?.type, 'text.format', this.#responses.format) +
      (tools?.length > 0 ? this.#choice(choice, 'tool_choice') : 0)
    )
  }

  /** The tokens of each message of chat completions. */
  messages(messages) {
    // Results refer to calls by their ids; the calls of one message belong together.
    const calls = new Map()
    const turn = lastOfUser(messages)
    return messages.map((message, i) => {
      const location = placeOf(message, `messages[${i}]`)
      if (typeof message.role !== 'string') throw wrongValue(location, 'a message with a role', message)
      if (message.role === 'tool') return this.#result(message, calls.get(message.tool_call_id), location)
      const made = callsOf(message, location)
      for (const { id, name } of made) if (id !== undefined) calls.set(id, { name, isParallel: made.length > 1 })
      const ofTurn = made.length > 0 && i > turn ? this.#chat.turn : 0
      return this.#message(message, location) + this.#calls(made, this.#placesOfCalls(message, location)) + ofTurn
    })
  }

  #message(message, location) {
    const isFunction = message.role === 'function'
    return entriesOf(message).reduce(
      (sum, [name, value]) => {
        const where = `${location}.${name}`
        if (name === 'tool_calls' || name === 'function_call' || NOT_SENT.includes(name)) return sum
        if (name === 'content') return sum + this.#content(value, where)
        if (name === 'type' && value === 'message') return sum
        if (typeof value === 'string') return sum + this.#countOf(value) + (name === 'name' ? PER_NAME : 0)
        if (name === 'audio') return sum + this.#noted(value?.transcript ?? '', where)
        return sum + this.#json(value, where)
      },
      isFunction ? PER_FUNCTION_RESULT : PER_MESSAGE,
    )
  }

  /** The list of the calls of a message; without such a list in the body, each call. */
  #placesOfCalls({ tool_calls: calls }, location) {
    const places = (calls ?? []).map((call) => placeOf(call))
    const isList = places.length === 0 || places[0] === '' || placeOf(calls) !== ''
    return isList ? [`${location}.tool_calls`] : places
  }

  #calls(calls, places) {
    if (calls.length === 0) return 0
    for (const place of places) this.#note(place)
    const [location] = places
    if (calls.length === 1) return this.#chat.call + this.#countOf(calls[0].name) + this.#countOf(calls[0].text)
    const uses = calls.map(({ name, text }) => ({ recipient_name: `functions.${name}`, parameters: parsed(text) }))
    return (
      this.#chat.parallel -
      PER_MESSAGE -
      this.#countOf('assistant') +
      this.#countOf(jsonText({ tool_uses: uses }, location))
    )
  }

  #result(message, call, location) {
    this.#note(`${location} (the result of a tool)`)
    const name = call?.name ?? message.name ?? 'tool'
    if (call?.isParallel !== true)
      return PER_MESSAGE + this.#countOf(name) + this.#content(message.content ?? '', `${location}.content`)
    const content = escaped(textOf(message.content))
    return this.#countOf(`functions.${name}`) + this.#chat.line + this.#countOf(content)
  }

  /** Text, or parts of text, images and others. */
  #content(content, location) {
    if (content === undefined || content === null) return 0
    const countPart = (part, index) => this.#part(part, placeOf(part, `${location}[${index}]`))
    return countContent(content, { countOf: this.#countOf, textIn: saidIn, countPart })
  }

  #part(part, location) {
    const image = imageOf(part)
    if (image !== undefined) return this.#image(image, location)
    const given = givenTokens(part, location, this.#partTokens)
    this.#note(location)
    return given
  }

  /** An item of the input of the Responses API. */
  #item(item, names) {
    const location = placeOf(item)
    if (typeof item.role === 'string') {
      const { tools, ...message } = item
      const added = this.#tools(tools ?? [], `${location}.tools`, '', ADDED_TOOLS, true)
      return this.#message(message, location) + added
    }
    switch (item.type) {
      case CALLS[0]:
      case CALLS[1]: {
        this.#note(location)
        const stored = item.id === undefined || item.id === null ? 0 : this.#responses.stored
        const text = item.arguments ?? item.input ?? ''
        return (
          this.#responses.call +
          stored +
          this.#countOf(item.name) +
          this.#countOf(typeof text === 'string' ? text : jsonText(text, location))
        )
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#note(location)
        return (
          PER_MESSAGE +
          this.#countOf(names.get(item.call_id) ?? 'tool') +
          this.#content(partsOfOutput(item.output), `${location}.output`)
        )
      case 'reasoning':
        // The model sees its reasoning again only within the turn; its tokens are not in the item.
        return this.#noted(textOf(item.content), location)
      default:
        return this.#json(item, location)
    }
  }

  /** Declarations continue the text of the first system message, or are a message of their own. */
  #tools(tools, location, systemText, added, inline = false) {
    if (tools.length === 0) return 0
    this.#note(location)
    const functions = []
    let others = 0
    tools.forEach((tool, i) => {
      const declared = tool?.function ?? tool?.custom ?? (tool?.type === 'function' ? tool : undefined)
      if (typeof declared?.name === 'string') functions.push(declared)
      else others += this.#json(tool, `${location}[${i}]`, ' (it is not a function)')
    })
    if (functions.length === 0) return others
    const text = HEADING + declarations(functions, this.#encoding, inline)
    if (systemText === undefined) return others + added + PER_MESSAGE + this.#countOf('system') + this.#countOf(text)
    const tail = systemText.slice(-TAIL)
    return others + added + this.#countOf(`${tail}\n\n${text}`) - this.#countOf(tail)
  }

  #choice(choice, name) {
    if (choice === undefined || choice === null || typeof choice === 'string') return choice === 'none' ? NO_CHOICE : 0
    this.#note(name)
    const chosen = choice.function?.name ?? choice.name
    return typeof chosen === 'string' ? PER_CHOICE[name] + this.#countOf(chosen) : 0
  }

  #format(format, type, location, added) {
    if (format === undefined || format === null || type === 'text') return 0
    this.#note(location)
    const { name, description, schema } = format
    if (type !== 'json_schema') return 0
    const note = typeof description === 'string' ? this.#countOf(`// ${description}\n`) : 0
    return added + this.#countOf(name ?? '') + note + this.#countOf(JSON.stringify(bareSchema(schema)) ?? '')
  }

  /**
   * What has no rule of its own is counted as JSON, its images as images. Encrypted reasoning does
   * not say how many tokens it is.
   */
  #json(value, location, reason = '') {
    const images = []
    const text = jsonText(value, location, (name, field) => {
      if (name === 'encrypted_content') return undefined
      const url = imageUrlOf(name, field, value)
      if (url === undefined) return field
      images.push(url)
      return ''
    })
    this.#note(`${location}${reason}`)
    const ofImages = images.map((url) => this.#image({ url, detail: 'auto' }, location))
    return ofImages.reduce((sum, one) => sum + one, this.#countOf(text))
  }

  #image(image, location) {
    return countImage(image, this.#model, this.#imageSize, location, (what) => this.#note(what))
  }

  #note(location) {
    this.estimated.push(location)
  }

  #noted(text, location) {
    this.#note(location)
    return this.#countOf(text)
  }
}

/** The calls of a message: their ids, names and arguments. */
function callsOf({ tool_calls: calls, function_call: old }, location) {
  const list = [...(Array.isArray(calls) ? calls : []), ...(old === undefined || old === null ? [] : [old])]
  return list.map((call) => {
    const { name, arguments: given } = call.function ?? call.custom ?? call
    const text = given ?? call.custom?.input ?? ''
    return { id: call.id, name, text: typeof text === 'string' ? text : jsonText(text, location) }
  })
}

/** The URL of an image in a value without a rule of its own, or undefined. */
function imageUrlOf(name, field, { type }) {
  if (typeof field !== 'string' || field === '') return undefined
  if (name === 'result' && type === 'image_generation_call') return `data:image/png;base64,${field}`
  return name === 'image_url' || /^data:image\//.test(field) ? field : undefined
}

/** The output of a call may be one part. */
const partsOfOutput = (output) =>
  typeof output === 'object' && output !== null && !Array.isArray(output) ? [output] : output

/** The text of a part, or undefined. */
function saidIn(part) {
  if (typeof part?.text === 'string' && TEXT_TYPES.includes(part.type)) return part.text
  return part?.type === 'refusal' && typeof part.refusal === 'string' ? part.refusal : undefined
}

function textOf(content) {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part) => saidIn(part) ?? '').join('') : ''
}

const lastOfUser = (messages) => messages.findLastIndex((message) => message?.role === 'user')

/** The text of the first message to whose end tools are added, or undefined. */
function firstSystemText(messages) {
  const first = messages.find((message) => message?.role === 'system' || message?.role === 'developer')
  return first === undefined ? undefined : textOf(first.content)
}

/** The text as JSON in ASCII, without the quotes around it. */
const escaped = (text) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const DROPPED = ['additionalProperties', 'required']

function bareSchema(schema) {
  if (Array.isArray(schema)) return schema.map((one) => bareSchema(one))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    entriesOf(schema)
      .filter(([name]) => !DROPPED.includes(name))
      .map(([name, value]) => [name, name === 'properties' ? bareProperties(value) : bareSchema(value)]),
  )
}

/** Names of properties are no keywords. */
function bareProperties(properties) {
  if (typeof properties !== 'object' || properties === null) return properties
  return Object.fromEntries(entriesOf(properties).map(([name, value]) => [name, bareSchema(value)]))
}

module.exports = { Estimate }
