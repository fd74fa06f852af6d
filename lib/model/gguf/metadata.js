'use strict'

// Reads the metadata at the start of a GGUF file, the format of llama.cpp: a magic number, a
// version, the numbers of tensors and of values, then each value as a key, a type and data. The
// tensors behind them are never read. Texts stay bytes of the file, because a vocabulary has
// hundreds of thousands of them.

const { error } = require('../../errors.js')
const { inTurns, step } = require('../../steps.js')
const { copyOfBytes } = require('../../texts.js')

/** Bytes of metadata. The largest vocabularies have a quarter of this. */
const MAX_BYTES = 64 * 2 ** 20
const MAX_KEY_BYTES = 65_536
/** Values of a file. Real ones have less than a hundred. */
const MAX_VALUES = 65_536

const MAGIC = [0x47, 0x47, 0x55, 0x46]
/** Numbers that this package needs exactly are below 2^53. */
const SIZES = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }
const [TEXT, LIST, FLAG] = [8, 9, 7]
const NUMBERS = {
  0: (view, at) => view.getUint8(at),
  1: (view, at) => view.getInt8(at),
  2: (view, at, little) => view.getUint16(at, little),
  3: (view, at, little) => view.getInt16(at, little),
  4: (view, at, little) => view.getUint32(at, little),
  5: (view, at, little) => view.getInt32(at, little),
  6: (view, at, little) => view.getFloat32(at, little),
  7: (view, at) => view.getUint8(at),
  // Two halves are faster than a BigInt.
  10: (view, at, little) =>
    view.getUint32(at + (little ? 4 : 0), little) * 2 ** 32 + view.getUint32(at + (little ? 0 : 4), little),
  11: (view, at, little) => Number(view.getBigInt64(at, little)),
  12: (view, at, little) => view.getFloat64(at, little),
}

/** Whether bytes start like a GGUF file. */
const isGguf = (bytes) => bytes.length >= 4 && MAGIC.every((byte, index) => bytes[index] === byte)

const broken = (message) => error('ERR_TOKENLANE_GGUF', `the GGUF file ${message}`)

/** Thrown where the bytes end, because the caller may have more of the file. */
const MORE = Symbol('more bytes')

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A list of texts, as places in the bytes of the file. */
class Texts {
  #key
  #start

  constructor(key, bytes, starts, ends, start) {
    this.#key = key
    /** The bytes of the file, in which each text has a start and an end. */
    this.bytes = bytes
    this.starts = starts
    this.ends = ends
    this.#start = start
  }

  /** The texts with their lengths before them, as in the file. */
  get raw() {
    const { length, bytes, ends } = this
    return bytes.subarray(this.#start, length === 0 ? this.#start : ends[length - 1])
  }

  get length() {
    return this.starts.length
  }

  text(index) {
    return utf8(this.bytes.subarray(this.starts[index], this.ends[index]), () => `${this.#key}[${index}]`)
  }
}

function utf8(bytes, what) {
  try {
    return DECODER.decode(bytes)
  } catch {
    throw broken(`has a text that is not UTF-8: ${what()}`)
  }
}

/** A text; its bytes if they are not UTF-8, which only matters if the value is used. */
function textOrBytes(bytes) {
  try {
    return DECODER.decode(bytes)
  } catch {
    return bytes
  }
}

class Reader {
  #bytes
  #view
  #little = true
  at = MAGIC.length

  constructor(bytes) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** The place of a number of bytes, which are read. */
  #take(count) {
    const at = this.at
    if (count > this.#bytes.length - at) throw MORE
    this.at += count
    return at
  }

  /** Whether numbers start with their lowest byte. */
  get isLittle() {
    return this.#little
  }

  number(type) {
    return NUMBERS[type](this.#view, this.#take(SIZES[type]), this.#little)
  }

  /** The version is a small number in the byte order of the file. */
  version() {
    const version = this.number(4)
    if (version % 65_536 !== 0) return version
    this.#little = false
    this.at = MAGIC.length
    return this.number(4)
  }

  /** A length in bytes or entries of at least `size` bytes, which the metadata could hold. */
  length(what, size = 1) {
    const length = this.number(10)
    if (length > MAX_BYTES / size) throw broken(`says that ${what} has the length ${length}`)
    return length
  }

  text(what, limit = MAX_BYTES) {
    const length = this.length(what)
    if (length > limit) throw broken(`says that ${what} has the length ${length}`)
    const at = this.#take(length)
    return this.#bytes.subarray(at, at + length)
  }

  *value(type, key) {
    if (type === TEXT) return textOrBytes(this.text(key))
    if (type === LIST) return yield* this.#list(key)
    if (SIZES[type] === undefined) throw broken(`has a value of the unknown type ${type}: ${key}`)
    return type === FLAG ? this.number(type) !== 0 : this.number(type)
  }

  *#list(key) {
    const type = this.number(4)
    if (type === TEXT) return yield* this.#texts(key)
    const size = SIZES[type]
    if (size === undefined) throw broken(`has a list of the type ${type}, which is not supported: ${key}`)
    const length = this.length(key, size)
    const at = this.#take(length * size)
    const read = NUMBERS[type]
    return {
      length,
      at: (index) => read(this.#view, at + index * size, this.#little),
      bytes: this.#bytes.subarray(at, at + length * size),
    }
  }

  *#texts(key) {
    const length = this.length(key, 8)
    if (length * 8 > this.#bytes.length - this.at) throw MORE
    const [starts, ends, start] = [new Uint32Array(length), new Uint32Array(length), this.at]
    yield* inTurns(length, (index) => {
      starts[index] = this.#take(this.length(key))
      ends[index] = this.at
    })
    return new Texts(key, this.#bytes, starts, ends, start)
  }
}

/** @typedef {{ values: Map<string, any>, length: number, isLittle: boolean }} Metadata */

/**
 * The metadata of a file of which `bytes` are the start, as values by key, the number of bytes that
 * they take, and their byte order; undefined if the bytes end before the metadata does. A number
 * is a Number, a text a string (its bytes if they are not UTF-8), a list of texts a Texts, another
 * list { length, at(index), bytes }. This is work of lib/steps.js.
 *
 * @param {Uint8Array} bytes which start like a GGUF file
 * @returns {Generator<any, Metadata | undefined, any>}
 */
function* metadataOf(bytes) {
  const reader = new Reader(bytes)
  try {
    return { values: yield* read(reader), length: reader.at, isLittle: reader.isLittle }
  } catch (failure) {
    if (failure !== MORE) throw failure
    return undefined
  }
}

function* read(reader) {
  const version = reader.version()
  if (version !== 2 && version !== 3) {
    const message = `the GGUF file has the version ${version}: versions 2 and 3 are supported`
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  reader.number(10)
  // A value takes at least a key's length, its type and a byte.
  const count = reader.length('the metadata', 13)
  if (count > MAX_VALUES)
    throw error('ERR_TOKENLANE_TOO_LARGE', `the metadata of the GGUF file have more than ${MAX_VALUES} values`)
  const values = new Map()
  for (let index = 0; index < count; index++) {
    const key = utf8(reader.text(`key ${index}`, MAX_KEY_BYTES), () => `key ${index}`)
    if (values.has(key)) throw broken(`has the key ${key} twice`)
    values.set(key, yield* reader.value(reader.number(4), key))
  }
  return values
}

/** The error for metadata that do not end within the first `length` bytes. */
const unended = (length) =>
  length < MAX_BYTES
    ? broken('ends within its metadata: is it cut off?')
    : error('ERR_TOKENLANE_TOO_LARGE', `the metadata of the GGUF file has more than ${MAX_BYTES} bytes`)

/**
 * The metadata of a file that is in memory. The caller may change it while the call waits.
 *
 * @returns {Generator<any, Metadata, any>}
 */
function* wholeMetadata(file) {
  const start = file.subarray(0, MAX_BYTES)
  const metadata = yield* metadataOf(
    yield step(
      () => start,
      () => copyOfBytes(start),
    ),
  )
  if (metadata === undefined) throw unended(start.length)
  return metadata
}

module.exports = { MAX_BYTES, broken, isGguf, metadataOf, unended, wholeMetadata }
