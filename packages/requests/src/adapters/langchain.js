'use strict'

// Messages of @langchain/core: BaseMessage and its stored form.

const {
  errors: { wrongType },
  reading: { at, copyOf, pick, sourceOf },
  realm: { isArray },
  shape: { listOf, object },
} = require('tokenlane/internal/requests.js')

const { asText, assistant, blocksOf, call, contentOf, image, text, urlOf, OF_CLIENTS } = require('./shared.js')
const { langChain, langChainContent, langChainParts } = require('../shapes.js')

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
  const conversation = copyOf(messages, 'messages', {
    ...OF_CLIENTS,
    fieldsOf: (message, depth) => (depth === 1 ? readOf(message) : undefined),
  })
  listOf(object({}, { what: 'a message (an object)' }))(conversation, 'messages')
  return conversation.map((message, i) => {
    const place = at('messages', i)
    const { kind, kindIn, fieldsIn } = message
    const [said, within] = fieldsIn === undefined ? [message, place] : [message[fieldsIn], at(place, fieldsIn)]
    object({}, { what: 'the fields of a message (an object)' })(said, within)
    const role = roleOf(kind) ?? roleOf(said.role) ?? said.role
    if (typeof role !== 'string')
      throw wrongType(kindIn === undefined ? place : at(place, kindIn), 'a message of LangChain', sourceOf(message))
    const content = (said.tool_calls ?? undefined) === undefined ? langChainContent : langChainParts
    object({ ...langChain, content })(said, within)
    return role === 'assistant' ? ofModel(said) : ofOthers(role, said)
  })
}

/** What is read of a message: its kind and its fields, with the names of what they are in. */
function readOf(message) {
  const { data, kwargs } = message
  const [fieldsIn, fields] = [
    ['data', data],
    ['kwargs', kwargs],
    [undefined, message],
  ].find(([, value]) => value !== undefined && value !== null)
  const read = typeof fields === 'object' && !isArray(fields) ? pick(fields, Object.keys(langChain)) : fields
  const { getType = message._getType, type, id } = message
  const ofClass = { kind: typeof getType === 'function' ? Reflect.apply(getType, message, []) : undefined }
  const stored = { kind: kindOf(type, id), kindIn: type === 'constructor' && id !== undefined ? 'id' : 'type' }
  const kind = typeof getType === 'function' || type === undefined ? ofClass : stored
  return { ...(fieldsIn === undefined ? read : { [fieldsIn]: read }), ...kind, fieldsIn }
}

/** The role of a kind of message. The fields of a message may have its kind as their role. */
const roleOf = (kind) => (typeof kind === 'string' && Object.hasOwn(ROLES, kind) ? ROLES[kind] : undefined)

/** In JSON, the path of the class: [ 'langchain_core', 'messages', 'HumanMessage' ]. */
function kindOf(type, id) {
  const name = type === 'constructor' && isArray(id) ? id[id.length - 1] : type
  if (typeof name !== 'string' || name === type) return typeof name === 'string' ? name : undefined
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
