'use strict'

// The newest messages of a conversation that fit a limit.
//
// A conversation can be cut before each unit: a message and the results of tools after it. What a
// message takes in a rendered conversation is not what it takes alone, so the conversation that is
// returned was counted as a whole, and the one with a further unit too. Both are found from the
// texts of the messages, mostly at once; otherwise the distance doubles until the limit lies
// between two counts, and halves after that.

const {
  conversation: { checkList, checkMessages, checkVariables },
  errors: { limitTooSmall, meantOption, unknownOption, wrongType },
  options: { checkCount, checkObject },
  reading: { sourceOf },
} = require('tokenlane/internal/requests.js')

const { OpenAiCounter } = require('./openai.js')
const { chatFormatOf, textCounter } = require('./tokenizer.js')

/** Roughly what a message takes beside its texts. */
const PER_MESSAGE = 4
/** What an image may take. With too little, the first count would be that of too many messages. */
const PER_IMAGE = 1000
/** Roles of the results of tools: of chat completions, and of templates of Llama 3 and GLM. */
const RESULTS = ['tool', 'function', 'ipython', 'observation']
const INSTRUCTIONS = ['system', 'developer']
const OWN = ['maxTokens', 'keep', 'startOn']
const isInstruction = (message) => INSTRUCTIONS.includes(message.role)

/**
 * Returns `{ messages, tokens, dropped }`.
 *
 * @param {any} tokenizer
 * @param {any[]} messages
 * @param {any} options
 *
 * @typedef {(text: string) => number} CountText
 */
function fitChat(tokenizer, messages, options) {
  const { count, countText } = countersOf(tokenizer)
  checkObject(options, 'options', 'an object with maxTokens')
  const { maxTokens, keep = isInstruction, startOn, ...rest } = options
  if (maxTokens === undefined) {
    const wrong = Object.keys(rest).find((name) => meantOption(name, OWN) === 'maxTokens')
    if (wrong !== undefined) throw unknownOption(wrong, OWN)
  }
  checkCount('maxTokens', maxTokens)
  if (typeof keep !== 'function') throw wrongType('keep', 'a function that returns whether a message stays', keep)
  if (startOn !== undefined && typeof startOn !== 'string') throw wrongType('startOn', 'a role (a string)', startOn)
  const conversation = checkMessages(messages)
  const shared = converted(rest)
  // A function of the caller sees the message that the caller passed.
  const isKept = keep === isInstruction ? keep : (message, i) => answerOf(keep, sourceOf(message), i)
  const chat = new Cuts(conversation, isKept, startOn)
  const tokens = new Map()
  const tokensAt = (cut) => {
    if (!tokens.has(cut)) tokens.set(cut, counted(chat.after(cut)))
    return tokens.get(cut)
  }
  const counted = (some) => {
    try {
      return count(some, shared)
    } catch (failure) {
      // The whole conversation has the same fault, at the place that the caller knows.
      if (some.length < conversation.length) throwAt(failure, () => count(conversation, shared))
      throw failure
    }
  }
  const last = chat.length - 1
  if (tokensAt(last) > maxTokens) {
    const role = startOn === undefined ? '' : ` before a later message of the role '${startOn}'`
    const what =
      last === 0 ? `the conversation, which cannot be cut${role},` : 'the newest message, with those that are kept,'
    throw limitTooSmall(`${what} takes ${tokensAt(last)} tokens, more than maxTokens (${maxTokens})`)
  }
  const cut = first(last, chat.guess(maxTokens - tokensAt(last), countText), (one) => tokensAt(one) <= maxTokens)
  const fitting = Array.from(chat.after(cut), sourceOf)
  return { messages: fitting, tokens: tokensAt(cut), dropped: conversation.length - fitting.length }
}

/**
 * Counts messages, as countRequest does with an encoding of OpenAI, else as countChat does, and
 * texts.
 *
 * @returns {{ count: (messages: any[], options: any) => number, countText: CountText }}
 */
function countersOf(tokenizer) {
  const format = chatFormatOf(tokenizer)
  if (format.kind !== 'openai')
    return { count: (messages, options) => tokenizer.countChat(messages, options), countText: textCounter(tokenizer) }
  const count = (messages, options) => new OpenAiCounter(format, textCounter(tokenizer)).messages(messages, options)
  return { count, countText: textCounter(tokenizer) }
}

/** Throws what `call` throws if it is the same error as `failure`. */
function throwAt(failure, call) {
  try {
    call()
  } catch (other) {
    if (other.code === failure.code) throw other
  }
}

/** Where a conversation can be cut, oldest first; at the first place, nothing is dropped. */
class Cuts {
  #messages
  /** Indices of the messages before which it is cut. */
  #starts = []
  /** Whether a message stays when it is before the cut. */
  #stays = []

  constructor(messages, keep, startOn) {
    this.#messages = messages
    // A unit starts with a message that is no result; all of it stays, or nothing.
    let unit = 0
    messages.forEach((message, i) => {
      const isStart = i === 0 || !RESULTS.includes(message.role)
      if (isStart) unit = i
      this.#stays[i] = keep(message, i) || (i > unit && this.#stays[unit])
      if (this.#stays[i] && !this.#stays[unit]) this.#stays.fill(true, unit, i)
      if (i === 0 || (isStart && (startOn === undefined || message.role === startOn))) this.#starts.push(i)
    })
  }

  get length() {
    return this.#starts.length
  }

  /** The conversation from a cut on, and the messages before it that stay. */
  after(cut) {
    return this.#messages.filter((_, i) => this.#isLeft(i, cut))
  }

  #isLeft(i, cut) {
    return i >= this.#starts[cut] || this.#stays[i]
  }

  /** The oldest cut whose messages probably take at most `left` tokens more than the last one. */
  guess(left, countText) {
    let cut = this.length - 1
    for (let sum = 0; cut > 0; cut--) {
      for (let i = this.#starts[cut - 1]; i < this.#starts[cut]; i++)
        if (!this.#stays[i]) sum += roughly(this.#messages[i], countText)
      if (sum > left) break
    }
    return cut
  }
}

/** The options with what templates read of them, converted once for all counts. */
function converted({ tools, documents, variables, ...others }) {
  const given = { ...others }
  if (tools !== undefined) given.tools = checkList('tools', tools)
  if (documents !== undefined) given.documents = checkList('documents', documents)
  if (variables !== undefined) given.variables = checkVariables(variables)
  return given
}

/** What the caller's function says of a message. */
function answerOf(keep, message, i) {
  const answer = keep(message, i)
  if (typeof answer?.then === 'function')
    throw wrongType('keep', 'a function that returns a boolean, not a promise', keep)
  return Boolean(answer)
}

/** About what a message takes. The data of images is not read. */
function roughly(message, countText) {
  const { content, reasoning_content: reasoning, tool_calls: calls } = message
  const said = Array.isArray(content) ? content.map((part) => part?.text) : [content, reasoning]
  const texts = said.filter((text) => typeof text === 'string')
  const images = Array.isArray(content) ? said.length - texts.length : 0
  for (const call of Array.isArray(calls) ? calls : [])
    for (const text of [call?.function?.name, call?.function?.arguments]) if (typeof text === 'string') texts.push(text)
  return PER_MESSAGE + PER_IMAGE * images + countText(texts.join('\n'))
}

/** The least number for which `fits` holds, which it does from there to `last`. */
function first(last, guess, fits) {
  let high = last
  let low = -1
  // Brackets the number between one that does not fit and one that does.
  for (let distance = 1, at = guess; low < high - 1; distance *= 2) {
    if (at >= high || at <= low) break
    if (fits(at)) {
      high = at
      at -= distance
    } else {
      low = at
      at += distance
    }
  }
  while (low < high - 1) {
    const middle = (low + high) >> 1
    if (fits(middle)) high = middle
    else low = middle
  }
  return high
}

module.exports = { fitChat }
