'use strict'

// Writes the files that describe a tokenizer from the texts of a GGUF file, without making strings
// of them.

const QUOTE = 0x22
const BACKSLASH = 0x5c

const FLOAT = new Float32Array(1)
const BITS = new Uint32Array(FLOAT.buffer)

const ENCODER = new TextEncoder()

class Bytes {
  #bytes = new Uint8Array(64)
  #length = 0

  /** Makes room for more bytes. The capacity doubles, so that writing is linear. */
  #reserve(more) {
    if (this.#length + more <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }

  byte(byte) {
    this.#reserve(1)
    this.#bytes[this.#length++] = byte
  }

  bytes(bytes) {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  text(text) {
    this.bytes(ENCODER.encode(text))
  }

  /** Text of ASCII characters; short texts are written often. */
  ascii(text) {
    this.#reserve(text.length)
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text.charCodeAt(index)
  }

  /** Bytes of UTF-8, after a prefix, as a JSON string. */
  json(bytes, start = 0, end = bytes.length, prefix = '') {
    this.ascii(prefix === '' ? '"' : `"${prefix}`)
    // An escape has six bytes.
    this.#reserve((end - start) * 6)
    for (let index = start; index < end; index++) {
      const byte = bytes[index]
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) this.#bytes[this.#length++] = byte
      else this.ascii(`\\u${byte.toString(16).padStart(4, '0')}`)
    }
    this.byte(QUOTE)
  }

  /** A number of protobuf. */
  varint(value) {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) + 0x80)
    this.byte(rest)
  }

  /** A 32-bit float of protobuf. */
  float(value) {
    FLOAT[0] = value
    const bits = BITS[0]
    for (let shift = 0; shift < 32; shift += 8) this.byte((bits >>> shift) & 0xff)
  }

  /** A field of protobuf with bytes. */
  field(number, bytes) {
    this.varint(number * 8 + 2)
    this.varint(bytes.length)
    this.bytes(bytes)
  }

  /** A field of protobuf with a flag or a small number. */
  numberField(number, value) {
    this.varint(number * 8)
    this.varint(value)
  }

  clear() {
    this.#length = 0
  }

  done() {
    return this.#bytes.subarray(0, this.#length)
  }
}

module.exports = { Bytes }
