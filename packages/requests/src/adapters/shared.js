'use strict'

// Messages of clients become messages of chat completions, which chat templates and countChat take.

const {
  errors: { wrongType, wrongValue },
  realm: { isBytes, isUrl },
} = require('tokenlane/internal/requests.js')

const { jsonText } = require('../json-text.js')

/** Clients have bytes and URLs in their messages. */
const OF_CLIENTS = { takes: (value) => isBytes(value) || isUrl(value) }

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

/** The bytes of base64, which is at a place. */
function bytesOf(base64, place) {
  let binary
  try {
    binary = atob(base64)
  } catch {
    throw wrongValue(place, 'base64', base64)
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

const asText = (value) => (typeof value === 'string' ? value : jsonText(value, 'the result of a call'))

/** The parts of a content: of a text, one. */
function blocksOf(content) {
  if (content === undefined || content === null) return []
  return typeof content === 'string' ? [text(content)] : content
}

module.exports = {
  OF_CLIENTS,
  asText,
  assistant,
  blocksOf,
  bytesOf,
  call,
  contentOf,
  image,
  result,
  text,
  urlOf,
}
