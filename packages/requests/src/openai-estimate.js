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
const { Tally, familyOf, priceOf } = require('./tally.js')

const PRICES = require('../prices/openai.json')

/** UTF-16 units of a system message with which the tokens of the tools after it are counted. */
const TAIL = 200
/** Characters of encrypted reasoning that hold none of it. */
const ENCRYPTION = 1000
/** The models for which OpenAI verified its rule for messages. */
const DOCUMENTED = /^(ft:)?(gpt-3\.5-turbo|gpt-4|gpt-4o|gpt-4o-mini)(-\d{4}|-\d{4}-\d\d-\d\d|:|$)/

const UNDOCUMENTED = 'no rule is documented for the model'
const TEXT_TYPES = ['text', 'input_text', 'output_text', 'summary_text', 'reasoning_text']
/** Items of the Responses API. */
const CALLS = ['function_call', 'custom_tool_call']
/** Fields of an answer of the API, or of its client, that are not sent to the model again. */
const NOT_SENT = ['annotations', 'id', 'status', 'phase', 'metadata', 'parsed']

/** What is counted of one request. */
class Estimate {
  /** The amounts of parts, and the places of what OpenAI does not document. */
  tally = new Tally()
  #encoding
  #model
  #imageSize
  #partTokens
  #countOf
  #family

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
    if (isOther || (model !== undefined && !DOCUMENTED.test(model))) this.#note('model', 'answer', UNDOCUMENTED)
  }

  /** The family of the model in an API. Without a model, that of its encoding. */
  #begin(api) {
    const name = this.#model?.replace(/^ft:/, '') ?? this.#encoding
    this.#family = familyOf(PRICES[api], name)
    this.tally.family = this.#family
    this.tally.api = api
  }

  /** The tokens of a part, which are noted in the tally. */
  #price(part, amount = 1) {
    this.tally.add(part, amount)
    return amount * priceOf(this.#family, part)
  }

  /** Chat completions. `request` has the messages, and further fields of the body. */
  chat(body) {
    const { messages, tools, functions, function_call: called, response_format: format } = body
    this.#begin('chat')
    const sum = this.#messages(messages).reduce((a, b) => a + b, this.#price('answer'))
    const old = (functions ?? []).map((one) => ({ type: 'function', function: one }))
    const declared = [...(tools ?? []), ...old]
    const extra =
      this.#tools(declared, old.length > 0 ? 'functions' : 'tools', firstSystemText(messages)) +
      this.#format(format?.json_schema ?? format, format?.type, 'response_format')
    if (declared.length === 0) return sum + extra
    return sum + extra + this.#choices(body) + this.#choice(called, 'function_call')
  }

  /** The Responses API. `request` has the fields of the body. */
  responses(body) {
    const { input, instructions, tools, text, previous_response_id: previous, conversation, prompt } = body
    this.#begin('responses')
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? [])
    for (const [name, value] of Object.entries({ previous_response_id: previous, conversation, prompt }))
      if (value !== undefined && value !== null) this.#note(name, 'answer', 'its texts are not in the request')
    const said = instructionsOf(instructions)
    const names = new Map()
    for (const item of items) if (typeof item.name === 'string') names.set(item.call_id, item.name)
    const turn = lastOfUser(items)
    const own = said.reduce((sum, item) => sum + this.#item(item, names, true), this.#price('answer'))
    const sum = items.reduce((total, item, i) => total + this.#item(item, names, i > turn), own)
    const format = text?.format
    return (
      sum +
      this.#tools(tools ?? [], 'tools', firstSystemText([...said, ...items]), true) +
      this.#format(format, format?.type, 'text.format') +
      (tools?.length > 0 ? this.#choices(body) : 0)
    )
  }

  /** The tokens of each message of chat completions. */
  #messages(messages) {
    // Results refer to calls by their ids; the calls of one message belong together.
    const calls = new Map()
    const turn = lastOfUser(messages)
    return messages.map((message, i) => {
      const location = placeOf(message, `messages[${i}]`)
      if (typeof message.role !== 'string') throw wrongValue(location, 'a message with a role', message)
      if (message.role === 'tool') return this.#result(message, calls.get(message.tool_call_id), location)
      const made = callsOf(message, location)
      for (const { id, name } of made) if (id !== undefined) calls.set(id, { name, isParallel: made.length > 1 })
      const ofTurn = made.length > 0 && i > turn ? this.#price(made.length > 1 ? 'parallelTurn' : 'turn') : 0
      return this.#message(message, location) + this.#calls(made, this.#placesOfCalls(message, location)) + ofTurn
    })
  }

  #message(message, location) {
    const isFunction = message.role === 'function'
    const earlier = isAnswer(message) ? this.#price('earlier') : 0
    return entriesOf(message).reduce(
      (sum, [name, value]) => {
        const where = `${location}.${name}`
        if (name === 'tool_calls' || name === 'function_call' || NOT_SENT.includes(name)) return sum
        if (name === 'content') return sum + this.#content(value, where)
        if (name === 'type' && value === 'message') return sum
        if (typeof value === 'string')
          return sum + this.#countOf(value) + (name === 'name' ? this.#name(value, message) : 0)
        if (name === 'audio') return sum + this.#noted(value?.transcript ?? '', where)
        return sum + this.#json(value, where)
      },
      earlier + this.#price(isFunction ? 'functionResult' : 'message'),
    )
  }

  /** A name that is the role takes the role's place. */
  #name(name, { role }) {
    return name === role ? 0 : this.#price('name')
  }

  /** The list of the calls of a message; without such a list in the body, each call. */
  #placesOfCalls({ tool_calls: calls }, location) {
    const places = (calls ?? []).map((call) => placeOf(call))
    const isList = places.length === 0 || places[0] === '' || placeOf(calls) !== ''
    return isList ? [`${location}.tool_calls`] : places
  }

  #calls(calls, places) {
    if (calls.length === 0) return 0
    for (const place of places) this.#note(place, calls.length === 1 ? 'call' : 'parallel', 'a call')
    const [location] = places
    if (calls.length === 1) return this.#price('call') + this.#countOf(calls[0].name) + this.#countOf(calls[0].text)
    const uses = calls.map(({ name, text }) => ({ recipient_name: `functions.${name}`, parameters: parsed(text) }))
    return this.#price('parallel') + this.#countOf(jsonText({ tool_uses: uses }, location))
  }

  #result(message, call, location) {
    this.#note(location, call?.isParallel === true ? 'line' : 'result', 'the result of a tool')
    if (call?.isParallel === true) return this.#price('line') + this.#countOf(escaped(textOf(message.content)))
    const name = call?.name ?? message.name ?? 'tool'
    return this.#price('result') + this.#countOf(name) + this.#content(message.content ?? '', `${location}.content`)
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
    this.#note(location, 'given', 'by partTokens')
    return given
  }

  /** An item of the input of the Responses API. */
  #item(item, names, isOfTurn) {
    const location = placeOf(item)
    if (typeof item.role === 'string') {
      const { tools, ...message } = item
      const added = this.#tools(tools ?? [], `${location}.tools`, '', true, 'addedTools')
      return this.#message(message, location) + added
    }
    switch (item.type) {
      case CALLS[0]:
      case CALLS[1]: {
        this.#note(location, 'call', 'a call')
        const stored = item.id === undefined || item.id === null ? 0 : this.#price('stored')
        const text = item.arguments ?? item.input ?? ''
        return (
          this.#price('call') +
          (isOfTurn ? this.#price('turn') : 0) +
          stored +
          this.#countOf(item.name) +
          this.#countOf(typeof text === 'string' ? text : jsonText(text, location))
        )
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#note(location, 'result', 'the result of a tool')
        return (
          this.#price('result') +
          this.#countOf(names.get(item.call_id) ?? 'tool') +
          this.#content(partsOfOutput(item.output), `${location}.output`)
        )
      case 'reasoning':
        return this.#reasoning(item, location, isOfTurn)
      default:
        return this.#json(item, location)
    }
  }

  /**
   * The model sees its reasoning again only within the turn. Its tokens are not in the item, but in
   * what is encrypted, which is longer the more they are.
   */
  #reasoning({ content, encrypted_content: encrypted }, location, isOfTurn) {
    this.#note(location, 'encrypted', 'reasoning, which is encrypted')
    if (!isOfTurn) return 0
    const length = typeof encrypted === 'string' ? Math.max(0, encrypted.length - ENCRYPTION) : 0
    return Math.round(this.#price('encrypted', length)) + this.#countOf(textOf(content))
  }

  /** Declarations continue the text of the first system message, or are a message of their own. */
  #tools(tools, location, systemText, inline = false, part = 'tools') {
    if (tools.length === 0) return 0
    this.#note(location, part, 'declarations of tools')
    const functions = []
    let others = 0
    tools.forEach((tool, i) => {
      const declared = tool?.function ?? tool?.custom ?? (tool?.type === 'function' ? tool : undefined)
      if (typeof declared?.name === 'string') functions.push(declared)
      else others += this.#hosted(tool, `${location}[${i}]`)
    })
    if (functions.length === 0) return others
    const text = HEADING + declarations(functions, this.#encoding, inline)
    const added = this.#price(part) + this.#declared(functions)
    if (systemText === undefined) return others + added + this.#price('toolsAlone') + this.#countOf(text)
    const tail = systemText.slice(-TAIL)
    return others + added + this.#countOf(`${tail}\n\n${text}`) - this.#countOf(tail)
  }

  /** A tool that OpenAI runs. Its texts are not in the request. */
  #hosted(tool, location) {
    const type = typeof tool?.type === 'string' ? tool.type.replace(/_(preview|\d{4}.*)$/, '') : 'other'
    return this.#json(tool, location, 'it is not a function', 'hosted') + this.#price(`hosted:${type}`)
  }

  /** What functions take beside their declarations, such as a note of all parameters. */
  #declared(functions) {
    const bare = functions.every(({ parameters }) => Object.keys(parameters?.properties ?? {}).length === 0)
    return functions.reduce(
      (sum, { parameters }) => {
        const note = parameters?.description
        if (typeof note !== 'string' || note === '') return sum
        return sum + this.#price('noteOfParameters', this.#countOf(`// ${note}\n`))
      },
      bare ? this.#price('bare') : 0,
    )
  }

  #choices({ tool_choice: choice, parallel_tool_calls: isParallel }) {
    const chosen = this.#choice(choice, 'tool_choice')
    if (isParallel !== false) return chosen
    this.#note('parallel_tool_calls', 'serial', 'calls one after the other')
    return chosen + this.#price('serial')
  }

  #choice(choice, name) {
    if (choice === undefined || choice === null) return 0
    if (typeof choice === 'string') {
      if (choice !== 'none' && choice !== 'required') return 0
      this.#note(name, `choice:${choice}`, 'a choice of tools')
      return this.#price(`choice:${choice}`)
    }
    this.#note(name, name, 'a choice of a tool')
    const chosen = choice.function?.name ?? choice.custom?.name ?? choice.name
    if (typeof chosen !== 'string') return 0
    return this.#price(name) + this.#price('choiceName', this.#countOf(chosen))
  }

  #format(format, type, location) {
    if (format === undefined || format === null || type === 'text') return 0
    this.#note(location, 'format', 'the format of the answer')
    const { name, description, schema } = format
    if (type !== 'json_schema') return 0
    const note = typeof description === 'string' ? this.#countOf(`// ${description}\n`) : 0
    return (
      this.#price('format') + this.#countOf(name ?? '') + note + this.#countOf(JSON.stringify(bareSchema(schema)) ?? '')
    )
  }

  /**
   * What has no rule of its own is counted as JSON, its images as images. Encrypted reasoning does
   * not say how many tokens it is.
   */
  #json(value, location, reason = 'counted as JSON', part = 'json') {
    const images = []
    const text = jsonText(value, location, (name, field) => {
      if (name === 'encrypted_content') return undefined
      const url = imageUrlOf(name, field, value)
      if (url === undefined) return field
      images.push(url)
      return ''
    })
    this.#note(location, part, reason)
    const ofImages = images.map((url) => this.#image({ url, detail: 'auto' }, location))
    return ofImages.reduce((sum, one) => sum + one, this.#countOf(text))
  }

  #image(image, location) {
    return countImage(image, this.#model, this.#imageSize, location, (what) => this.tally.noteText(what, 'image'))
  }

  #note(location, part, reason) {
    this.tally.note(location, part, reason)
  }

  #noted(text, location) {
    this.#note(location, 'json', 'the transcript of audio')
    return this.#countOf(text)
  }
}

/** Whether a message is a text that the model answered earlier. */
const isAnswer = ({ role, content, tool_calls: calls, function_call: call }) =>
  role === 'assistant' && (content?.length ?? 0) > 0 && (calls?.length ?? 0) === 0 && (call ?? undefined) === undefined

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

/** Keywords that the model does not see. */
const DROPPED = new Set([
  ...['$schema', 'additionalProperties', 'default', 'format', 'pattern', 'required', 'multipleOf', 'uniqueItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
])

function bareSchema(schema) {
  if (Array.isArray(schema)) return schema.map((one) => bareSchema(one))
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    entriesOf(schema)
      .filter(([name]) => !DROPPED.has(name))
      .map(([name, value]) => [name, name === 'properties' ? bareProperties(value) : bareSchema(value)]),
  )
}

/** Names of properties are no keywords. */
function bareProperties(properties) {
  if (typeof properties !== 'object' || properties === null) return properties
  return Object.fromEntries(entriesOf(properties).map(([name, value]) => [name, bareSchema(value)]))
}

module.exports = { Estimate }
