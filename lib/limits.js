'use strict'

// What a service does not take on: more text in a call than it can pay for, and more batches than it will get to in time.

const host = require('./host.js')
const native = require('./native.js')
const { checkKnown } = require('./options.js')
const { inputTooLarge, wrongType, wrongValue } = require('./errors.js')

/** What a chat template may cost: steps, bytes, and characters of output (see chat/budget.js). */
const CHAT_DEFAULTS = Object.freeze({
  maxChatWork: 6_000_000,
  maxChatMemory: 128 * 1024 * 1024,
  maxChatOutput: 64 * 1024 * 1024,
})

const set = { maxInputBytes: Infinity, maxQueuedBatches: Infinity, ...CHAT_DEFAULTS }
/** The addon has this one, for all threads of the process. */
const EXPANSION = 'maxExpansion'
const NAMES = [...Object.keys(set), EXPANSION]
/** What the addon takes for no limit. */
const NO_LIMIT = 0xffff_ffff

const limits = Object.freeze({
  get maxInputBytes() {
    return set.maxInputBytes
  },
  get maxQueuedBatches() {
    return set.maxQueuedBatches
  },
  get maxChatWork() {
    return set.maxChatWork
  },
  get maxChatMemory() {
    return set.maxChatMemory
  },
  get maxChatOutput() {
    return set.maxChatOutput
  },
  get maxExpansion() {
    const factor = native.maxExpansion()
    return factor >= NO_LIMIT ? Infinity : factor
  },
  configure(options) {
    checkKnown(options, NAMES)
    const wanted = NAMES.filter((name) => options[name] !== undefined).map((name) => [name, limit(name, options[name])])
    // None is set when one of them is wrong.
    for (const [name, value] of wanted) {
      if (name === EXPANSION) native.setMaxExpansion(Math.min(value, NO_LIMIT))
      else set[name] = value
    }
  },
})

function limit(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  const whole = value === Infinity || Number.isSafeInteger(value)
  if (name === EXPANSION && value === 0) throw wrongValue(name, 'a whole number from 1 on, or Infinity', value)
  if (!whole || value < 0) throw wrongValue(name, 'a whole number from 0 on, or Infinity', value)
  return value
}

/** Refuses texts, or lists of them, that have more bytes of UTF-8 together than a call may. */
function checkInput(...inputs) {
  if (set.maxInputBytes === Infinity) return
  let left = set.maxInputBytes
  const take = (input) => {
    if (Array.isArray(input)) return input.forEach(take)
    if (input instanceof Uint8Array) left -= input.length
    // A unit of UTF-16 is one to three bytes, so that most strings need not be looked through.
    else if (typeof input === 'string') left -= input.length > left ? input.length : host.byteLength(input)
    if (left < 0) throw inputTooLarge(`the text of this call has more than ${set.maxInputBytes} bytes, which is limits.maxInputBytes`)
  }
  inputs.forEach(take)
}

module.exports = { CHAT_DEFAULTS, limits, checkInput }
