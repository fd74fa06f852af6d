'use strict'

// Estimates the tokens of a request to Claude, whose tokenizer is not public: Anthropic's API has a
// call that counts. A request is a sum of parts, whose constants are in prices/anthropic.json:
//
//   text       tokens of o200k_base, of which each is more than one of Claude's
//   messages   a constant each, and one for the request
//   tools      a system prompt of Anthropic, a longer one where a tool has to be called, and the
//              declarations as JSON
//   a call     and its result take tokens beside their texts
//   thinking   a constant; the thoughts of the current turn, and with newer models all of them
//   format     a system prompt, and the schema as JSON
//   images     by their pixels, after Anthropic's guide "Vision"

const {
  images: { imageOf, sizeOf },
  reading: { placeOf },
} = require('tokenlane/internal/requests.js')

const PRICES = require('../prices/anthropic.json')
const { jsonText, parsed } = require('./json-text.js')
const { givenTokens } = require('./parts.js')
const { BodyCounter, familyOf } = require('./tally.js')

/** Whether a name is one of a model of Anthropic, also at a gateway: `anthropic/claude-…`. */
const isClaude = (model) => typeof model === 'string' && /(^|[/.])claude-/.test(model)

/** Gateways write the version as `4.7`. */
const nameOf = (model) => model.slice(model.indexOf('claude-')).replaceAll('.', '-')

/**
 * Counts a body of chat completions, with the fields that only Anthropic's API has, as
 * `{ tokens, tally }`. `countOf` returns the number of tokens of a text in o200k_base.
 *
 * @param {any} body checked
 * @param {any} given the caller's body, whose blocks say more if it is one of Anthropic's API
 * @param {{ imageSize?: Function, partTokens?: Function }} options
 * @param {(text: string) => number} countOf
 */
function countClaude(body, given, options, countOf) {
  const request = new Request(familyOf(PRICES, nameOf(body.model)), options, countOf)
  request.add(body)
  request.addDocuments(given)
  return request.counted()
}

class Request extends BodyCounter {
  add(body) {
    const { messages, tools, thinking } = body
    this.tally.add('request')
    this.tally.note('messages', 'text', 'the tokenizer is not public')
    const turn = messages.findLastIndex(({ role }) => role === 'user')
    messages.forEach((message, i) => this.#message(message, placeOf(message, `messages[${i}]`), i > turn))
    if (tools?.length > 0) this.#tools(tools, body.tool_choice)
    this.#format(body)
    const kind = thinking?.type
    if (kind !== 'enabled' && kind !== 'adaptive') return
    this.tally.add(`thinking:${kind}`)
    this.tally.note('thinking', `thinking:${kind}`, 'thinking')
  }

  #message({ role, content, tool_calls: calls, reasoning_content: thought }, location, isOfTurn) {
    this.tally.add(role === 'system' || role === 'developer' ? 'system' : role === 'tool' ? 'result' : 'message')
    if (role === 'tool') this.tally.note(location, 'result', 'the result of a tool')
    for (const [j, call] of (calls ?? []).entries()) {
      this.tally.note(placeOf(call, `${location}.tool_calls[${j}]`), 'call', 'a call')
      const { name, arguments: input = call.custom?.input } = call.function ?? call.custom ?? call
      const text = typeof input === 'string' ? input : jsonText(input ?? {}, location)
      this.tally.add('call')
      this.tally.add('callField', Object.keys(fieldsOf(parsed(text))).length)
      this.#text('callText', `${name} ${text}`)
    }
    if (typeof thought === 'string')
      this.#text(isOfTurn || this.tally.family.keepsThoughts ? 'thought' : 'earlierThought', thought)
    const parts = typeof content === 'string' ? [content] : (content ?? [])
    parts.forEach((part, j) => {
      const text = typeof part === 'string' ? part : part.text
      if (typeof text === 'string') this.#text('text', text)
      else this.#other(part, placeOf(part, `${location}.content[${j}]`))
    })
  }

  #text(part, text) {
    this.tally.add(part, this.countOf(text))
    // The longer the tokens of o200k_base, the more common its words are, which Claude has too.
    if (part === 'text') this.tally.add('character', text.length)
    for (const [script, characters] of beyondAscii(text)) {
      if (characters === 0) continue
      this.tally.add(`script:${script}`, characters)
      this.tally.note('messages', `script:${script}`, `text in the script ${script}`)
    }
  }

  #other(part, location) {
    const { imageSize, partTokens } = this.options
    const url = imageOf(part)?.url
    if (typeof url !== 'string') {
      this.fixed += givenTokens(part, location, partTokens)
      this.tally.note(location, 'given', 'by partTokens')
      return
    }
    const size = sizeOf(url, imageSize, location, (what) => this.tally.noteText(what, 'image'))
    this.tally.add('image')
    this.fixed += imageTokens(size, this.tally.family.image)
  }

  #tools(tools, choice) {
    const kind = typeof choice === 'string' ? choice : choice?.type
    const part = FORCED.includes(kind) ? 'toolsForced' : 'tools'
    this.tally.note('tools', part, 'declarations of tools')
    this.tally.add(part)
    tools.forEach((tool, i) => {
      const { name, description, parameters, input_schema: input } = tool.function ?? tool.custom ?? tool
      const type = tool.type ?? ''
      const location = placeOf(tool, `tools[${i}]`)
      if (VERSIONED.test(type) || typeof name !== 'string') {
        this.tally.note(location, 'hosted', 'a tool that the provider runs')
        this.tally.add(`hosted:${type.replace(VERSIONED, '')}`)
        return
      }
      this.tally.add('tool')
      this.#text('toolText', `${name} ${description ?? ''}`)
      this.#text('toolSchema', jsonText(input ?? parameters ?? EMPTY, location))
    })
  }

  /** Documents have a frame. With citations, each sentence of a document is a part of its own. */
  addDocuments({ messages }) {
    for (const { content } of messages ?? [])
      for (const block of Array.isArray(content) ? content : []) {
        if (block?.type !== 'document' && block?.type !== 'search_result') continue
        this.tally.add('document')
        this.tally.note(placeOf(block), 'document', 'a document')
        if (block.citations?.enabled !== true) continue
        const text = block.source?.data ?? ''
        const sentences = typeof text === 'string' ? text.split(/[.!?]\s|\n/).length : 1
        this.tally.add('citations')
        this.tally.note(placeOf(block.citations), 'citations', 'citations of a document')
        this.tally.add('citedSentence', sentences)
      }
  }

  #format(body) {
    const schemas = {
      'output_config.format': body.output_config?.format?.schema,
      output_format: body.output_format?.schema,
      response_format: body.response_format?.json_schema?.schema,
      'text.format': body.text?.format?.schema,
    }
    const given = Object.entries(schemas).find(([, schema]) => schema !== undefined && schema !== null)
    if (given === undefined) return
    const [place, schema] = given
    this.tally.note(place, 'format', 'the format of the answer')
    this.tally.add('format')
    this.#text('formatSchema', jsonText(schema, place))
  }
}

const fieldsOf = (value) => (typeof value === 'object' && value !== null ? value : {})

/** Types of tools that Anthropic runs, such as `web_search_20250305`. */
const VERSIONED = /_20\d{6}$/

/** The schema of a tool that has none. */
const EMPTY = { type: 'object', properties: {} }

/** Choices by which the model has to call a tool: of Anthropic, and of chat completions. */
const FORCED = ['any', 'tool', 'required', 'function']

/** Scripts whose characters take another number of tokens than o200k_base has for them. */
const SCRIPTS = Object.entries({
  han: /\p{Script=Han}/gu,
  kana: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  hangul: /\p{Script=Hangul}/gu,
  cyrillic: /\p{Script=Cyrillic}/gu,
  arabic: /\p{Script=Arabic}/gu,
  hebrew: /\p{Script=Hebrew}/gu,
  greek: /\p{Script=Greek}/gu,
  devanagari: /\p{Script=Devanagari}/gu,
  thai: /\p{Script=Thai}/gu,
})
const KNOWN = SCRIPTS.map(([, { source }]) => source).join('|')
SCRIPTS.push(['other', new RegExp(`(?!\\p{Script=Latin}|\\p{Script=Common}|${KNOWN})\\p{L}`, 'gu')])

/** The characters of a text by their scripts. */
function beyondAscii(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return []
  return SCRIPTS.map(([script, pattern]) => [script, text.match(pattern)?.length ?? 0])
}

/**
 * Each patch of an image is a token. Images are scaled to a longest side, and to the largest size
 * whose patches are not more than a number.
 */
function imageTokens({ width, height }, { side, patch, tokens }) {
  const longest = Math.max(width, height)
  const shortest = Math.min(width, height)
  for (let across = Math.ceil(Math.min(longest, side) / patch); across > 1; across--) {
    const scale = Math.min(1, (across * patch) / longest)
    const patches = across * Math.ceil((shortest * scale) / patch - 1e-9)
    if (patches <= tokens) return patches
  }
  return 1
}

module.exports = { VERSIONED, countClaude, isClaude }
