'use strict'

// Messages of clients become messages of chat completions, which chat templates and countChat take.

const { jsonText } = require('../chat/json-text.js')
const { wrongType, wrongValue } = require('../errors.js')
const { isArray, isArrayBuffer, isUrl } = require('../realm.js')

/** A call of a function. */
const call = (id, name, given) => ({
  id,
  type: 'function',
  function: { name, arguments: typeof given === 'string' ? given : jsonText(given ?? {}, 'the arguments of a call') },
})

/** The result of a call, as text or parts of text. */
const result = (id, content, name) => ({
  role: 'tool',
  ...(name === undefined || name === null ? {} : { name }),
  tool_call_id: id,
  content,
})

const text = (said) => ({ type: 'text', text: said })
const image = (url) => ({ type: 'image_url', image_url: { url } })

const isBytes = (data) => ArrayBuffer.isView(data) || isArrayBuffer(data)

/** The URL of bytes or of base64. A URL stays. */
function urlOf(data, mediaType = 'image/png') {
  if (typeof data === 'string') return /^(data|https?|file):/.test(data) ? data : `data:${mediaType};base64,${data}`
  if (isUrl(data)) return data.href
  if (!isBytes(data)) throw wrongType('data', 'bytes, base64 or a URL', data)
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
  let binary = ''
  for (let from = 0; from < bytes.length; from += 8192)
    binary += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(from, from + 8192))
  return `data:${mediaType};base64,${btoa(binary)}`
}

/** The bytes of base64. */
function bytesOf(base64) {
  let binary
  try {
    binary = atob(base64)
  } catch {
    throw wrongValue('data', 'base64', base64)
  }
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** Parts of one text are that text. Chat templates know texts better than parts. */
function contentOf(parts) {
  if (parts.every(({ type }) => type === 'text')) return parts.map((part) => part.text).join('')
  return parts
}

/**
 * A message of the assistant from its parts. Fields without a value are left out; `content` is null
 * beside calls, as in answers of OpenAI's API.
 */
function assistant({ parts, calls = [], reasoning = '' }) {
  const content = contentOf(parts)
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Checks a list of messages. */
function listOf(messages, name = 'messages') {
  if (!isArray(messages)) throw wrongType(name, 'an array of messages', messages)
  return Array.from(messages, (message, i) => {
    if (typeof message !== 'object' || message === null)
      throw wrongType(`${name}[${i}]`, 'a message (an object)', message)
    return message
  })
}

/**
 * Checks that a message has a content: one of another client would be taken for an empty one.
 *
 * @param {any} message
 * @param {string} location
 * @param {string} client
 */
function checkContent({ content }, location, client) {
  if (content === undefined)
    throw wrongType(`${location}.content`, `the content of a message of ${client} (a text or an array)`, content)
}

const asText = (value) => (typeof value === 'string' ? value : jsonText(value, 'the result of a call'))

/** The parts of a content: of a text, one. */
function blocksOf(content) {
  if (content === undefined || content === null) return []
  return typeof content === 'string' ? [text(content)] : listOf(content, 'content')
}

module.exports = {
  asText,
  assistant,
  blocksOf,
  bytesOf,
  call,
  checkContent,
  contentOf,
  image,
  isBytes,
  listOf,
  result,
  text,
  urlOf,
}
