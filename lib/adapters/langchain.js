'use strict'

// Messages of @langchain/core: BaseMessage and its stored form.

const { wrongType } = require('../errors.js')
const { Reading, at, read } = require('./reading.js')
const { asText, assistant, blocksOf, call, contentOf, image, text, urlOf } = require('./shared.js')
const { object } = require('./shape.js')
const { langChain, langChainContent, langChainParts } = require('./shapes.js')

const ROLES = {
  human: 'user',
  ai: 'assistant',
  system: 'system',
  developer: 'developer',
  tool: 'tool',
  function: 'function',
}

/**
 * The messages of `BaseMessage[]`, of the objects of `mapChatMessagesToStoredMessages`, or of what
 * JSON.stringify writes for messages.
 */
function fromLangChain(messages) {
  const reading = new Reading({ isOfClient: true })
  return reading.elements(messages, 'messages').map((message, i) => {
    const place = at('messages', i)
    if (typeof message !== 'object' || message === null) throw wrongType(place, 'a message (an object)', message)
    const kind = read(place, () => kindOf(message))
    const [name, fields] = read(place, () => fieldsOf(message))
    const within = name === undefined ? place : at(place, name)
    if (typeof fields !== 'object') throw wrongType(within, 'the fields of a message (an object)', fields)
    const said = reading.fields(fields, Object.keys(langChain), within)
    const role = roleOf(kind) ?? roleOf(said.role) ?? said.role
    if (typeof role !== 'string')
      throw wrongType(
        read(place, () => placeOfKind(message, place)),
        'a message of LangChain',
        message,
      )
    const content = (said.tool_calls ?? undefined) === undefined ? langChainContent : langChainParts
    object({ ...langChain, content })(said, within)
    return role === 'assistant' ? ofModel(said) : ofOthers(role, said)
  })
}

/** The place of what says of which class a message is. */
function placeOfKind({ getType, _getType, type, id }, place) {
  if (type === undefined || typeof (getType ?? _getType) === 'function') return place
  return at(place, type === 'constructor' && id !== undefined ? 'id' : 'type')
}

/** The object with the fields of a message, and its name in the message if it is within. */
function fieldsOf(message) {
  const { data } = message
  if (data !== undefined && data !== null) return ['data', data]
  const { kwargs } = message
  return kwargs === undefined || kwargs === null ? [undefined, message] : ['kwargs', kwargs]
}

/** The role of a kind of message. The fields of a message may have its kind as their role. */
const roleOf = (kind) => (typeof kind === 'string' && Object.hasOwn(ROLES, kind) ? ROLES[kind] : undefined)

function kindOf(message) {
  const { getType, _getType } = message
  if (typeof getType === 'function') return Reflect.apply(getType, message, [])
  if (typeof _getType === 'function') return Reflect.apply(_getType, message, [])
  // In JSON, the path of the class: [ 'langchain_core', 'messages', 'HumanMessage' ].
  const { type, id } = message
  if (type !== 'constructor' || !Array.isArray(id)) return type
  const name = id[id.length - 1]
  if (typeof name !== 'string') return undefined
  return name.replace(/Message(Chunk)?$/, '').toLowerCase()
}

function ofOthers(role, { content, name, tool_call_id: id }) {
  return {
    role,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof id === 'string' ? { tool_call_id: id } : {}),
    content: contentOf(partsOf(content)),
  }
}

/** @param {any} message */
function ofModel({ content, tool_calls: given, additional_kwargs: others }) {
  const calls = given ?? []
  const more = others ?? {}
  const blocks = withTexts(content)
  // The same calls are also in additional_kwargs and, of Anthropic, in the content.
  const made = calls.length > 0 ? calls.map(callOf) : (more.tool_calls ?? [])
  const reasoning = blocks
    .filter(({ type }) => REASONING.includes(type))
    .map((block) => block.thinking ?? block.reasoning ?? block.text ?? block.reasoningText?.text ?? '')
  const said = blocks.filter(({ type }) => !NO_PARTS.includes(type))
  const message = assistant({
    parts: partsOf(said),
    calls: made,
    reasoning: reasoning.join('\n') || (more.reasoning_content ?? ''),
  })
  return more.function_call === undefined || made.length > 0
    ? message
    : { ...message, function_call: more.function_call }
}

/** LangChain also takes calls as those of chat completions. */
const callOf = (one) => (one.function === undefined ? call(one.id, one.name, one.args) : one)

const REASONING = ['thinking', 'reasoning', 'reasoning_content']
const NO_PARTS = [
  ...REASONING,
  'functionCall',
  'redacted_thinking',
  'tool_use',
  'tool_call',
  'tool_call_chunk',
  'function_call',
  'input_json_delta',
]

/** Texts may stand between blocks. */
const withTexts = (content) =>
  blocksOf(Array.isArray(content) ? content.map((one) => (typeof one === 'string' ? text(one) : one)) : content)

function partsOf(content) {
  const blocks = withTexts(content).filter(({ type, cachePoint }) => type !== 'cache_point' && cachePoint === undefined)
  return blocks.map((block) => {
    if (typeof block.text === 'string') return text(block.text)
    if (block.type === 'refusal') return text(asText(block.refusal ?? ''))
    if (block.type === 'inlineData') {
      const { data, mimeType } = block.inlineData ?? {}
      return /^image\//.test(mimeType) ? image(urlOf(data, mimeType)) : block
    }
    // The standard block has url, data or fileId; blocks of Anthropic have a source.
    if (block.type === 'image') {
      const { url, data, mimeType, mime_type: older, source } = block
      const file = block.fileId ?? source?.file_id ?? (block.source_type === 'id' ? block.id : undefined)
      return image(file ?? urlOf(url ?? data ?? source?.url ?? source?.data, mimeType ?? older ?? source?.media_type))
    }
    return block
  })
}

module.exports = { fromLangChain }
