// The memory of an instance. This module alone reads and writes it, so it alone has to know that a
// function of WebAssembly returns an address above 2 GiB as a negative number.
//
// Callers may add offsets to an address as they got it: each use makes the sum unsigned. The other
// modules of @tokenlane/web have no bit operators, which would make addresses signed again
// (biome.jsonc).

import { errors } from 'tokenlane/internal/base.js'

const { allocated, error } = errors

/** The maximum size of one allocation in Rust, in bytes: `isize::MAX`, down to a multiple of 8. */
const MAX_ALLOCATION = 2 ** 31 - 8

/** Up to this number of bytes or words, a loop is faster than a call of the engine. */
const SHORT = 24

/** Up to this number of UTF-16 units, a loop over ASCII is faster than TextEncoder. */
const SHORT_UNITS = 48

/** A longer list of texts is decoded text by text: V8's strings have less than 2^29 units. */
const MAX_JOINED = 2 ** 28

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The next multiple of eight. */
export const aligned = (length) => Math.ceil(length / 8) * 8

export function outOfMemory(bytes) {
  const advice = 'use shorter texts, smaller batches or a higher limit'
  return error('ERR_TOKENLANE_OUT_OF_MEMORY', `out of memory: ${bytes} more bytes are not available; ${advice}`)
}

/** Throws if no buffer of this many bytes can exist in WebAssembly. */
export function checkAllocation(bytes) {
  if (bytes > MAX_ALLOCATION) throw outOfMemory(bytes)
}

export class Memory {
  #memory
  #u8
  #u32

  /** @param {WebAssembly.Memory} memory */
  constructor(memory) {
    this.#memory = memory
    this.#refresh()
  }

  // Growth detaches the views before it.
  #bytes() {
    if (this.#u8.buffer !== this.#memory.buffer) this.#refresh()
    return this.#u8
  }

  #refresh() {
    this.#u8 = new Uint8Array(this.#memory.buffer)
    this.#u32 = new Uint32Array(this.#memory.buffer)
  }

  /** The words of the memory; valid until the next call of the module. */
  get words() {
    if (this.#u32.buffer !== this.#memory.buffer) this.#refresh()
    return this.#u32
  }

  /** The index in `words` of an address, which is a multiple of four. */
  wordIndex(address) {
    return address >>> 2
  }

  wordsAt(address, count) {
    const first = this.wordIndex(address)
    return this.words.subarray(first, first + count)
  }

  /** An ArrayBuffer with a copy of words. */
  copyWords(address, count) {
    const start = address >>> 0
    return allocated(() => this.#memory.buffer.slice(start, start + 4 * count))
  }

  copyBytes(address, length) {
    const start = address >>> 0
    return allocated(() => this.#bytes().slice(start, start + length))
  }

  write(bytes, address) {
    this.#bytes().set(bytes, address >>> 0)
  }

  writeWords(words, address) {
    const u32 = this.words
    const first = this.wordIndex(address)
    if (words.length > SHORT) u32.set(words, first)
    else for (let index = 0; index < words.length; index++) u32[first + index] = words[index]
  }

  /** Writes a string as UTF-8. Returns the number of bytes. */
  writeString(text, address) {
    const start = address >>> 0
    const bytes = this.#bytes()
    const { length } = text
    if (length <= SHORT_UNITS) {
      let index = 0
      for (; index < length; index++) {
        const unit = text.charCodeAt(index)
        if (unit > 127) break
        bytes[start + index] = unit
      }
      if (index === length) return length
    }
    return encoder.encodeInto(text, bytes.subarray(start, start + 3 * length)).written
  }

  /** Writes a string as UTF-16. */
  writeUnits(text, address) {
    const units = new Uint16Array(this.#memory.buffer, address >>> 0, text.length)
    for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index)
  }

  text(address, length) {
    const bytes = this.#bytes()
    const start = address >>> 0
    const end = start + length
    if (length > SHORT) return allocated(() => decoder.decode(bytes.subarray(start, end)))
    let text = ''
    for (let index = start; index < end; index++) {
      const byte = bytes[index]
      if (byte > 127) return decoder.decode(bytes.subarray(start, end))
      text += String.fromCharCode(byte)
    }
    return text
  }

  /** Texts one after the other; the words at `ends` are the end of each. */
  texts(address, length, ends, count) {
    const table = this.wordsAt(ends, count)
    const joined = length > MAX_JOINED ? undefined : this.text(address, length)
    // If all characters have one byte, the offsets in the text are those of the bytes.
    const isAscii = joined?.length === length
    const texts = allocated(() => new Array(count))
    let start = 0
    for (let index = 0; index < count; index++) {
      const end = table[index]
      texts[index] = isAscii ? joined.slice(start, end) : this.text(address + start, end - start)
      start = end
    }
    return texts
  }
}
