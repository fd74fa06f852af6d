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
} = require('tokenlane/internal/requests.js')

const PRICES = require('../prices/gemini.json')
const { jsonText } = require('./json-text.js')
const { givenTokens } = require('./parts.js')
const { Tally, familyOf, tokensOf } = require('./tally.js')

/** Characters of a signature that hold nothing of a thought. */
const SIGNATURE = 150
/** Images up to this side take the smaller constant. */
const SMALL = 384

const listOf = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value])
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value) => (isObject(value) ? value : {})

/** A field by its name in JSON, or as clients in Python write it. */
const fieldOf = (value, name) => value[name] ?? value[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]

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
  return { tokens: Math.max(1, Math.round(request.tokens)), tally: request.tally }
}

class Request {
  tally = new Tally()
  #options
  #countOf
  #fixed = 0

  constructor(model, options, countOf) {
    this.#options = options
    this.#countOf = countOf
    this.tally.family = familyOf(PRICES, model.slice(model.lastIndexOf('/') + 1))
    if (model === '') this.tally.note('model', 'other', 'the body does not name the model: the option model does')
    if (options.isOther) this.tally.note('model', 'other', 'the tokenizer is not that of Gemini')
  }

  get tokens() {
    return this.#fixed + tokensOf(this.tally)
  }

  add(body) {
    const instruction = fieldOf(body, 'systemInstruction')
    if (instruction !== undefined && instruction !== null) this.#message(instruction, 'systemInstruction', 'system')
    listOf(body.contents).forEach((message, i) => this.#message(message, `contents[${i}]`, 'message'))
    listOf(body.tools).forEach((tool, i) => this.#tool(tool, `tools[${i}]`))
    const cached = fieldOf(body, 'cachedContent')
    if (cached !== undefined && cached !== null)
      this.tally.note('cachedContent', 'other', 'its texts are not in the request')
  }

  #text(text) {
    this.#fixed += this.#countOf(text)
  }

  #message(message, location, part) {
    this.tally.add(part)
    if (typeof message === 'string') return this.#text(message)
    for (const [i, one] of listOf(fieldsOf(message).parts).entries()) this.#part(one, `${location}.parts[${i}]`)
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
    if (isObject(response)) return this.#call(response, response.response, 'result', location)
    this.#media(part, location)
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
    const type = String(fieldOf(inline, 'mimeType') ?? fieldOf(file, 'mimeType') ?? '')
    const { imageSize, partTokens } = this.#options
    if (type.startsWith('image/')) {
      const url =
        typeof inline.data === 'string' ? `data:${type};base64,${base64Of(inline.data)}` : fieldOf(file, 'fileUri')
      const { width, height } = sizeOf(String(url), imageSize, location, (what) => this.tally.noteText(what, 'image'))
      return this.#counted(width > SMALL || height > SMALL ? 'image' : 'smallImage', 1, location)
    }
    const bytes = typeof inline.data === 'string' && partTokens === undefined ? bytesOf(inline.data, location) : ''
    const pages = type === 'application/pdf' ? (bytes.match(/\/Type\s*\/Page(?![a-z])/g)?.length ?? 0) : 0
    if (pages > 0) return this.#counted('page', pages, location)
    const seconds = /^audio\/(x-)?wav$/.test(type) ? secondsOf(bytes) : 0
    if (seconds > 0) return this.#counted('second', seconds, location)
    this.#fixed += givenTokens(part, location, partTokens)
    this.tally.note(location, 'given', 'by partTokens')
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
      this.tally.add('fieldName', this.#countOf(name))
      const { description } = fieldsOf(field)
      if (typeof description === 'string') this.#text(description)
      for (const value of listOf(fieldsOf(field).enum)) this.#text(String(value))
      this.#schema(field, depth + 1)
    }
    if (isObject(schema.items)) {
      this.tally.add('array')
      this.#schema(schema.items, depth + 1)
    }
    for (const name of ['anyOf', 'oneOf']) for (const one of listOf(schema[name])) this.#schema(one, depth + 1)
  }
}

const base64Of = (text) => text.replaceAll('-', '+').replaceAll('_', '/')

/** The bytes of base64, also of its form for URLs, as a text with a character for each. */
function bytesOf(data, location) {
  try {
    return atob(base64Of(data))
  } catch {
    throw wrongValue(`${location}.inlineData.data`, 'base64', data)
  }
}

/** The seconds of a WAV file: its bytes by those of a second, which its header has. */
function secondsOf(bytes) {
  if (!bytes.startsWith('RIFF') || bytes.length < 44) return 0
  const perSecond = [28, 29, 30, 31].reduce((sum, at, i) => sum + bytes.charCodeAt(at) * 256 ** i, 0)
  return perSecond === 0 ? 0 : Math.ceil((bytes.length - 44) / perSecond)
}

module.exports = { countGemini }
