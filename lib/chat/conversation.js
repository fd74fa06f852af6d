'use strict'

// The door for what a caller passes to a chat: messages, tools, documents and variables. Values are
// converted once, as JSON has them, and each property is read once. Nothing behind the door sees an
// object of the caller, so a getter, a Proxy or a toJSON cannot answer differently to the template,
// the mask and the check of special tokens.
//
// Strings, numbers, booleans, bigints, functions and binary data are passed on; arrays, maps and
// objects are copied; an object with a toJSON is what that returns. As in structured clones, an
// object that occurs twice is copied once, so circular values stay circular and the cost is linear
// in the number of objects. Code that walks a copy limits its depth.

const { entriesOf } = require('@tokenlane/jinja/internal').entries
const { RenderCost, admit, allocate, allocateList, spend, within } = require('@tokenlane/jinja/internal').renderCost
const { Float } = require('@tokenlane/jinja/internal').values

const { typeError, wrongType, wrongValue } = require('../errors.js')
const { limits } = require('../limits.js')
const { refuseHidden } = require('./hidden-fields.js')
const { checkObject } = require('../options.js')
const { isArray, isArrayBuffer, isMap, isPlainObject, isRevoked } = require('../realm.js')

/** Messages that passed the door. Arrays made from them by filter or map are of this class, too. */
class Conversation extends Array {
  /** An object of the caller, such as a Proxy, cannot have it. */
  #isConverted = true

  static has(messages) {
    return #isConverted in messages && messages.#isConverted
  }
}

/** Fields that JSON would miss silently if they were getters of a class. */
const MESSAGE_FIELDS = ['role', 'content', 'tool_calls']
const PART_FIELDS = ['type', 'text']
/** More than they take, so that a toJSON that returns new objects for ever soon ends. */
const BYTES_PER_OBJECT = 512
const BYTES_PER_ENTRY = 64

/** By the copy of a part of a message, the part that the caller passed. */
const partSources = new WeakMap()
const sourceOfPart = (part) => partSources.get(part) ?? part

/**
 * Checks messages, and converts them. A field that is undefined is missing, and null is a value.
 *
 * @returns {any} a Conversation
 */
function checkMessages(messages) {
  if (!isArray(messages)) throw wrongType('messages', 'an array of objects', messages)
  if (Conversation.has(messages)) return messages
  return charged((copies) => {
    const { length } = messages
    if (length === 0) throw wrongValue('messages', 'at least one message', [])
    const conversation = new Conversation()
    for (let i = 0; i < length; i++) conversation.push(messageOf(messages[i], `messages[${i}]`, copies))
    return conversation
  })
}

/** Tools or documents: an array of objects, converted; undefined if there are none. */
function checkList(name, list) {
  if (list === undefined || list === null) return undefined
  if (!isArray(list)) throw wrongType(name, 'an array of objects', list)
  return charged((copies) => {
    const { length } = list
    const converted = []
    for (let i = 0; i < length; i++) {
      const { [i]: item } = list
      checkObject(item, `${name}[${i}]`)
      converted.push(copies.of(item))
    }
    return converted
  })
}

/** Variables of a template, converted. Functions stay, because templates can call them. */
function checkVariables(variables) {
  checkObject(variables, 'variables')
  return charged((copies) => copies.of(variables))
}

/** Runs a conversion within the limits of chats. What the caller's code throws gets a code. */
function charged(convert) {
  try {
    return within(new RenderCost(limits), () => {
      const copies = new Copies()
      const converted = convert(copies)
      copies.finish()
      return converted
    })
  } catch (failure) {
    // The module with these errors has the whole template engine.
    return require('@tokenlane/jinja/internal').template.guarded(() => {
      throw failure
    }, 'failed')
  }
}

/**
 * A message as an object of JSON. A field of its class, such as a getter, would be missing in the
 * conversation, so it is refused.
 */
function messageOf(message, location, copies) {
  checkObject(message, location)
  checkClient(message, location)
  return copies.ofMessage(message, (written, copy) => {
    checkObject(written, location)
    checkOwn(written, copy, MESSAGE_FIELDS, location)
    copies.checkItems(copy.content, (part, partCopy, i) => {
      partSources.set(partCopy, part)
      checkOwn(part, partCopy, PART_FIELDS, `${location}.content[${i}]`)
    })
  })
}

/** Refuses fields of a class, which are no fields of JSON. */
function checkOwn(object, copy, names, location) {
  if (isMapped(object)) return
  const missing = names.filter((name) => !Object.hasOwn(copy, name))
  refuseHidden(object, missing, (name) => `${location}.${name}`)
}

/** Refuses a message of LangChain, which has no role. */
function checkClient({ getType, _getType }, location) {
  if (typeof getType === 'function' || typeof _getType === 'function')
    throw ofClient(location, 'LangChain', 'fromLangChain')
}

const ofClient = (location, client, adapter) =>
  typeError(
    'ERR_TOKENLANE_ARGUMENT_TYPE',
    `${location} is a message of ${client}: ${adapter} of 'tokenlane/adapters' converts it`,
  )

/** Copies of values, whose contents are copied one after the other. */
class Copies {
  #copies = new Map()
  /** Functions that fill a copy. */
  #pending = []
  /** By the copy of a list, the check of each object in it, and the checks that are due. */
  #itemChecks = new Map()
  #due = []

  /** The copy of a value, which is complete after `finish`. */
  of(value) {
    admit(typeof value === 'string' ? value.length : 0)
    spend(1)
    if (typeof value !== 'object' || value === null || value instanceof Float) return value
    const copied = this.#copies.get(value)
    if (copied !== undefined) return copied
    if (isRevoked(value)) throw wrongType('a value of the chat', 'a value that can be read', value)
    if (isArray(value)) return this.#add(value, [], (copy) => this.#fillList(copy, value))
    if (isMapped(value)) return this.#add(value, new Map(), (copy) => this.#fillMap(copy, value))
    const { toJSON } = value
    if (typeof toJSON === 'function') return this.#written(value, toJSON)
    if (!isPlainObject(value) && (ArrayBuffer.isView(value) || isArrayBuffer(value))) return value
    return this.#add(value, {}, (copy) => this.#fillObject(copy, value))
  }

  /** The copy of a message. `check` gets the message, or what its toJSON returned, and the copy. */
  ofMessage(message, check) {
    const copied = this.#copies.get(message)
    if (copied !== undefined) return copied
    const { toJSON } = message
    const written = typeof toJSON === 'function' ? Reflect.apply(toJSON, message, ['']) : message
    const copy = {}
    allocate(BYTES_PER_OBJECT)
    this.#copies.set(message, copy)
    if (isMapped(written)) for (const [key, value] of entriesOfMap(written)) this.#set(copy, key, value)
    else if (isReadable(written)) this.#fillObject(copy, written)
    check(written, copy)
    return copy
  }

  /** Calls `check` with each object of a list, its copy and its index, when all are copied. */
  checkItems(list, check) {
    if (Array.isArray(list) && !this.#itemChecks.has(list)) this.#itemChecks.set(list, check)
  }

  finish() {
    for (let fill = this.#pending.pop(); fill !== undefined; fill = this.#pending.pop()) fill()
    for (const check of this.#due) check()
  }

  #add(value, copy, fill) {
    allocate(BYTES_PER_OBJECT)
    this.#copies.set(value, copy)
    this.#pending.push(() => fill(copy))
    return copy
  }

  /** As in JSON, what a toJSON returns is not asked again. */
  #written(value, toJSON) {
    const written = Reflect.apply(toJSON, value, [''])
    if (!isReadable(written) || isMapped(written)) return this.of(written)
    return this.#add(value, {}, (copy) => this.#fillObject(copy, written))
  }

  /** A list is read by its indices: an iterator of the caller could go on for ever. */
  #fillList(copy, list) {
    const { length } = list
    allocateList(length)
    const check = this.#itemChecks.get(copy)
    for (let i = 0; i < length; i++) {
      const { [i]: item } = list
      const itemCopy = this.of(item)
      copy.push(itemCopy)
      if (check !== undefined && isReadable(itemCopy)) this.#due.push(() => check(item, itemCopy, i))
    }
  }

  #fillMap(copy, map) {
    for (const [key, value] of entriesOfMap(map)) {
      allocate(BYTES_PER_ENTRY)
      if (value !== undefined) copy.set(key, this.of(value))
    }
  }

  #fillObject(copy, object) {
    for (const [name, value] of entriesOf(object)) this.#set(copy, name, value)
  }

  #set(copy, name, value) {
    allocate(BYTES_PER_ENTRY)
    if (value === undefined || (name === 'toJSON' && typeof value === 'function')) return
    const converted = this.of(value)
    if (name === '__proto__')
      Object.defineProperty(copy, name, { value: converted, enumerable: true, writable: true, configurable: true })
    else copy[name] = converted
  }
}

/** Whether a value is an object with properties, and no array. */
const isReadable = (value) => typeof value === 'object' && value !== null && !isRevoked(value) && !isArray(value)
const isMapped = (value) => typeof value === 'object' && value !== null && !isPlainObject(value) && isMap(value)

/** The entries of a map; an object that is a key has no text. */
function entriesOfMap(map) {
  const entries = []
  forEachOfMap.call(map, (value, key) => {
    entries.push([typeof key === 'object' && key !== null ? '<object>' : String(key), value])
  })
  return entries
}

const { forEach: forEachOfMap } = Map.prototype

/** A message for a format that does not tell null from a missing field. */
const withoutNulls = (message) => Object.fromEntries(entriesOf(message).filter(([, value]) => value !== null))

/** Yields all strings in the inputs of a chat, with their places: `messages[0].content`. */
function* stringsIn(inputs) {
  /** Values that are still to be read, the next one at the end, with their places. */
  const pending = Object.entries(inputs).reverse()
  const seen = new Set()
  while (pending.length > 0) {
    const [location, value] = pending.pop()
    if (typeof value === 'string') yield [location, value]
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) continue
    seen.add(value)
    const isList = Array.isArray(value)
    const entries = isMapped(value) ? [...value] : entriesOf(value)
    for (const [key, part] of entries.reverse())
      pending.push([isList ? `${location}[${key}]` : `${location}.${key}`, part])
  }
}

/**
 * Calls `check` with every string that the caller passed. Errors get the location of the string.
 */
function checkStrings(messages, { tools, documents, variables }, check) {
  for (const [location, text] of stringsIn({ messages, tools, documents, variables })) {
    try {
      check(text)
    } catch (failure) {
      // The advice is that of calls for a text.
      const message = failure.message.replace(/: say specialTokens .*/, ": content: 'text' encodes it as text")
      failure.message = `${location}: ${message}`
      throw failure
    }
  }
}

module.exports = {
  checkList,
  checkMessages,
  checkStrings,
  checkVariables,
  ofClient,
  sourceOfPart,
  withoutNulls,
}
