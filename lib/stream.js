'use strict'

const { typeError } = require('./errors.js')
const { toIds } = require('./ids.js')
const native = require('./native.js')
const { checkId } = require('./options.js')

// Only Tokenizer.decodeStream makes streams.
const MAKER = Symbol('maker')

class DecodeStream {
  #stream

  constructor(stream, maker) {
    if (maker !== MAKER) {
      throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'a DecodeStream is made by tokenizer.decodeStream()')
    }
    this.#stream = stream
  }

  push(ids) {
    if (typeof ids === 'number') {
      checkId('ids', ids)
      ids = Uint32Array.of(ids)
    }
    return native.streamPush(this.#stream, toIds('ids', ids))
  }

  end() {
    return native.streamEnd(this.#stream)
  }

  toTransformStream() {
    const hand = (text, controller) => text !== '' && controller.enqueue(text)
    return new TransformStream({
      transform: (ids, controller) => void hand(this.push(ids), controller),
      flush: (controller) => void hand(this.end(), controller),
    })
  }
}

const decodeStream = (handle, skipSpecialTokens) =>
  new DecodeStream(native.decodeStream(handle, skipSpecialTokens), MAKER)

module.exports = { DecodeStream, decodeStream }
