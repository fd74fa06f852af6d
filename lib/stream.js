'use strict'

const { typeError } = require('./errors.js')
const { toIds } = require('./ids.js')
const native = require('./native.js')
const { checkId } = require('./options.js')

// Makes the constructor private: only Tokenizer.decodeStream creates streams.
const INTERNAL = Symbol('internal')

/** The maximum number of ids of a tokenizer whose texts are kept here. */
const MAX_TEXTS = 65_536

/**
 * By tokenizer, for streams with and without special tokens: the text that an id adds wherever it
 * stands between two characters, `null` if there is no such text. Most ids of most tokenizers have
 * one, and their push never enters the addon.
 *
 * @type {WeakMap<object, [kept: Map<number, string | null>, skipped: Map<number, string | null>]>}
 */
const TEXTS = new WeakMap()

function textsOf(handle, skipSpecialTokens) {
  let texts = TEXTS.get(handle)
  if (texts === undefined) TEXTS.set(handle, (texts = [new Map(), new Map()]))
  return texts[skipSpecialTokens ? 1 : 0]
}

class DecodeStream {
  #stream
  #texts
  /** Whether the text so far certainly ends between two characters. */
  #isBetween = true
  /** The number of ids that the addon does not know of yet. */
  #skipped = 0

  constructor(stream, texts, internal) {
    if (internal !== INTERNAL) {
      throw typeError(
        'ERR_TOKENLANE_ARGUMENT_TYPE',
        'DecodeStream has no public constructor; call tokenizer.decodeStream()',
      )
    }
    this.#stream = stream
    this.#texts = texts
  }

  push(ids) {
    if (typeof ids !== 'number') {
      const list = toIds('ids', ids)
      this.#isBetween = false
      return native.streamPush(this.#stream, list, this.#takeSkipped())
    }
    let text = this.#texts.get(ids)
    if (this.#isBetween && typeof text === 'string') {
      this.#skipped++
      return text
    }
    checkId('ids', ids)
    const pushed = native.streamPushId(this.#stream, ids, this.#takeSkipped())
    if (text === undefined) {
      text = native.streamText(this.#stream, ids)
      if (this.#texts.size < MAX_TEXTS) this.#texts.set(ids, text)
    }
    // A token of whole characters also ends an incomplete one before it; an empty token does not.
    if (text !== '') this.#isBetween = text !== null
    return pushed
  }

  end() {
    this.#isBetween = true
    this.#skipped = 0
    return native.streamEnd(this.#stream)
  }

  #takeSkipped() {
    const skipped = this.#skipped
    this.#skipped = 0
    return skipped
  }

  toTransformStream() {
    const { ofIds, transformStream } = require('./iterables.js')
    return transformStream(ofIds(this))
  }
}

const decodeStream = (handle, skipSpecialTokens) =>
  new DecodeStream(native.decodeStream(handle, skipSpecialTokens), textsOf(handle, skipSpecialTokens), INTERNAL)

module.exports = { DecodeStream, MAX_TEXTS, decodeStream, textsOf }
