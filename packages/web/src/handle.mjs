// Tokenizers as `lib/` holds them.

import { errors } from 'tokenlane/internal/base.js'
import { checksum } from './bits.mjs'
import { Instance, jsonOf } from './instance.mjs'
import { wasmModule } from './module.mjs'

/** Frees what lies in an instance that others still use. */
export function freed({ instance, free, id }) {
  if (!instance.isDead) guarded(instance, () => instance.exports[free](id))
}

// Workers of Cloudflare with a compatibility date before 2025-05-05 lack WeakRef and
// FinalizationRegistry: there, streams and changed tokenizers are freed with their instance.
const hasWeak = typeof WeakRef === 'function' && typeof FinalizationRegistry === 'function'
const registry = hasWeak ? new FinalizationRegistry(freed) : { register() {}, unregister() {} }

/** The limit of lib/limits.js, which a new instance gets. */
let maxExpansion

export function setMaxExpansion(factor) {
  maxExpansion = factor
  for (const reference of instances) {
    const instance = reference.deref()
    if (instance === undefined) instances.delete(reference)
    else if (!instance.isDead) guarded(instance, () => instance.exports.set_max_expansion(factor))
  }
}

/** @type {Set<WeakRef<Instance>>} */
const instances = new Set()

/** Runs `work` with an instance. A trap ends the instance and is an error. */
export function guarded(instance, work) {
  instance.isInDoubt = true
  let result
  try {
    result = work(instance)
  } catch (cause) {
    throw instance.failureOf(cause)
  }
  instance.isInDoubt = false
  return result
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
      if (sum !== undefined && checksum(bytes) !== sum) {
        const message =
          'an earlier error ended the instance of this tokenizer, and the bytes that it was loaded from have changed since: load it again'
        throw errors.error('ERR_TOKENLANE_DISPOSED', message)
      }
      const json = jsonOf(options)
      const instance = newInstance()
      const id = guarded(instance, () => {
        const length = instance.write(bytes)
        return instance.check(instance.exports.load(length, instance.writeJson(json, length)))
      })
      sum ??= checksum(bytes)
      return [instance, id]
    }
    return new Handle(build, isModel(bytes) ? 'sentencepiece' : undefined)
  }

  /** A tokenizer with changes, in the same instance. */
  change(changes) {
    return new Handle(() => {
      const json = jsonOf(changes)
      const { instance, id: original } = this
      const id = guarded(instance, () => instance.check(instance.exports.change(original, instance.writeJson(json, 0))))
      return [instance, id]
    }, this.format)
  }
}

/** A stream of an instance, with which it ends. `begin(instance)` returns its number. */
class InstanceStream {
  instance
  id

  constructor(handle, free, begin) {
    this.instance = handle.instance
    this.id = guarded(this.instance, (instance) => instance.check(begin(instance)))
    registry.register(this, { instance: this.instance, free, id: this.id })
  }
}

/** A stream that decodes. */
export class Stream extends InstanceStream {
  constructor(handle, skipSpecialTokens) {
    super(handle, 'free_stream', ({ exports }) => exports.stream(handle.id, Number(skipSpecialTokens)))
  }
}

/** A stream that stops. */
export class StopStream extends InstanceStream {
  constructor(handle, request) {
    const json = jsonOf(request)
    super(handle, 'free_stop_stream', (instance) =>
      instance.exports.stop_stream(handle.id, instance.writeJson(json, 0)),
    )
  }
}
