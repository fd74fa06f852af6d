// Tokenizers as `lib/` holds them.

import errors from '../lib/errors.js'
import { Instance } from './instance.mjs'
import { wasmModule } from './module.mjs'

/** Frees what lies in an instance that others still use. */
function freed({ instance, free, id }) {
  if (!instance.isDead) instance.exports[free](id)
}

// Workers of Cloudflare with a compatibility date before 2025-05-05 lack WeakRef and
// FinalizationRegistry: there, streams and changed tokenizers are freed with their instance.
const hasWeak = typeof WeakRef === 'function' && typeof FinalizationRegistry === 'function'
const registry = hasWeak ? new FinalizationRegistry(freed) : { register() {}, unregister() {} }

/** A mixed sum of bytes, which shows whether a caller changed them. */
function checksum(bytes) {
  let sum = bytes.length
  const mix = (value) => (sum = Math.imul(sum ^ value, 0x01000193))
  // Four bytes at a time, from the first multiple of four on.
  const start = Math.min(-bytes.byteOffset & 3, bytes.length)
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, (bytes.length - start) >> 2)
  for (let index = 0; index < start; index++) mix(bytes[index])
  for (let index = 0; index < words.length; index++) mix(words[index])
  for (let index = start + 4 * words.length; index < bytes.length; index++) mix(bytes[index])
  return sum
}

/** The limit of lib/limits.js, which a new instance gets. */
let maxExpansion

export function setMaxExpansion(factor) {
  maxExpansion = factor
  for (const reference of instances) {
    const instance = reference.deref()
    if (instance === undefined) instances.delete(reference)
    else if (!instance.isDead) instance.exports.set_max_expansion(factor)
  }
}

/** @type {Set<WeakRef<Instance>>} */
const instances = new Set()

/** Runs `work` with an instance. A trap ends the instance and is an error. */
export function guarded(instance, work) {
  try {
    return work(instance)
  } catch (cause) {
    throw instance.trap(cause)
  }
}

export function newInstance() {
  const instance = new Instance(wasmModule())
  if (maxExpansion !== undefined) instance.exports.set_max_expansion(maxExpansion)
  if (hasWeak) instances.add(new WeakRef(instance))
  return instance
}

const WHITE_SPACE = [0x09, 0x0a, 0x0d, 0x20]

/** Whether bytes are a SentencePiece model: it starts with its first piece. JSON may start so. */
function isModel(bytes) {
  let start = 0
  while (WHITE_SPACE.includes(bytes[start])) start += 1
  return bytes[0] === 0x0a && bytes[start] !== 0x7b
}

export class Handle {
  /** `'sentencepiece'`, or undefined for other formats. */
  format
  #instance
  #id
  /** Builds the tokenizer in a new instance: returns the instance and the tokenizer. */
  #build

  constructor(build, format) {
    this.format = format
    this.#build = build
    this.#set(build())
  }

  #set([instance, id]) {
    this.#instance = instance
    this.#id = id
    registry.register(this, { instance, free: 'free_tokenizer', id }, this)
  }

  /** The instance; a new one, if a trap ended the last one. */
  get instance() {
    if (this.#instance.isDead) {
      registry.unregister(this)
      this.#set(this.#build())
    }
    return this.#instance
  }

  /** The number of the tokenizer; valid after `instance`. */
  get id() {
    return this.#id
  }

  /** The tokenizer of bytes in a new instance. */
  static load(bytes, options) {
    let sum
    const build = () => {
      if (sum === undefined) sum = checksum(bytes)
      else if (checksum(bytes) !== sum) {
        const message =
          'an earlier error ended the instance of this tokenizer, and the bytes that it was loaded from have changed since: load it again'
        throw errors.error('ERR_TOKENLANE_DISPOSED', message)
      }
      const instance = newInstance()
      const id = guarded(instance, () => {
        const length = instance.write(bytes)
        return instance.check(instance.exports.load(length, instance.writeJson(options, length)))
      })
      return [instance, id]
    }
    return new Handle(build, isModel(bytes) ? 'sentencepiece' : undefined)
  }

  /** A tokenizer with changes, in the same instance. */
  change(changes) {
    return new Handle(() => {
      const { instance } = this
      const id = guarded(instance, () =>
        instance.check(instance.exports.change(this.id, instance.writeJson(changes, 0))),
      )
      return [instance, id]
    }, this.format)
  }
}

/** A stream that decodes. It ends with its instance. */
export class Stream {
  instance
  id

  constructor(handle, skipSpecialTokens) {
    this.instance = handle.instance
    this.id = guarded(this.instance, (instance) =>
      instance.check(instance.exports.stream(handle.id, Number(skipSpecialTokens))),
    )
    registry.register(this, { instance: this.instance, free: 'free_stream', id: this.id })
  }
}
