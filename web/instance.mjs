// An instance of the WebAssembly module, and the memory that it shares with this thread only.
//
// Each loaded tokenizer has an instance of its own, so that its memory is freed with it, and so
// that a trap ends no other tokenizer.

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The module frees a larger input buffer after the call: crates/web/src/instance.rs. */
const MAX_KEPT_BYTES = 4 << 20

/** Up to this number of UTF-16 units, a loop over ASCII is faster than TextEncoder. */
const SHORT_UNITS = 48

/** Up to this number of bytes, a loop over ASCII is faster than TextDecoder. */
const SHORT_BYTES = 24

/** Kinds of texts in the input buffer: crates/web/src/inputs.rs. */
export const UTF8 = 0
export const UTF16 = 1

/** Kinds of values: crates/web/src/instance.rs. */
const WORDS = 1
const BYTES = 2
const TEXTS = 3
const DESCRIPTION = 5

const aligned = (length) => (length + 7) & ~7

const ERRORS = { Error, TypeError, RangeError }

const withCode = (thrown, code) => Object.assign(thrown, { code })

function instantiated(module) {
  let failure
  try {
    const { exports } = new WebAssembly.Instance(module)
    if (typeof exports.numbers_at === 'function') return exports
  } catch (cause) {
    failure = cause
  }
  if (failure instanceof RangeError) {
    const message = `out of memory: there is none for the WebAssembly of another tokenizer: ${failure.message}`
    throw withCode(new Error(message, { cause: failure }), 'ERR_TOKENLANE_OUT_OF_MEMORY')
  }
  const message = 'the WebAssembly module that init() was given is not the file tokenlane.wasm of this version'
  throw withCode(new Error(message, { cause: failure }), 'ERR_TOKENLANE_UNSUPPORTED')
}

export class Instance {
  /**
   * The functions of the module.
   *
   * @type {any}
   */
  exports
  /** Whether a trap ended the instance. */
  isDead = false
  #memory
  #u8
  #u32
  #numbersAt
  #inputAt = 0
  #inputBytes = 0

  constructor(module) {
    this.exports = instantiated(module)
    this.#memory = this.exports.memory
    this.exports.start()
    this.#numbersAt = this.exports.numbers_at() >> 2
    this.refresh()
  }

  /** The bytes of the memory. Growth detaches the views before it. */
  get u8() {
    if (this.#u8.buffer !== this.#memory.buffer) this.refresh()
    return this.#u8
  }

  get u32() {
    if (this.#u32.buffer !== this.#memory.buffer) this.refresh()
    return this.#u32
  }

  refresh() {
    this.#u8 = new Uint8Array(this.#memory.buffer)
    this.#u32 = new Uint32Array(this.#memory.buffer)
  }

  /** Returns the address of an input buffer of at least `bytes` bytes. */
  input(bytes) {
    if (bytes > this.#inputBytes || this.#inputBytes > MAX_KEPT_BYTES) {
      const wanted = Math.max(aligned(bytes), 4096)
      this.#inputBytes = 0
      this.#inputAt = this.exports.input(wanted) >>> 0
      if (this.#inputAt === 0) throw this.outOfMemory(wanted)
      this.#inputBytes = wanted
    }
    return this.#inputAt
  }

  outOfMemory(bytes) {
    const message = `out of memory: ${bytes} more bytes are not available; use shorter texts, smaller batches or a higher limit`
    return withCode(new Error(message), 'ERR_TOKENLANE_OUT_OF_MEMORY')
  }

  /**
   * Writes a string or bytes to the start of the input buffer, with space for `more` bytes after
   * it. Returns the number of bytes.
   */
  write(text, more = 0) {
    if (typeof text !== 'string') {
      const at = this.input(aligned(text.length) + more)
      this.u8.set(text, at)
      return text.length
    }
    const { length } = text
    const at = this.input(aligned(3 * length) + more)
    return this.writeString(text, at)
  }

  writeString(text, at) {
    const { u8 } = this
    const { length } = text
    if (length <= SHORT_UNITS) {
      let index = 0
      for (; index < length; index++) {
        const unit = text.charCodeAt(index)
        if (unit > 127) break
        u8[at + index] = unit
      }
      if (index === length) return length
    }
    return encoder.encodeInto(text, u8.subarray(at, at + 3 * length)).written
  }

  /** Writes a string as UTF-16. Returns the number of units. */
  writeUtf16(text, more = 0) {
    const { length } = text
    const at = this.input(aligned(2 * length) + more)
    const units = new Uint16Array(this.#memory.buffer, at, length)
    for (let index = 0; index < length; index++) units[index] = text.charCodeAt(index)
    return length
  }

  writeWords(words) {
    const at = this.input(4 * words.length)
    const { u32 } = this
    if (words.length <= SHORT_BYTES)
      for (let index = 0; index < words.length; index++) u32[(at >> 2) + index] = words[index]
    else u32.set(words, at >> 2)
  }

  /** Writes options as JSON after `before` bytes. Returns their length; 0 for undefined. */
  writeJson(value, before) {
    if (value === undefined) return 0
    const bytes = encoder.encode(JSON.stringify(value))
    const at = this.input(aligned(before) + bytes.length) + aligned(before)
    this.u8.set(bytes, at)
    return bytes.length
  }

  /** Writes bytes or words after `before` bytes. The buffer has space for them. */
  writeTable(words, before) {
    this.u32.set(words, (this.#inputAt + aligned(before)) >> 2)
  }

  /** A number of the last result. */
  number(index) {
    return this.u32[this.#numbersAt + index]
  }

  /** Returns a result of a function; throws if it is a failure. */
  check(result) {
    if (result === -1) throw this.#failure()
    return result
  }

  /** The error for what a function of the module threw: a trap, which ends the instance. */
  trap(cause) {
    if (typeof cause?.code === 'string') return cause
    this.isDead = true
    let message = ''
    try {
      const length = this.exports.last_panic()
      message = decoder.decode(this.u8.subarray(this.exports.last_panic_at()).subarray(0, length))
    } catch {
      // The instance cannot be read.
    }
    const isOutOfMemory =
      message === '' && cause instanceof WebAssembly.RuntimeError && /unreachable/i.test(cause.message)
    return isOutOfMemory
      ? withCode(
          new Error(
            'out of memory: the memory of this instance is at its limit; use shorter texts or smaller batches',
            { cause },
          ),
          'ERR_TOKENLANE_OUT_OF_MEMORY',
        )
      : withCode(
          new Error(`tokenlane failed where it never should; please report this: ${message || cause?.message}`, {
            cause,
          }),
          'ERR_TOKENLANE_PANIC',
        )
  }

  #failure() {
    const { name, code, message, ...data } = JSON.parse(this.text())
    const thrown = withCode(new ERRORS[name](message), code)
    for (const key of Object.keys(data)) if (data[key] !== null) thrown[key] = data[key]
    return thrown
  }

  /** A value of the result: an ArrayBuffer of words, a Uint8Array, an array of strings, or null. */
  value(index = 0) {
    const [kind, at, length, ends, count] = this.#describe(index)
    if (kind === WORDS) return this.#memory.buffer.slice(at, at + 4 * length)
    if (kind === BYTES) return this.u8.slice(at, at + length)
    if (kind === TEXTS) return this.#texts(at, length, ends, count)
    return null
  }

  /** The text of the result. */
  text() {
    const at = this.exports.values_at() >> 2
    const { u32 } = this
    return this.textAt(u32[at + 1], u32[at + 2])
  }

  textAt(at, length) {
    const { u8 } = this
    if (length <= SHORT_BYTES) {
      let text = ''
      for (let index = at; index < at + length; index++) {
        const byte = u8[index]
        if (byte > 127) return decoder.decode(u8.subarray(at, at + length))
        text += String.fromCharCode(byte)
      }
      return text
    }
    return decoder.decode(u8.subarray(at, at + length))
  }

  #describe(index) {
    const at = (this.exports.values_at() >> 2) + DESCRIPTION * index
    return this.u32.subarray(at, at + DESCRIPTION)
  }

  #texts(at, length, ends, count) {
    const table = this.u32.subarray(ends >> 2, (ends >> 2) + count)
    const whole = this.textAt(at, length)
    const texts = new Array(count)
    let start = 0
    for (let index = 0; index < count; index++) {
      const end = table[index]
      // If all characters have one byte, the offsets in the text are those of the bytes.
      texts[index] = whole.length === length ? whole.slice(start, end) : this.textAt(at + start, end - start)
      start = end
    }
    return texts
  }
}

export { aligned }
