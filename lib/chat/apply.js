'use strict'

// Conversations as ids: what text of the caller may become, pieces with their origins, and masks.
//
// A tokenizer passes its calls:
//   encode(text, bounds)   the encoding of a rendered text. In the ranges with these bounds, in
//                          UTF-16 units, no added token is found
//   count(text, bounds)    the number of its ids
//   refuse(text)           throws if a text has a special token
//   splits                 whether special tokens of templates are text too
//   idOf(token)            the id of a token, or undefined
//   isSpecial(id)          whether an id is that of a special token

const { TEMPLATE, Trace } = require('@tokenlane/jinja/internal').origins
const { piecesOf, textAndRuns } = require('@tokenlane/jinja/internal').pieces

const { error, wrongValue } = require('../errors.js')
const { boolean, checkKnown, checkObject } = require('../options.js')
const { CHAT_OPTIONS, checkOptions } = require('./chat.js')
const { checkMessages, checkStrings } = require('./conversation.js')

const APPLY_OPTIONS = [...CHAT_OPTIONS, 'tokenize', 'pieces', 'returnAssistantMask']
const MASKS = ['generation', 'origin']

/** Tokenizer.applyChatTemplate. */
function applyChat(chat, messages, options, calls) {
  checkKnown(options, APPLY_OPTIONS)
  const { tokenize, pieces, returnAssistantMask, ...rest } = options
  const isTokenized = boolean('tokenize', tokenize, true)
  const hasPieces = boolean('pieces', pieces, false)
  const mask = maskOption(returnAssistantMask)
  if (hasPieces && isTokenized) throw wrongValue('pieces', 'false, unless tokenize is false', pieces)
  if (mask !== undefined && !isTokenized) throw wrongValue('returnAssistantMask', 'false if tokenize is', true)
  const request = checkOptions(rest)
  const { content } = request
  const isTraced = hasPieces || mask !== undefined || content === 'throw' || (isTokenized && content === 'text')
  const conversation = checkMessages(messages)
  const rendered = render(chat, conversation, request, isTraced)
  const checked = checkedContent(rendered, conversation, request, calls)
  if (!isTokenized) return hasPieces ? piecesOf(rendered) : rendered.text
  const encoding = checked ?? encoded(rendered, content, calls)
  if (mask === undefined) return encoding
  return Object.assign(encoding, masked(chat, rendered, conversation, { encoding, by: mask, request, calls }))
}

/** The masks of an encoded conversation. */
function masked(chat, rendered, messages, { encoding, by, request, calls, choice = undefined }) {
  const { masksOf } = require('./masks.js')
  return masksOf(rendered, {
    encoding,
    messages,
    by,
    isOpen: request.addGenerationPrompt || request.continueFinalMessage !== false,
    render: (some, isPrompted) => tried(() => chat.render(checkMessages(some), request.endingWith(isPrompted))),
    last: () => (chat.endOfSequence === undefined ? undefined : calls.idOf(chat.endOfSequence)),
    calls,
    choice,
  })
}

/**
 * A conversation of a corpus: its text, its ids, and which of them are learned: what the assistant
 * wrote, or the `choice` of it. `options` are those of applyChatTemplate without a mask.
 */
function encodeChat(chat, messages, { by = 'auto', options, choice }, calls) {
  const request = checkOptions(options)
  const conversation = checkMessages(messages)
  const rendered = render(chat, conversation, request, true)
  const { content } = request
  const checked = checkedContent(rendered, conversation, request, calls)
  const encoding = checked ?? encoded(rendered, content, calls)
  const { assistantMask } = masked(chat, rendered, conversation, { encoding, by, request, calls, choice })
  return { text: rendered.text, ids: encoding.ids, assistantMask }
}

/** Tokenizer.countChat, for chats that are rendered. */
function countChat(chat, messages, options, calls) {
  const request = checkOptions(options)
  const { content } = request
  const conversation = checkMessages(messages)
  const rendered = render(chat, conversation, request, content !== 'parse')
  const checked = checkedContent(rendered, conversation, request, calls)
  return checked?.length ?? calls.count(rendered.text, boundsOf(rendered, content, calls))
}

/** The text of a conversation and, if it is traced, the origins of its characters. */
function render(chat, messages, options, isTraced) {
  if (!isTraced) return { text: chat.render(messages, options), runs: [], trace: undefined }
  const trace = new Trace()
  return { ...textAndRuns(chat.render(messages, options, trace)), trace }
}

/** The start and the end of each range of the text that the template did not write. */
function boundsOf({ text, runs, trace }, content, { splits }) {
  if (trace === undefined || content === 'parse' || splits) return undefined
  const bounds = []
  let start = 0
  for (let i = 0; i < runs.length; i += 2) {
    const end = runs[i]
    if (runs[i + 1] !== TEMPLATE) {
      // A character of which one half is input is input.
      const [from, to] = [isWithinPair(text, start) ? start - 1 : start, isWithinPair(text, end) ? end + 1 : end]
      if (bounds.length > 0 && bounds.at(-1) >= from) bounds[bounds.length - 1] = to
      else bounds.push(from, to)
    }
    start = end
  }
  return bounds.length === 0 ? undefined : Uint32Array.from(bounds)
}

/** Whether a place is between the halves of a surrogate pair. */
const isWithinPair = (text, at) => at > 0 && text.codePointAt(at - 1) > 0xffff

/** The encoding of a conversation whose input may become what `content` says. */
const encoded = (rendered, content, calls) => calls.encode(rendered.text, boundsOf(rendered, content, calls))

/**
 * With the content 'throw', throws if a string of the caller has a special token, or if strings
 * together make an added token in the text. Returns the encoding, if it was needed to know.
 */
function checkedContent(rendered, conversation, request, calls) {
  if (request.content !== 'throw') return undefined
  checkStrings(conversation, request, calls.refuse)
  const bounds = boundsOf(rendered, 'text', calls)
  if (bounds === undefined) return undefined
  const [parsed, literal] = [undefined, bounds].map((one) => calls.encode(rendered.text, one))
  if (parsed.length === literal.length && parsed.ids.every((id, i) => id === literal.ids[i])) return literal
  const message = "the input of the chat makes an added token of the text; content: 'text' encodes it as ordinary text"
  throw error('ERR_TOKENLANE_SPECIAL_TOKEN', message)
}

/** The kind of a mask: undefined for none, 'auto' for the one that the template has. */
function maskOption(value) {
  if (value === undefined || value === false) return undefined
  if (value === true) return 'auto'
  checkObject(value, 'returnAssistantMask', "a boolean or { by: 'generation' | 'origin' }")
  checkKnown(value, ['by'])
  const { by } = value
  if (by === undefined) return 'auto'
  if (!MASKS.includes(by)) throw wrongValue('returnAssistantMask.by', "'generation' or 'origin'", by)
  return by
}

const REFUSALS = ['CHAT_REFUSED', 'CHAT_TEMPLATE', 'CHAT_LIMIT'].map((name) => `ERR_TOKENLANE_${name}`)

/** The result of `work`, or undefined for a conversation that the template refuses. */
function tried(work) {
  try {
    return work()
  } catch (failure) {
    if (!REFUSALS.includes(failure?.code)) throw failure
    return undefined
  }
}

module.exports = { applyChat, countChat, encodeChat, render }
