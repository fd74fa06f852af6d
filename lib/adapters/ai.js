'use strict'

// Messages of the package `ai` (the Vercel AI SDK): ModelMessage and UIMessage.

const { asText, assistant, blocksOf, call, contentOf, image, listOf, result, text, urlOf } = require('./shared.js')

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
  const made = calls.map(({ toolCallId, toolName, input }) => call(toolCallId, toolName, input))
  return [assistant({ parts, calls: made, reasoning: reasoningIn(content) }), ...results]
}

const NO_PARTS = ['reasoning', 'tool-call', 'tool-result', 'tool-approval-request', 'tool-approval-response']
const isResult = ({ type }) => type === 'tool-result'

const reasoningIn = (parts) =>
  parts
    .filter(({ type }) => type === 'reasoning')
    .map((part) => part.text)
    .join('\n')

const resultOf = ({ toolCallId, toolName, output }) => result(toolCallId, outputOf(output), toolName)

function outputOf(output) {
  switch (output?.type) {
    case 'content':
      return contentOf(blocksOf(output.value).map(partOf))
    case 'execution-denied':
      return output.reason ?? 'Tool execution denied.'
    default:
      return asText(output?.value)
  }
}

function partOf(part) {
  if (typeof part?.text === 'string') return text(part.text)
  if (part?.type === 'image') return image(urlOf(part.image, part.mediaType))
  const type = part?.mediaType ?? ''
  if (type.startsWith('image')) return image(urlOf(part.data ?? part.url, type.endsWith('/*') ? undefined : type))
  return part
}

// UIMessage: everything is a part; each step ends with the results of its calls

function ofUi({ role, parts: given }) {
  const parts = listOf(given, 'parts')
  if (role !== 'assistant') return [{ role, content: contentOf(parts.filter(isShown).map(partOf)) }]
  const steps = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1).push(part)
  }
  return steps.filter((step) => step.length > 0).flatMap(ofStep)
}

const isShown = ({ type }) => type === 'text' || type === 'file'
const isTool = ({ type }) => type === 'dynamic-tool' || String(type).startsWith('tool-')
const nameOf = ({ type, toolName }) => (type === 'dynamic-tool' ? toolName : type.slice('tool-'.length))

/** As convertToModelMessages of `ai`: one message of the assistant, then the results. */
function ofStep(parts) {
  const tools = parts.filter(isTool)
  const calls = tools.map((part) => call(part.toolCallId, nameOf(part), part.input ?? part.rawInput))
  const results = tools
    .filter(({ state }) => state === 'output-available' || state === 'output-error')
    .map((part) =>
      result(part.toolCallId, part.state === 'output-error' ? part.errorText : asText(part.output), nameOf(part)),
    )
  return [assistant({ parts: parts.filter(isShown).map(partOf), calls, reasoning: reasoningIn(parts) }), ...results]
}

module.exports = { fromAiSdk }
