'use strict'

// Limits for services: the text of a call, the number of waiting batches, and the cost of chat
// templates.

const { renderCost } = require('@tokenlane/jinja/internal')

const native = require('./native.js')
const { checkKnown } = require('./options.js')
const { inputTooLarge, wrongType, wrongValue } = require('./errors.js')
const { isArray, isUint8Array } = require('./realm.js')
const { byteLength } = require('./runtime.js')

const current = { maxInputBytes: Infinity, maxQueuedBatches: Infinity, ...renderCost.LIMITS }
/** The addon holds this limit, for all threads of the process. */
const EXPANSION = 'maxExpansion'
const LIMIT_NAMES = [...Object.keys(current), EXPANSION]
/** Lists within each other: rows of pairs of texts, which are lists of words. */
const MAX_LISTS = 3
/** The addon's value for no limit. */
const NO_LIMIT = 0xffff_ffff

const limits = Object.freeze({
  get maxInputBytes() {
    return current.maxInputBytes
  },
  get maxQueuedBatches() {
    return current.maxQueuedBatches
  },
  get maxChatWork() {
    return current.maxChatWork
  },
  get maxChatMemory() {
    return current.maxChatMemory
  },
  get maxChatOutput() {
    return current.maxChatOutput
  },
  get maxExpansion() {
    const factor = native.maxExpansion()
    return factor >= NO_LIMIT ? Infinity : factor
  },
  configure(options) {
    checkKnown(options, LIMIT_NAMES)
    /** @type {[string, number][]} */
    const wanted = LIMIT_NAMES.filter((name) => options[name] !== undefined).map((name) => [
      name,
      limit(name, options[name]),
    ])
    // All values are checked before any limit changes.
    for (const [name, value] of wanted) {
      if (name === EXPANSION) native.setMaxExpansion(Math.min(value, NO_LIMIT))
      else current[name] = value
    }
  },
})

function limit(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  const whole = value === Infinity || Number.isSafeInteger(value)
  if (name === EXPANSION && value === 0) throw wrongValue(name, 'a whole number, 1 or more, or Infinity', value)
  if (!whole || value < 0) throw wrongValue(name, 'a whole number, 0 or more, or Infinity', value)
  return value
}

/** Throws if texts, or lists of texts, have more bytes of UTF-8 in total than a call may have. */
function checkInput(first, second = undefined) {
  if (current.maxInputBytes === Infinity) return
  const charge = inputMeter()
  charge(first)
  charge(second)
}

/**
 * For a call that counts one text after the other: a function that throws when the texts that it
 * was called with have more bytes of UTF-8 in total than a call may have.
 */
function inputMeter() {
  if (current.maxInputBytes === Infinity) return () => {}
  let left = current.maxInputBytes
  /** Whether the input is texts. The call refuses what is not, so nothing behind it is read. */
  const take = (input, depth = 0) => {
    if (isArray(input)) {
      for (let i = 0; i < input.length; i++) if (depth === MAX_LISTS || !take(input[i], depth + 1)) return false
      return true
    }
    if (isUint8Array(input)) left -= input.length
    // A UTF-16 unit has at least one byte in UTF-8, so a string with too many units need not be
    // scanned.
    else if (typeof input === 'string') left -= input.length > left ? input.length : byteLength(input)
    else return false
    if (left < 0)
      throw inputTooLarge(`the text of this call has more than ${current.maxInputBytes} bytes (limits.maxInputBytes)`)
    return true
  }
  return (input) => void take(input)
}

module.exports = { limits, checkInput, inputMeter }
