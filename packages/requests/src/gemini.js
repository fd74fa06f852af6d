'use strict'

// Counts bodies of Gemini's generateContent. The vocabulary of Gemma 3 is that of Gemini, and
// exact for texts; constants of all else are in prices/gemini.json:
//
//   contents   each part of text, without its role; from 2.5 on a token for each message
//   tools      the names and descriptions of functions and of their fields, and constants for each
//   a call     its name and arguments as JSON; its result likewise
//   signatures of thoughts, which models of the third generation read again, by their length
//   images     a constant, of 2.0 a larger one above 384 pixels; pages of PDF and seconds of WAV
//
// Vertex AI reports no constants for tools: its counts are lower.

const {
  errors: { wrongValue },
  images: { sizeOf },
  reading: { placeOf },
} = require('tokenlane/internal/requests.js')

const PRICES = require('../prices/gemini.json')
const { jsonText } = require('./json-text.js')
const { callerTokens, undocumented } = require('./parts.js')
const { snakeOf } = require('./shapes.js')
const { BodyCounter, familyOf } = require('./tally.js')
const { fieldsOf, isObject } = require('./values.js')

/** Characters of a signature that hold nothing of a thought. */
const SIGNATURE = 150
/** Names of models, also at a gateway: `google/gemini-2.5-pro`. */
const GEMINI = /(^|[/.:])gemini/
/** Images up to this side take the smaller constant. */
const SMALL = 384

const listOf = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value])

/** The name that a field has: as in JSON, or as clients in Python write it. */
const keyOf = (value, name) => [name, snakeOf(name)].find((key) => (value[key] ?? undefined) !== undefined)
const fieldOf = (value, name) => value[keyOf(value, name) ?? name] ?? undefined
const isOfThought = (name) => /^thought(_?signature)?$/i.test(name)

/** Whether an object is a content: all others are parts, which have no role. */
const isContent = (value) =>
  isObject(value) &&
  ((value.parts ?? undefined) !== undefined ||
    Object.keys(value).every((name) => name === 'role' || value[name] === null))
const partsOf = (value) => (isContent(value) ? listOf(value.parts) : [value])

/** The parts of each content. Parts beside each other are one content, as in @google/genai. */
function contentsOf(given) {
  const contents = []
  let isOpen = false
  for (const value of listOf(given)) {
    if (isOpen && !isContent(value)) contents.at(-1).push(value)
    else contents.push([...partsOf(value)])
    isOpen = !isContent(value)
  }
  return contents
}

/**
 * Counts a checked body as `{ tokens, tally }`. `countOf` returns the number of tokens of a text.
 *
 * @param {any} body
 * @param {string | undefined} model
 * @param {{ imageSize?: Function, partTokens?: Function, isOther?: boolean }} options
 *   `isOther`: the tokenizer is known not to be that of Gemini
 * @param {(text: string) => number} countOf
 */
function countGemini(body, model, options, countOf) {
  const request = new Request(model ?? '', options, countOf)
  request.add(body)
  return request.counted()
}

class Request extends BodyCounter {
  constructor(model, options, countOf) {
    super(familyOf(PRICES, model.slice(model.lastIndexOf('/') + 1)), options, countOf)
    if (model === '') this.tally.note('model', 'other', 'the body does not name the model: the option model does')
    else if (!GEMINI.test(model)) this.tally.note('model', 'other', 'the model is not one of Gemini')
    if (options.isOther) this.tally.note('model', 'other', 'the tokenizer is not that of Gemini')
  }

  add(body) {
    const config = fieldsOf(body.config)
    for (const [object, place] of [
      [body, ''],
      [config, 'config.'],
    ]) {
      const instruction = listOf(fieldOf(object, 'systemInstruction'))
      if (instruction.length > 0) this.#messages([instruction.flatMap(partsOf)], 'system')
      const tools = fieldOf(object, 'tools')
      const isList = Array.isArray(tools)
      listOf(tools).forEach((tool, i) => this.#tool(tool, placeOf(tool, `${place}tools${isList ? `[${i}]` : ''}`)))
      this.#unread(object, place, 'cachedContent', 'its texts are not in the request')
      this.#unread(object, place, 'toolConfig', 'the choice of a tool is not counted')
    }
    this.#messages(contentsOf(body.contents), 'message')
    for (const [object, place] of [
      [fieldsOf(fieldOf(body, 'generationConfig')), `${keyOf(body, 'generationConfig')}.`],
      [config, 'config.'],
    ])
      for (const name of ['responseSchema', 'responseJsonSchema'])
        this.#unread(object, place, name, 'the format of the answer is not counted')
  }

  #unread(object, place, name, reason) {
    const key = keyOf(object, name)
    if (key !== undefined) this.tally.note(`${place}${key}`, 'other', reason)
  }

  #text(text) {
    this.fixed += this.countOf(text)
  }

  #messages(messages, kind) {
    for (const parts of messages) {
      this.tally.add(kind)
      for (const part of parts) this.#part(part, placeOf(part))
    }
  }

  #part(part, location) {
    if (typeof part === 'string') return this.#text(part)
    const signature = fieldOf(part, 'thoughtSignature')
    if (typeof signature === 'string') {
      this.tally.add('signature', Math.max(0, signature.length - SIGNATURE))
      this.tally.note(location, 'signature', 'the signature of a thought')
    }
    if (typeof part.text === 'string') return this.#text(part.text)
    const call = fieldOf(part, 'functionCall')
    const response = fieldOf(part, 'functionResponse')
    if (isObject(call)) return this.#call(call, call.args, 'call', location)
    if (!isObject(response)) return this.#media(part, location)
    this.#call(response, response.response, 'result', location)
    if (listOf(response.parts).length > 0) this.#unread(response, `${placeOf(response)}.`, 'parts', 'media in a result')
  }

  #call({ name }, value, part, location) {
    this.tally.add(part)
    this.tally.note(location, part, part === 'call' ? 'a call' : 'the result of a tool')
    if (typeof name === 'string') this.#text(name)
    this.#text(jsonText(value ?? {}, location))
  }

  #media(part, location) {
    const inline = fieldsOf(fieldOf(part, 'inlineData'))
    const file = fieldsOf(fieldOf(part, 'fileData'))
    const type = fieldOf(inline, 'mimeType') ?? fieldOf(file, 'mimeType') ?? ''
    const { imageSize, partTokens } = this.options
    if (type.startsWith('image/')) {
      const url =
        typeof inline.data === 'string' ? `data:${type};base64,${base64Of(inline.data)}` : fieldOf(file, 'fileUri')
      const { width, height } = sizeOf(url ?? '', imageSize, location, (what) => this.tally.noteText(what, 'image'))
      return this.#counted(width > SMALL || height > SMALL ? 'image' : 'smallImage', 1, location)
    }
    const given = callerTokens(part, partTokens)
    if (given !== undefined) {
      this.fixed += given
      return this.tally.note(location, 'given', 'by partTokens')
    }
    const isWav = /^audio\/(x-)?wav$/.test(type)
    const isRead = typeof inline.data === 'string' && (isWav || type === 'application/pdf')
    const bytes = isRead ? bytesOf(inline.data, `${placeOf(inline)}.data`) : ''
    const pages = isWav ? 0 : (bytes.match(/\/Type\s*\/Page(?![a-z])/g)?.length ?? 0)
    if (pages > 0) return this.#counted('page', pages, location)
    const seconds = isWav ? secondsOf(bytes) : 0
    if (seconds > 0) return this.#counted('second', seconds, location)
    const names = Object.keys(part).filter((name) => (part[name] ?? undefined) !== undefined && !isOfThought(name))
    // An answer may end with a signature alone.
    if (names.length === 0 && fieldOf(part, 'thoughtSignature') !== undefined) return
    const what = names.length === 0 ? 'an empty part' : `a part with ${JSON.stringify(names[0].slice(0, 100))}`
    throw undocumented(location, what)
  }

  #counted(part, amount, location) {
    this.tally.add(part, amount)
    this.tally.note(location, part, `media, by ${part}`)
  }

  #tool(tool, location) {
    const declared = listOf(fieldOf(fieldsOf(tool), 'functionDeclarations'))
    for (const name of Object.keys(fieldsOf(tool)))
      if (tool[name] !== null && !/^function_?declarations$/i.test(name))
        this.tally.note(`${location}.${name}`, 'hosted', 'a tool that Google runs')
    if (declared.length > 0) this.tally.note(location, 'declaration', 'declarations of tools')
    for (const one of declared) {
      this.tally.add('declaration')
      for (const text of [one.name, one.description]) if (typeof text === 'string') this.#text(text)
      this.#schema(one.parameters ?? fieldOf(one, 'parametersJsonSchema'), 0)
    }
  }

  #schema(given, depth) {
    if (depth > 100) throw wrongValue('tools', 'schemas that are not nested too deeply', given)
    const schema = fieldsOf(given)
    const required = new Set(listOf(schema.required))
    for (const [name, field] of Object.entries(fieldsOf(schema.properties))) {
      this.tally.add(depth === 0 ? 'field' : 'deepField')
      if (required.has(name)) this.tally.add('required')
      this.#text(name)
      this.tally.add('fieldName', this.countOf(name))
      const { description } = fieldsOf(field)
      if (typeof description === 'string') this.#text(description)
      for (const value of listOf(fieldsOf(field).enum)) this.#text(enumText(value))
      this.#schema(field, depth + 1)
    }
    if (isObject(schema.items)) {
      this.tally.add('array')
      this.#schema(schema.items, depth + 1)
    }
    for (const name of ['anyOf', 'oneOf']) for (const one of listOf(schema[name])) this.#schema(one, depth + 1)
  }
}

/** A value of an enum, which can be anything in a body of a stranger. */
const enumText = (value) => (typeof value === 'string' ? value : jsonText(value, 'tools'))

const base64Of = (text) => text.replaceAll('-', '+').replaceAll('_', '/')

/** The bytes of base64, also of its form for URLs, as a text with a character for each. */
function bytesOf(data, place) {
  try {
    return atob(base64Of(data))
  } catch {
    throw wrongValue(place, 'base64', data)
  }
}

/** The seconds of a WAV file: its bytes by those of a second, which its header has. */
function secondsOf(bytes) {
  if (!bytes.startsWith('RIFF') || bytes.length < 44) return 0
  const perSecond = [28, 29, 30, 31].reduce((sum, at, i) => sum + bytes.charCodeAt(at) * 256 ** i, 0)
  return perSecond === 0 ? 0 : Math.ceil((bytes.length - 44) / perSecond)
}

module.exports = { countGemini }
