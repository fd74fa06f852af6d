'use strict'

// Messages of the package `ai` (the Vercel AI SDK): ModelMessage and UIMessage.

const { isUrl } = require('../realm.js')
const {
  asText,
  assistant,
  blocksOf,
  bytesOf,
  call,
  contentOf,
  image,
  isBytes,
  listOf,
  result,
  text,
  urlOf,
} = require('./shared.js')

const DENIED = 'Tool call execution denied.'

/** The messages of `ModelMessage[]` or `UIMessage[]`. Both may be in one list. */
function fromAiSdk(messages) {
  return listOf(messages).flatMap((message) => (Array.isArray(message.parts) ? ofUi(message) : ofModel(message)))
}

// ModelMessage: content is a text or parts; results are messages of the role `tool`

function ofModel({ role, content: said }) {
  const content = blocksOf(said)
  if (role === 'tool') return content.filter(isResult).map(resultOf)
  if (role !== 'assistant') return [{ role, content: contentOf(content.map(partOf)) }]
  const calls = content.filter(({ type }) => type === 'tool-call')
  // Tools that the provider runs have their results beside their calls.
  const results = content.filter(isResult).map(resultOf)
  const parts = content.filter(({ type }) => !NO_PARTS.includes(type)).map(partOf)
  const called = calls.map((part) => call(part.toolCallId, part.toolName, inputOf(part)))
  return [assistant({ parts, calls: called, reasoning: reasoningIn(content) }), ...results]
}

const NO_PARTS = ['reasoning', 'tool-call', 'tool-result', 'tool-approval-request', 'tool-approval-response']
const isResult = ({ type }) => type === 'tool-result'

const reasoningIn = (parts) =>
  parts
    .filter(({ type }) => type === 'reasoning')
    .map((part) => part.text)
    .join('\n')

// Before ai 5, a call had `args`, and its result `result`.
const inputOf = ({ input, args }) => input ?? args
const resultOf = ({ toolCallId, toolName, output, result: older }) =>
  result(toolCallId, outputOf(output ?? { value: older }), toolName)

function outputOf(output) {
  switch (output.type) {
    case 'content':
      return contentOf(blocksOf(output.value).map(partOf))
    case 'execution-denied':
      return output.reason ?? DENIED
    default:
      return asText(output.value ?? null)
  }
}

function partOf(part) {
  if (typeof part?.text === 'string') return text(part.text)
  const { type, mediaType = part?.mimeType ?? '' } = part ?? {}
  if (!/^image/.test(type) && !/^(image|text\/)/.test(mediaType)) return part
  const { data, id, said } = fileOf(part)
  if (said !== undefined) return text(said)
  if (mediaType.startsWith('text/')) return textOf(data) ?? part
  return image(id ?? urlOf(data, /^image\/[^*]/.test(mediaType) ? mediaType : undefined))
}

/**
 * What a file or an image is given by: `data` (bytes, base64 or a URL), the `id` that a provider
 * gave to it, or what it says. Since ai 7, an object may say which.
 */
function fileOf({ image: shown, data = shown, url = data, fileId, providerReference = fileId }) {
  const given = providerReference ?? url
  switch (given?.type) {
    case 'url':
      return { data: given.url }
    case 'data':
      return { data: given.data }
    case 'text':
      return { said: given.text }
    case 'reference':
      return { id: idOf(given.reference) }
    default:
      return given === providerReference || isReference(given) ? { id: idOf(given) } : { data: given }
  }
}

/** Ids by the names of providers. */
const isReference = (value) => typeof value === 'object' && value !== null && !isUrl(value) && !isBytes(value)
const idOf = (reference) => (typeof reference === 'string' ? reference : Object.values(reference ?? {})[0])

/** The text of a file that is not elsewhere, which providers send as text. */
function textOf(data) {
  const url = urlOf(data)
  const base64 = /^data:[^,]*;base64,/.exec(url)?.[0]
  return base64 === undefined ? undefined : text(new TextDecoder().decode(bytesOf(url.slice(base64.length))))
}

// UIMessage: everything is a part; each step ends with the results of its calls

function ofUi({ role, parts: given }) {
  const parts = listOf(given, 'parts').map(ofInvocation)
  if (role !== 'assistant') return [{ role, content: contentOf(parts.filter(isShown).map(partOf)) }]
  const steps = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1).push(part)
  }
  return steps.filter((step) => step.length > 0).flatMap(ofStep)
}

/** Before ai 5, a tool had a part of another type; it becomes a part of today. */
function ofInvocation(part) {
  if (part.type !== 'tool-invocation') return part
  const { state, args: input, result: output, ...others } = part.toolInvocation ?? {}
  const states = { 'partial-call': 'input-streaming', result: 'output-available' }
  return { ...others, type: 'dynamic-tool', input, output, state: states[state] ?? 'input-available' }
}

const isShown = ({ type }) => type === 'text' || type === 'file'
const isTool = ({ type, state }) =>
  (type === 'dynamic-tool' || String(type).startsWith('tool-')) && state !== 'input-streaming'
const nameOf = ({ type, toolName }) => (type === 'dynamic-tool' ? toolName : type.slice('tool-'.length))

/** As convertToModelMessages of `ai`: one message of the assistant, then the results. */
function ofStep(parts) {
  const tools = parts.filter(isTool)
  const calls = tools.map((part) => call(part.toolCallId, nameOf(part), part.input ?? part.rawInput))
  const results = tools.flatMap((part) => {
    const said = saidBy(part)
    return said === undefined ? [] : [result(part.toolCallId, said, nameOf(part))]
  })
  return [assistant({ parts: parts.filter(isShown).map(partOf), calls, reasoning: reasoningIn(parts) }), ...results]
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
