'use strict'

// What a caller passes to a chat: messages, tools, documents and variables. They are copied once
// (lib/reading.js), and nothing behind it sees an object of the caller.

const { entriesOf } = require('@tokenlane/jinja/internal').entries
const { Float } = require('@tokenlane/jinja/internal').values

const { typeError, wrongValue } = require('../errors.js')
const { at, copyOf, hiddenField } = require('../reading.js')
const { isArray, isBytes } = require('../realm.js')
const { isObject, json, listOf, object, where } = require('../shape.js')

/** Copied messages. `filter` and `map` of a Conversation return a Conversation. */
class Conversation extends Array {
  /** An object of the caller, such as a Proxy, cannot have it. */
  #isCopied = true

  static has(messages) {
    return #isCopied in messages && messages.#isCopied
  }
}

/** Templates take integers of any size, name binary data, and have floats without a fraction. */
const VALUES = { takes: (value) => typeof value === 'bigint' || value instanceof Float || isBytes(value) }

const part = where(isObject, object({ type: json, text: json }))
const called = { name: json, arguments: json }
const call = where(isObject, object({ ...called, id: json, type: json, function: where(isObject, object(called)) }))
const message = object({
  role: json,
  content: where(isArray, listOf(where(isObject, part))),
  name: json,
  reasoning_content: json,
  tool_call_id: json,
  tool_calls: where(isArray, listOf(call)),
})
const anObject = object({})

/**
 * Checks messages, and copies them. A field that is undefined is missing, and null is a value.
 *
 * @returns {any} a Conversation
 */
function checkMessages(messages) {
  if (isArray(messages) && Conversation.has(messages)) return messages
  const copies = copyOf(messages, 'messages', VALUES)
  listOf(refuseLangChain)(copies, 'messages')
  listOf(message)(copies, 'messages')
  if (copies.length === 0) throw wrongValue('messages', 'at least one message', [])
  return Conversation.from(copies)
}

/** Tools or documents: an array of objects, copied; undefined if there are none. */
function checkList(name, list) {
  if (list === undefined || list === null) return undefined
  const copies = copyOf(list, name, VALUES)
  listOf(anObject)(copies, name)
  return copies
}

/** Variables of a template, copied. Functions stay, because templates can call them. */
function checkVariables(variables) {
  const copy = copyOf(variables, 'variables', VALUES)
  anObject(copy, 'variables')
  return copy
}

/** Refuses a message of LangChain, which has no role, and what its toJSON writes. */
function refuseLangChain(message, place) {
  if (!isObject(message)) return
  const isMethod = (name) => typeof (message[name] ?? hiddenField(message, name, place)) === 'function'
  if (message.type === 'constructor' || isMethod('getType') || isMethod('_getType'))
    throw ofClient(place, 'LangChain', 'fromLangChain')
}

const ofClient = (place, client, adapter) =>
  typeError(
    'ERR_TOKENLANE_ARGUMENT_TYPE',
    `${place} is a message of ${client}: ${adapter} of @tokenlane/requests converts it`,
  )

/** Messages without a content, and with parts as the AI SDK has them, would be counted as JSON. */
function refuseAiSdk(messages) {
  const ofUi = messages.findIndex(
    ({ content, parts }) => content === undefined && Array.isArray(parts) && typeof parts[0]?.type === 'string',
  )
  if (ofUi !== -1) throw ofClient(`messages[${ofUi}]`, 'the AI SDK', 'fromAiSdk')
}

/** A message for a format that does not tell null from a missing field. */
const withoutNulls = (message) => Object.fromEntries(entriesOf(message).filter(([, value]) => value !== null))

/** Calls `check` with all strings in a copy, and their places: `messages[0].content`. */
function checkStringsIn(value, place, check) {
  if (typeof value === 'string') check(value, place)
  else if (isArray(value)) value.forEach((item, i) => checkStringsIn(item, at(place, i), check))
  else if (isObject(value)) for (const [name, field] of entriesOf(value)) checkStringsIn(field, at(place, name), check)
}

/**
 * Calls `check` with every string that the caller passed. Errors get the location of the string.
 */
function checkStrings(messages, { tools, documents, variables }, check) {
  const located = (text, place) => {
    try {
      check(text)
    } catch (failure) {
      // The advice is that of calls for a text.
      const reason = failure.message.replace(/: say specialTokens .*/, ": content: 'text' encodes it as text")
      failure.message = `${place}: ${reason}`
      throw failure
    }
  }
  for (const [name, value] of Object.entries({ messages, tools, documents, variables }))
    checkStringsIn(value, name, located)
}

module.exports = {
  checkList,
  checkMessages,
  checkStrings,
  checkVariables,
  refuseAiSdk,
  refuseLangChain,
  withoutNulls,
}
