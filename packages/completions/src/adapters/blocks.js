'use strict'

// Streams of clients consist of blocks that begin, grow and end; events of a completion have no
// ends of texts. A block is `{ type: 'text' | 'reasoning' | 'toolCall', index }`, for a call with
// its id, name and text so far.

/**
 * The steps of the blocks of a stream: `{ step: 'start' | 'delta' | 'end' | 'finish' }`, with the
 * block, the text by which it grows, or the reason of the end.
 *
 * @returns {AsyncGenerator<{ step: string, block?: any, delta?: string, reason?: string }>}
 */
async function* blocksOf(events) {
  let block
  let count = 0
  for await (const event of events) {
    if (event.type === 'damage') continue
    if (event.type === 'finish') {
      if (block !== undefined) yield { step: 'end', block }
      yield { step: 'finish', reason: event.reason }
      return
    }
    const isSame = block?.type === event.type && block.call === event.index
    if (!isSame) {
      if (block !== undefined) yield { step: 'end', block }
      block = { type: event.type, index: count++, call: event.index, id: event.id, name: event.name, text: '' }
      yield { step: 'start', block }
    }
    const delta = event.text ?? event.arguments
    block.text += delta
    if (delta !== '') yield { step: 'delta', block, delta }
    if (event.isDone) {
      yield { step: 'end', block }
      block = undefined
    }
  }
}

/** The events of calls from what clients have of them: an index, and an id and a name at first. */
class CallEvents {
  #calls = []

  /**
   * The id and the name are in the first piece of a call.
   *
   * @param {{ id?: string, name?: string }} [first]
   */
  event(index, text, first = {}) {
    const call = (this.#calls[index] ??= { type: 'toolCall', index, id: first.id, name: first.name })
    return { ...call, arguments: text ?? '' }
  }

  get count() {
    return this.#calls.length
  }

  /** The event that ends a call. */
  end(index) {
    const call = this.#calls[index]
    if (call === undefined || call.hasEnded) return []
    Object.defineProperty(call, 'hasEnded', { value: true })
    return [{ ...call, arguments: '', isDone: true }]
  }

  endAll() {
    return this.#calls.flatMap((_, index) => this.end(index))
  }
}

const REASONS = ['stop', 'tool_calls', 'length', 'content_filter']

/** Why an answer ended, by the word of a client. Errors and others are the end of a text. */
function reasonOf(word) {
  const reason = word === 'function_call' ? 'tool_calls' : String(word).replace('-', '_')
  return REASONS.includes(reason) ? reason : 'stop'
}

module.exports = { CallEvents, REASONS, blocksOf, reasonOf }
