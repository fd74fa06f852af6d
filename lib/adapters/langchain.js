'use strict'

// Messages of @langchain/core: BaseMessage and its stored form.

const { wrongType } = require('../errors.js')
const {
  asText,
  assistant,
  blocksOf,
  call,
  checkContent,
  contentOf,
  image,
  listOf,
  text,
  urlOf,
} = require('./shared.js')

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
  return listOf(messages).map((message, i) => {
    const kind = kindOf(message)
    const fields = message.data ?? message.kwargs ?? message
    const role = roleOf(kind) ?? roleOf(fields.role) ?? fields.role
    if (typeof role !== 'string') throw wrongType(`messages[${i}]`, 'a message of LangChain', message)
    if ((fields.tool_calls ?? undefined) === undefined) checkContent(fields, `messages[${i}]`, 'LangChain')
    return role === 'assistant' ? ofModel(fields) : ofOthers(role, fields)
  })
}

/** The role of a kind of message. The fields of a message may have its kind as their role. */
const roleOf = (kind) => (Object.hasOwn(ROLES, kind) ? ROLES[kind] : undefined)

function kindOf(message) {
  if (typeof message.getType === 'function') return message.getType()
  if (typeof message._getType === 'function') return message._getType()
  // In JSON, the path of the class: [ 'langchain_core', 'messages', 'HumanMessage' ].
  const { type, id } = message
  if (type !== 'constructor' || !Array.isArray(id)) return type
  return String(id.at(-1))
    .replace(/Message(Chunk)?$/, '')
    .toLowerCase()
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
  const calls = listOf(given ?? [], 'tool_calls')
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
