'use strict'

const { typeError } = require('./errors.js')
const { toIds } = require('./ids.js')
const native = require('./native.js')
const { checkId } = require('./options.js')

// Makes the constructor private: only Tokenizer.decodeStream creates streams.
const INTERNAL = Symbol('internal')

class DecodeStream {
  #stream

  constructor(stream, internal) {
    if (internal !== INTERNAL) {
      throw typeError(
        'ERR_TOKENLANE_ARGUMENT_TYPE',
        'DecodeStream has no public constructor; call tokenizer.decodeStream()',
      )
    }
    this.#stream = stream
  }

  push(ids) {
    if (typeof ids === 'number') {
      checkId('ids', ids)
      return native.streamPushId(this.#stream, ids)
    }
    return native.streamPush(this.#stream, toIds('ids', ids))
  }

  end() {
    return native.streamEnd(this.#stream)
  }

  toTransformStream() {
    const enqueue = (text, controller) => text !== '' && controller.enqueue(text)
    return new TransformStream({
      transform: (ids, controller) => void enqueue(this.push(ids), controller),
      flush: (controller) => void enqueue(this.end(), controller),
    })
  }
}

const decodeStream = (handle, skipSpecialTokens) =>
  new DecodeStream(native.decodeStream(handle, skipSpecialTokens), INTERNAL)

module.exports = { DecodeStream, decodeStream }
