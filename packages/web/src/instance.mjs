// An instance of the WebAssembly module, and the memory that it shares with this thread only.
//
// Each loaded tokenizer has an instance of its own, so that its memory is freed with it, and so
// that a trap ends no other tokenizer.

import { errors } from 'tokenlane/internal/base.js'
import { Memory, aligned, checkAllocation, outOfMemory } from './addresses.mjs'

const { allocated, error, isStackOverflow, withCode } = errors

const encoder = new TextEncoder()
const NO_BYTES = new Uint8Array(0)

/** The module frees a larger input buffer after the call: crates/web/src/instance.rs. */
const MAX_KEPT_BYTES = 4 * 2 ** 20

/** Kinds of texts in the input buffer: crates/web/src/inputs.rs. */
export const UTF8 = 0
export const UTF16 = 1

/** Kinds of values: crates/web/src/instance.rs. */
const WORDS = 1
const BYTES = 2
const TEXTS = 3
/** The number of words that describe a value. */
const DESCRIPTION = 5

/** Frames of a small function for which there is stack unless the caller has used it up. */
const SPARE_FRAMES = 2000

const ERRORS = { Error, TypeError, RangeError }

function instantiated(module) {
  let failure
  try {
    const { exports } = new WebAssembly.Instance(module)
    if (typeof exports.stack_at === 'function') return exports
  } catch (cause) {
    failure = cause
  }
  if (isStackOverflow(failure)) throw failure
  if (failure instanceof RangeError) {
    const message = `out of memory: there is none for the WebAssembly of another tokenizer: ${failure.message}`
    throw error('ERR_TOKENLANE_OUT_OF_MEMORY', message, { cause: failure })
  }
  const message = 'the WebAssembly module that init() was given is not the file tokenlane.wasm of this version'
  throw error('ERR_TOKENLANE_UNSUPPORTED', message, { cause: failure })
}

/** Whether the caller left no stack, so that this package did not use it up. */
function isStackUsedUp() {
  // The comparison keeps engines from dropping frames of tail calls.
  const enter = (frames) => frames === 0 || enter(frames - 1) === true
  try {
    return !enter(SPARE_FRAMES)
  } catch {
    return true
  }
}

/**
 * Options as JSON; no bytes for undefined. A call creates them before it writes to an instance: a
 * program that gives strings a `toJSON` may call the same tokenizer there.
 */
export const jsonOf = (value) =>
  value === undefined ? NO_BYTES : allocated(() => encoder.encode(JSON.stringify(value)))

export class Instance {
  /**
   * The functions of the module. Addresses that they return go to `memory`.
   *
   * @type {any}
   */
  exports
  memory
  /**
   * Set while a call is in progress. Stays set after one that failed with so little stack that
   * not even its error could be handled: only the next call finds out how it ended.
   */
  isInDoubt = false
  #isDead = false
  #stackAt
  #numbersIndex
  #inputAt = 0
  #inputBytes = 0

  constructor(module) {
    this.exports = instantiated(module)
    this.memory = new Memory(this.exports.memory)
    this.exports.start()
    this.#stackAt = this.exports.stack_at()
    this.#numbersIndex = this.memory.wordIndex(this.exports.numbers_at())
  }

  /**
   * Whether an exception left a function of the module before it returned: a trap, or an overflow
   * of the stack. What such a function was changing is not consistent any more.
   */
  get isDead() {
    if (this.isInDoubt) {
      this.#isDead ||= this.exports.stack_at() !== this.#stackAt
      this.isInDoubt = false
    }
    return this.#isDead
  }

  /**
   * Returns the address of an input buffer of at least `bytes` bytes. What was written to a smaller
   * one before stays at its start.
   */
  input(bytes) {
    if (bytes > this.#inputBytes || this.#inputBytes > MAX_KEPT_BYTES) {
      const wanted = Math.max(aligned(bytes), 4096)
      this.#inputBytes = 0
      checkAllocation(wanted)
      this.#inputAt = this.exports.input(wanted)
      if (this.#inputAt === 0) throw outOfMemory(wanted)
      this.#inputBytes = wanted
    }
    return this.#inputAt
  }

  /** Writes a string or bytes to the start of the input buffer. Returns the number of bytes. */
  write(text) {
    if (typeof text === 'string') return this.memory.writeString(text, this.input(3 * text.length))
    this.memory.write(text, this.input(text.length))
    return text.length
  }

  /** Writes a string as UTF-16. Returns the number of units. */
  writeUtf16(text) {
    this.memory.writeUnits(text, this.input(2 * text.length))
    return text.length
  }

  writeWords(words) {
    this.memory.writeWords(words, this.input(4 * words.length))
  }

  /** Writes what `jsonOf` returned after `before` bytes. Returns its length. */
  writeJson(json, before) {
    if (json.length === 0) return 0
    const start = aligned(before)
    this.memory.write(json, this.input(start + json.length) + start)
    return json.length
  }

  /** A number of the last result. */
  number(index) {
    return this.memory.words[this.#numbersIndex + index]
  }

  /** Returns a result of a function; throws if it is a failure. */
  check(result) {
    if (result === -1) throw this.#failure()
    return result
  }

  /** The error for what a call threw. */
  failureOf(cause) {
    if (typeof cause?.code === 'string' && cause.code.startsWith('ERR_TOKENLANE_')) {
      this.isInDoubt = false
      return cause
    }
    const isTrap = cause instanceof WebAssembly.RuntimeError
    if (isTrap) this.#isDead = true
    if (isStackOverflow(cause) && (!this.isDead || isStackUsedUp())) return cause
    // What JavaScript throws after the module has returned, because a result is too large for it.
    const isTooLarge = cause instanceof RangeError || cause?.code === 'ERR_STRING_TOO_LONG'
    if (!this.isDead && isTooLarge)
      return error('ERR_TOKENLANE_OUT_OF_MEMORY', `out of memory: ${cause.message}`, { cause })
    const message = this.isDead ? this.#panicMessage() : ''
    if (isTrap && message === '' && cause.message.toLowerCase().includes('unreachable')) {
      const advice = 'the memory of this instance is at its limit; use shorter texts or smaller batches'
      return error('ERR_TOKENLANE_OUT_OF_MEMORY', `out of memory: ${advice}`, { cause })
    }
    const reason = `tokenlane failed where it never should; please report this: ${message || cause?.message}`
    return error('ERR_TOKENLANE_PANIC', reason, { cause })
  }

  #panicMessage() {
    try {
      const length = this.exports.last_panic()
      return this.memory.text(this.exports.last_panic_at(), length)
    } catch {
      // The instance cannot be read.
      return ''
    }
  }

  #failure() {
    const { name, code, message, ...data } = JSON.parse(this.text())
    const thrown = withCode(new ERRORS[name](message), code)
    for (const key of Object.keys(data)) if (data[key] !== null) thrown[key] = data[key]
    return thrown
  }

  /** A value of the result: an ArrayBuffer of words, a Uint8Array, an array of strings, or null. */
  value(index = 0) {
    const { memory } = this
    const [kind, at, length, ends, count] = this.#describe(index)
    if (kind === WORDS) return memory.copyWords(at, length)
    if (kind === BYTES) return memory.copyBytes(at, length)
    if (kind === TEXTS) return memory.texts(at, length, ends, count)
    return null
  }

  /** The text of the result. */
  text() {
    const { memory } = this
    const { words } = memory
    const description = memory.wordIndex(this.exports.values_at())
    return memory.text(words[description + 1], words[description + 2])
  }

  #describe(index) {
    return this.memory.wordsAt(this.exports.values_at() + 4 * DESCRIPTION * index, DESCRIPTION)
  }
}
