'use strict'

// Renders conversations for gpt-oss (o200k_harmony) in OpenAI's harmony format. Messages have one
// of two forms:
//
//   chat     as in chat completions: role, content, tool_calls, thinking. The text equals that of
//            the chat template that OpenAI published with gpt-oss
//   harmony  as in OpenAI's library openai-harmony: role, name, recipient, channel, content_type
//            and content. The text equals that of openai-harmony
//
// A conversation has the harmony form if one of its messages has a field or a content that only
// this form has.

const { RenderCost, output, spend, within } = require('@tokenlane/jinja/internal').renderCost
const { entriesOf } = require('@tokenlane/jinja/internal').entries
const { strftime } = require('@tokenlane/jinja/internal').strftime
const { INPUT, joined, marked, ofMessage } = require('@tokenlane/jinja/internal').origins
const { guarded } = require('@tokenlane/jinja/internal').template

const { error, wrongType, wrongValue } = require('../errors.js')
const { limits } = require('../limits.js')
const { checkOptions, cutAtTag, openEnd, withReasoning } = require('./chat.js')
const { checkMessages, withoutNulls } = require('./conversation.js')
const { declareFunctions, functionsSection, jsonOf } = require('./harmony-types.js')

const HARMONY_FIELDS = ['channel', 'recipient', 'content_type']
const HARMONY_CONTENT = ['system_content', 'developer_content']
const MESSAGE_FIELDS = ['role', 'name', 'content', ...HARMONY_FIELDS]
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']
const EFFORTS = ['low', 'medium', 'high']

const IDENTITY = 'You are ChatGPT, a large language model trained by OpenAI.'
const CUTOFF = '2024-06'
const CHANNELS = ['analysis', 'commentary', 'final']
const CALLS_NOTE = "\nCalls to these tools must go to the commentary channel: 'functions'."
const CONSTRAINED = '<|constrain|>'
/** Marks of a message that has already been rendered; such content would be rendered twice. */
const RENDERED = ['<|channel|>analysis<|message|>', '<|channel|>final<|message|>']

const refusal = (why) =>
  error('ERR_TOKENLANE_CHAT_REFUSED', `the harmony format of gpt-oss does not take this chat: ${why}`)

/** A string of the format's own text and of values, which may know their origins. */
const written = (own, ...values) => joined(own.flatMap((one, i) => (i < values.length ? [one, values[i]] : [one])))

/** Writes the parts of a conversation. */
class Writer {
  parts = []
  #trace
  #length = 0

  constructor(trace) {
    this.#trace = trace
  }

  write(text) {
    spend(1)
    output(text.length)
    this.#length += text.length
    this.parts.push(text)
  }

  /** Writes the turn of a message. */
  turn(message, write) {
    const start = this.#length
    write()
    if (this.#length > start) this.#trace?.turns.push({ start, end: this.#length, message })
  }

  /** A text of the caller. `index` is the message that it comes from, if it comes from one. */
  input(text, index = undefined) {
    return this.#trace !== undefined ? marked(text, index === undefined ? INPUT : ofMessage(index)) : text
  }
}

/**
 * Renders a conversation to text. With a trace, the text knows where its characters come from.
 *
 * @param {InstanceType<(typeof import('@tokenlane/jinja/internal'))['origins']['Trace']>} [trace]
 */
function render(messages, options, trace = undefined) {
  const checked = checkOptions(options)
  if (checked.documents?.length > 0) throw refusal('it has no place for documents')
  const conversation = checkMessages(messages).map(withoutNulls).map(withReasoning)
  const { continueFinalMessage } = checked
  const tail =
    continueFinalMessage === false ? undefined : openEnd(conversation, continueFinalMessage, 'content thinking')
  const form = conversation.some(isHarmony) ? harmonyForm : chatForm
  const cost = new RenderCost(limits)
  return guarded(
    () =>
      within(cost, () => {
        const out = new Writer(trace)
        form(conversation, checked, out)
        if (checked.addGenerationPrompt) out.write('<|start|>assistant')
        const text = joined(out.parts)
        return tail === undefined ? text : cutAtTag(text, tail)
      }),
    'failed',
  )
}

function isHarmony(message) {
  if (HARMONY_FIELDS.some((field) => message[field] !== undefined)) return true
  return Array.isArray(message.content) && message.content.some((part) => HARMONY_CONTENT.includes(part?.type))
}

// The chat form

function chatForm(messages, { tools, variables, addGenerationPrompt }, out) {
  out.write(written`<|start|>system<|message|>${out.input(systemText(variables, tools?.length > 0))}<|end|>`)
  const [first] = messages
  const hasInstructions = first.role === 'system' || first.role === 'developer'
  const instructions =
    hasInstructions && first.content !== undefined ? textOf(first.content, 'messages[0].content') : ''
  if (instructions !== '' || tools?.length > 0) {
    out.write('<|start|>developer<|message|>')
    if (instructions !== '') out.write(written`# Instructions\n\n${out.input(instructions, 0)}\n\n`)
    if (tools?.length > 0) out.write(written`# Tools\n\n${out.input(functionsSection(tools, refusal))}`)
    out.write('<|end|>')
  }
  const turns = new ChatTurns(messages, addGenerationPrompt, out)
  for (let i = hasInstructions ? 1 : 0; i < messages.length; i++) out.turn(i, () => turns.write(i))
}

/** The system message: who the model is, the date, the reasoning effort, built-in tools. */
function systemText(variables, hasFunctions) {
  const known = ['model_identity', 'reasoning_effort', 'builtin_tools', 'strftime_now']
  const unknown = Object.keys(variables).find((name) => !known.includes(name))
  if (unknown !== undefined) throw refusal(`there is no variable ${unknown}; the variables are ${known.join(', ')}`)
  const { model_identity: identity = IDENTITY, reasoning_effort: effort = 'medium', strftime_now: now } = variables
  for (const [name, value] of Object.entries({ model_identity: identity, reasoning_effort: effort })) {
    if (typeof value !== 'string') throw wrongType(`variables.${name}`, 'a string', value)
  }
  if (now !== undefined && typeof now !== 'function') throw wrongType('variables.strftime_now', 'a function', now)
  const date = now === undefined ? strftime(new Date(), '%Y-%m-%d') : String(now('%Y-%m-%d'))
  const builtin = builtinTools(variables.builtin_tools)
  const lines = [`${identity}\nKnowledge cutoff: ${CUTOFF}\nCurrent date: ${date}`, `Reasoning: ${effort}`]
  if (builtin.length > 0) lines.push('# Tools', ...builtin)
  return `${lines.join('\n\n')}\n\n${channelsText(CHANNELS, true)}${hasFunctions ? CALLS_NOTE : ''}`
}

const channelsText = (channels, isRequired) =>
  `# Valid channels: ${channels.join(', ')}.${isRequired ? ' Channel must be included for every message.' : ''}`

function builtinTools(names = []) {
  if (!Array.isArray(names)) throw wrongType('variables.builtin_tools', 'an array of names', names)
  const { BUILTIN } = require('./harmony-builtin.js')
  const known = Object.keys(BUILTIN)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw wrongValue('variables.builtin_tools', known.join(' and '), unknown)
  return known.filter((name) => names.includes(name)).map((name) => declareFunctions(BUILTIN[name], refusal))
}

class ChatTurns {
  #messages
  #addGenerationPrompt
  #out
  /** Index of the last answer to the user; the reasoning before it is dropped. */
  #lastFinal
  /** Names of the functions that were called, by the ids of the calls. */
  #called = new Map()
  #lastCalled

  constructor(messages, addGenerationPrompt, out) {
    this.#messages = messages
    this.#addGenerationPrompt = addGenerationPrompt
    this.#out = out
    this.#lastFinal = messages.findLastIndex((message) => message.role === 'assistant' && callsOf(message).length === 0)
  }

  write(index) {
    const message = this.#messages[index]
    const location = `messages[${index}]`
    switch (message.role) {
      case 'user':
        return this.#out.write(
          written`<|start|>user<|message|>${this.#out.input(textOf(message.content, `${location}.content`), index)}<|end|>`,
        )
      case 'tool':
        return this.#result(message, index, location)
      case 'assistant':
        checkRendered(message, location)
        return callsOf(message).length > 0
          ? this.#call(message, index, location)
          : this.#answer(message, index, location)
      default:
        throw refusal(
          `${location} has the role '${message.role}'; only the first message can be system or developer, and the others ` +
            'are user, assistant or tool',
        )
    }
  }

  #answer(message, index, location) {
    const said = textOf(message.content, `${location}.content`)
    const isLast = index === this.#messages.length - 1 && !this.#addGenerationPrompt
    // The reasoning before earlier answers is dropped, as OpenAI recommends. Only a finished answer
    // at the end of a training example ends with <|return|>.
    if (isLast && message.thinking !== undefined) this.#think(textOf(message.thinking, `${location}.thinking`), index)
    const end = isLast ? '<|return|>' : '<|end|>'
    this.#out.write(written`<|start|>assistant<|channel|>final<|message|>${this.#out.input(said, index)}${end}`)
    this.#lastCalled = undefined
  }

  #think(thought, index) {
    this.#out.write(written`<|start|>assistant<|channel|>analysis<|message|>${this.#out.input(thought, index)}<|end|>`)
  }

  #call(message, index, location) {
    const calls = callsOf(message)
    if (calls.length > 1) {
      throw refusal(
        `${location}.tool_calls has ${calls.length} calls, and gpt-oss writes one per message: give each call an ` +
          'assistant message of its own, followed by its tool message',
      )
    }
    const said = message.content === undefined ? '' : textOf(message.content, `${location}.content`)
    const thought = message.thinking === undefined ? '' : textOf(message.thinking, `${location}.thinking`)
    if (said !== '' && thought !== '')
      throw refusal(`${location} has content and reasoning beside a tool call; give the reasoning in one of them`)
    if (said + thought !== '' && this.#lastFinal < index) this.#think(said + thought, index)
    const call = calls[0]?.function || calls[0]
    const name = stringOf(call?.name, `${location}.tool_calls[0].function.name`)
    const type = call.content_type === undefined ? 'json' : stringOf(call.content_type, `${location}.content_type`)
    if (call.arguments === undefined) throw refusal(`${location}.tool_calls[0].function has no arguments`)
    // A string is the JSON that the model wrote. Quoting it again would change its tokens.
    const given = typeof call.arguments === 'string' ? call.arguments : jsonOf(call.arguments)
    const [to, as, what] = [name, type, given].map((text) => this.#out.input(text, index))
    this.#out.write(written`<|start|>assistant to=functions.${to}<|channel|>commentary ${as}<|message|>${what}<|call|>`)
    this.#lastCalled = name
    if (typeof calls[0].id === 'string') this.#called.set(calls[0].id, name)
  }

  #result(message, index, location) {
    const name = this.#called.get(message.tool_call_id) ?? this.#lastCalled
    if (name === undefined) throw refusal(`${location} has the role tool, and no tool call precedes it`)
    const result = message.content === undefined ? refuseMissing(`${location}.content`) : jsonOf(message.content)
    const [from, what] = [name, result].map((text) => this.#out.input(text, index))
    this.#out.write(written`<|start|>functions.${from} to=assistant<|channel|>commentary<|message|>${what}<|end|>`)
  }
}

const callsOf = ({ tool_calls: calls }) => (Array.isArray(calls) ? calls : [])

function refuseMissing(location) {
  throw refusal(`${location} is missing`)
}

function stringOf(value, location) {
  if (typeof value !== 'string') throw refusal(`${location} must be a string`)
  return value
}

/** The text of a string or of parts of text. */
function textOf(content, location) {
  if (content === undefined) refuseMissing(location)
  if (typeof content === 'string') return content
  const isText = Array.isArray(content) && content.every((part) => typeof part?.text === 'string')
  if (!isText) throw refusal(`${location} must be text, because gpt-oss reads text only`)
  return content.map(({ text }) => text).join('')
}

function checkRendered({ content, thinking }, location) {
  for (const [name, value] of Object.entries({ content, thinking })) {
    if (typeof value === 'string' && RENDERED.some((mark) => value.includes(mark))) {
      throw refusal(
        `${location}.${name} has the marks of channels: give the analysis in the field thinking, and the answer in content`,
      )
    }
  }
}

// The harmony form

function harmonyForm(messages, { tools, variables }, out) {
  const { auto_drop_analysis: dropsAnalysis = true, ...others } = variables
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined)
    throw refusal(
      `the variable ${unknown} belongs into a system_content; beside messages with channels there is auto_drop_analysis only`,
    )
  if (typeof dropsAnalysis !== 'boolean') throw wrongType('variables.auto_drop_analysis', 'a boolean', dropsAnalysis)
  if (tools?.length > 0) throw refusal('beside messages with channels, tools belong into a developer_content')
  const hasFunctions = messages.some(({ content }) => declaresFunctions(content))
  const lastAnswer = messages[messages.findLastIndex(({ role }) => role === 'assistant')]
  const firstFinal = messages.findIndex(({ channel }) => channel === 'final')
  const dropped = dropsAnalysis && lastAnswer?.channel === 'final' ? firstFinal : 0
  messages.forEach((message, i) => {
    checkFields(message, i)
    if (i < dropped && message.channel === 'analysis') return
    out.turn(i, () => writeMessage(message, i, hasFunctions, out))
  })
}

function writeMessage(message, index, hasFunctions, out) {
  const input = (text) => out.input(text, index)
  out.write(headerOf(message, input))
  const parts = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  for (const part of parts) out.write(input(contentOf(part, message.role, hasFunctions, `messages[${index}].content`)))
  out.write(message.role === 'assistant' && message.recipient !== undefined ? '<|call|>' : '<|end|>')
}

const declaresFunctions = (content) =>
  Array.isArray(content) &&
  content.some((part) => part?.type === 'developer_content' && part.tools?.functions?.tools?.length > 0)

function checkFields(message, index) {
  const location = `messages[${index}]`
  for (const [field, value] of entriesOf(message)) {
    if (!MESSAGE_FIELDS.includes(field))
      throw refusal(
        `${location}.${field} is not a field of a harmony message; the fields are ${MESSAGE_FIELDS.join(', ')}`,
      )
    if (field === 'content') continue
    stringOf(value, `${location}.${field}`)
  }
  if (!ROLES.includes(message.role)) throw refusal(`${location}.role must be ${ROLES.join(', ')}`)
  if (message.role === 'tool' && message.name === undefined) throw refusal(`${location} has the role tool and no name`)
  if (typeof message.content !== 'string' && !Array.isArray(message.content))
    throw refusal(`${location}.content must be a string or an array`)
}

function headerOf({ role, name, recipient, channel, content_type: type }, input) {
  const author = role === 'tool' ? input(name) : name === undefined ? role : written`${role}:${input(name)}`
  const to = recipient === undefined || recipient === 'all' ? '' : written` to=${input(recipient)}`
  const on = channel === undefined ? '' : written`<|channel|>${input(channel)}`
  // The format's own types start with this token.
  const mark = type?.startsWith(CONSTRAINED) ? CONSTRAINED : ''
  const as = type === undefined ? '' : written` ${mark}${input(type.slice(mark.length))}`
  return written`<|start|>${author}${to}${on}${as}<|message|>`
}

function contentOf(part, role, hasFunctions, location) {
  switch (part?.type) {
    case 'text':
      return stringOf(part.text, `${location}.text`)
    case 'system_content':
      if (role !== 'system') throw refusal(`${location} has a system_content, which belongs into a system message`)
      return systemContent(part, hasFunctions, location)
    case 'developer_content':
      if (role !== 'developer')
        throw refusal(`${location} has a developer_content, which belongs into a developer message`)
      return developerContent(part, location)
    default:
      throw refusal(`${location} has a part that is not text, system_content or developer_content`)
  }
}

/** As in openai-harmony, missing fields have a default, and fields that are null no text. */
function systemContent(part, hasFunctions, location) {
  const field = (name, otherwise) => {
    const value = part[name] === undefined ? otherwise : part[name]
    return isGiven(value) ? stringOf(value, `${location}.${name}`) : undefined
  }
  const top = [
    ['', field('model_identity', IDENTITY)],
    ['Knowledge cutoff: ', field('knowledge_cutoff', CUTOFF)],
    ['Current date: ', field('conversation_start_date')],
  ].filter(([, value]) => value !== undefined)
  const sections = top.length > 0 ? [top.map(([label, value]) => label + value).join('\n')] : []
  const effort = field('reasoning_effort', 'medium')?.toLowerCase()
  if (effort !== undefined && !EFFORTS.includes(effort))
    throw refusal(`${location}.reasoning_effort must be ${EFFORTS.join(', ')}`)
  if (effort !== undefined) sections.push(`Reasoning: ${effort}`)
  sections.push(...toolSections(part.tools, location))
  const config =
    part.channel_config === undefined ? { valid_channels: CHANNELS, channel_required: true } : part.channel_config
  const { valid_channels: channels = [], channel_required: isRequired } = config ?? {}
  if (!Array.isArray(channels)) throw refusal(`${location}.channel_config.valid_channels must be an array`)
  if (channels.length > 0) sections.push(channelsText(channels, isRequired) + (hasFunctions ? CALLS_NOTE : ''))
  return sections.join('\n\n')
}

function developerContent(part, location) {
  const sections = []
  if (isGiven(part.instructions))
    sections.push('# Instructions', stringOf(part.instructions, `${location}.instructions`))
  sections.push(...toolSections(part.tools, location))
  return sections.join('\n\n')
}

const isGiven = (value) => value !== undefined && value !== null

/** The sections of tool namespaces. openai-harmony sorts them by their keys. */
function toolSections(tools, location) {
  if (!isGiven(tools) || Object.keys(tools).length === 0) return []
  if (typeof tools !== 'object') throw refusal(`${location}.tools must be an object`)
  const keys = Object.keys(tools).sort()
  return ['# Tools', ...keys.map((key) => declareFunctions(tools[key], refusal))]
}

module.exports = { render }
