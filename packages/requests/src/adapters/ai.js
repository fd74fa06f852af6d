'use strict'

// Messages of the package `ai` (the Vercel AI SDK): ModelMessage and UIMessage.

const {
  errors: { typeError },
  reading: { copyOf, placeOf },
  realm: { isBytes, isUrl },
} = require('tokenlane/internal/requests.js')

const { jsonText } = require('../json-text.js')
const {
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
  OF_CLIENTS,
} = require('./shared.js')
const { aiMessages } = require('../shapes.js')

const DENIED = 'Tool call execution denied.'

/** The messages of `ModelMessage[]` or `UIMessage[]`. Both may be in one list. */
function fromAiSdk(messages) {
  const conversation = copyOf(messages, 'messages', OF_CLIENTS)
  aiMessages(conversation, 'messages')
  return conversation.flatMap((message, i) => {
    const parts = partsOfUi(message, i === conversation.length - 1)
    return parts === undefined ? ofModel(message, `messages[${i}]`) : ofUi(message.role, parts)
  })
}

// ModelMessage: content is a text or parts; results are messages of the role `tool`

function ofModel(message, location) {
  const { role, content: said } = message
  const ofCompletions = role === 'tool' && typeof said === 'string' ? '.content' : ''
  if (message.tool_calls !== undefined || ofCompletions !== '') {
    const reason = 'is one of chat completions, not of the AI SDK: it needs no adapter'
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', `${location}${ofCompletions} ${reason}`)
  }
  const content = blocksOf(said)
  if (role === 'tool') return content.filter(isResult).map(resultOf)
  if (role !== 'assistant') return [{ role, content: contentOf(content.map((part) => partOf(part))) }]
  const calls = content.filter(({ type }) => type === 'tool-call')
  const called = calls.map((part) => call(part.toolCallId, part.toolName, inputOf(part)))
  return [assistant({ parts: saidIn(content), calls: called, reasoning: reasoningIn(content) })]
}

/** Providers of chat completions send what the assistant said, without files and own results. */
const saidIn = (parts) => parts.filter(({ type }) => type === 'text').map((part) => partOf(part))
const isResult = ({ type }) => type === 'tool-result'

const reasoningIn = (parts) =>
  parts
    .filter(({ type }) => type === 'reasoning')
    .map((part) => part.text ?? part.reasoning ?? '')
    .join('\n')

// Before ai 5, a call had `args`, and its result `result`.
const inputOf = ({ input, args }) => input ?? args
const resultOf = ({ toolCallId, toolName, output, result: older }) =>
  result(toolCallId, outputOf(output ?? { value: older }), toolName)

function outputOf(output) {
  switch (output.type) {
    case 'content':
    case 'json':
    case 'error-json':
      return jsonText(output.value ?? null, 'the result of a call')
    case 'execution-denied':
      return output.reason ?? DENIED
    default:
      return asText(output.value ?? null)
  }
}

function partOf(part) {
  if (typeof part.text === 'string') return text(part.text)
  const { type } = part
  const mediaType = part.mediaType ?? part.mimeType ?? ''
  if (!/^image/.test(type) && !/^(image|text\/)/.test(mediaType)) return part
  const { data, id, said, field } = fileOf(part)
  if (said !== undefined) return text(said)
  if (mediaType.startsWith('text/')) return textOf(data, `${placeOf(part)}.${field}`) ?? part
  return image(id ?? urlOf(data, /^image\/[^*]/.test(mediaType) ? mediaType : undefined))
}

/**
 * What a file or an image is given by: `data` (bytes, base64 or a URL), the `id` that a provider
 * gave to it, or what it says. Since ai 7, an object may say which.
 */
function fileOf(part) {
  const field = FIELDS.find((name) => (part[name] ?? undefined) !== undefined)
  const { [field]: given } = part
  switch (given.type) {
    case 'url':
      return { data: given.url, field: `${field}.url` }
    case 'data':
      return { data: given.data, field: `${field}.data` }
    case 'text':
      return { said: given.text }
    case 'reference':
      return { id: idOf(given.reference) }
    default:
      return OF_PROVIDERS.includes(field) || isReference(given) ? { id: idOf(given) } : { data: given, field }
  }
}

/** The fields that a file is given by; those with ids come first. */
const OF_PROVIDERS = ['providerReference', 'fileId']
const FIELDS = [...OF_PROVIDERS, 'url', 'data', 'image']

/** Ids by the names of providers. */
const isReference = (value) => typeof value === 'object' && value !== null && !isUrl(value) && !isBytes(value)
const idOf = (reference) => (typeof reference === 'string' ? reference : Object.values(reference)[0])

/** The text of a file that is not elsewhere, which providers send as text. */
function textOf(data, place) {
  if (data === undefined) return undefined
  const url = urlOf(data)
  const base64 = /^data:[^,]*;base64,/.exec(url)?.[0]
  return base64 === undefined ? undefined : text(new TextDecoder().decode(bytesOf(url.slice(base64.length), place)))
}

// UIMessage: everything is a part; each step ends with the results of its calls

/**
 * The parts of a UIMessage, those of ai 4 included; `undefined` for other messages.
 *
 * @param {any} message
 * @param {boolean} isLast
 */
function partsOfUi({ parts, content, toolInvocations, experimental_attachments: attachments }, isLast) {
  if (parts === undefined && toolInvocations === undefined && attachments === undefined) return undefined
  const files = (attachments ?? []).map(({ contentType: mediaType, url }) => ({
    type: 'file',
    mediaType,
    url,
  }))
  if (parts !== undefined) return [...(parts ?? []), ...files]
  const called = (toolInvocations ?? []).map((one) => ({
    type: 'tool-invocation',
    toolInvocation: one,
  }))
  const said = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
  // What the assistant said follows the results, unless it is the message that is being answered.
  const isBefore = isLast || called.length === 0
  return isBefore ? [...said, ...files, ...called] : [...called, { type: 'step-start' }, ...said, ...files]
}

function ofUi(role, given) {
  const parts = given.map(ofInvocation)
  if (role !== 'assistant') return [{ role, content: contentOf(parts.filter(isShown).map((part) => partOf(part))) }]
  const steps = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1).push(part)
  }
  return steps.filter((step) => step.length > 0).flatMap((step) => ofStep(step))
}

/** The states of ai 4, as those of today. */
const STATES = new Map([
  ['partial-call', 'input-streaming'],
  ['result', 'output-available'],
])

/** Before ai 5, a tool had a part of another type; it becomes a part of today. */
function ofInvocation(part) {
  if (part.type !== 'tool-invocation') return part
  const { state, args: input, result: output, ...others } = part.toolInvocation ?? {}
  return { ...others, type: 'dynamic-tool', input, output, state: STATES.get(state) ?? 'input-available' }
}

const isShown = ({ type }) => type === 'text' || type === 'file'
const isTool = ({ type, state }) => (type === 'dynamic-tool' || type.startsWith('tool-')) && state !== 'input-streaming'
const nameOf = ({ type, toolName }) => (type === 'dynamic-tool' ? toolName : type.slice('tool-'.length))

/** As convertToModelMessages of `ai`: one message of the assistant, then the results. */
function ofStep(parts) {
  const tools = parts.filter(isTool)
  const reasoning = reasoningIn(parts)
  const said = saidIn(parts)
  if (tools.length === 0 && said.length === 0 && reasoning === '') return []
  const calls = tools.map((part) => call(part.toolCallId, nameOf(part), part.input ?? part.rawInput))
  const results = tools
    .filter(({ providerExecuted }) => providerExecuted !== true)
    .flatMap((part) => {
      const said = saidBy(part)
      return said === undefined ? [] : [result(part.toolCallId, said, nameOf(part))]
    })
  return [assistant({ parts: said, calls, reasoning }), ...results]
}

/** What a tool answered; undefined if it has not. */
function saidBy({ state, output, errorText, approval }) {
  switch (state) {
    case 'output-available':
      return asText(output ?? null)
    case 'output-error':
      return errorText
    case 'output-denied':
      return approval?.reason ?? DENIED
    default:
      return approval?.approved === false ? (approval.reason ?? DENIED) : undefined
  }
}

module.exports = { fromAiSdk }
