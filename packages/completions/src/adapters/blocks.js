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
  const calls = new Map()
  let text
  let count = 0
  for await (const event of events) {
    if (event.type === 'damage') continue
    if (event.type === 'finish') {
      const open = [...calls.values()].filter((block) => !block.hasEnded)
      for (const block of text === undefined ? open : [...open, text]) yield { step: 'end', block }
      yield { step: 'finish', reason: event.reason }
      return
    }
    const isCall = event.type === 'toolCall'
    let block = isCall ? calls.get(event.index) : text?.type === event.type ? text : undefined
    // A client runs a call at its end, so it begins and ends once.
    if (block?.hasEnded) continue
    if (block === undefined) {
      if (text !== undefined) yield { step: 'end', block: text }
      block = { type: event.type, index: count++, id: event.id, name: event.name, text: '', hasEnded: false }
      if (isCall) calls.set(event.index, block)
      text = isCall ? undefined : block
      yield { step: 'start', block }
    }
    const delta = event.text ?? event.arguments
    block.text += delta
    if (delta !== '') yield { step: 'delta', block, delta }
    if (event.isDone) {
      block.hasEnded = true
      yield { step: 'end', block }
    }
  }
}

/** The events of calls from what clients have of them: a key, and an id and a name at first. */
class CallEvents {
  #calls = new Map()
  #open = new Set()
  #last

  /**
   * The event by which a call grows; none if it has ended. The id and the name are in the first
   * piece.
   *
   * @param {{ id?: string, name?: string }} [first]
   */
  grow(key, text, first = {}) {
    this.#last = key
    let call = this.#calls.get(key)
    if (call === undefined) {
      const index = this.#calls.size
      call = { type: 'toolCall', index, id: first.id ?? `call_${index}`, name: first.name ?? '' }
      this.#calls.set(key, call)
      this.#open.add(key)
    }
    return this.#open.has(key) ? [{ ...call, arguments: text ?? '' }] : []
  }

  /** The events of pieces of calls, of which each ends the calls before it. */
  *pieces(pieces) {
    for (const { index, id, name, text } of pieces) {
      const key = this.#keyOf(index, id, name)
      for (const open of this.#open) if (open !== key) yield* this.end(open)
      yield* this.grow(key, text, { id: id || undefined, name: name || undefined })
    }
  }

  /** Without an index, an id or a name begins a call; a piece without both is of the last one. */
  #keyOf(index, id, name) {
    if (index !== undefined && index !== null) return index
    if (id) return id
    return name || this.#last === undefined ? Symbol('a call') : this.#last
  }

  has(key) {
    return this.#calls.has(key)
  }

  get count() {
    return this.#calls.size
  }

  /** The event that ends a call. */
  end(key) {
    return this.#open.delete(key) ? [{ ...this.#calls.get(key), arguments: '', isDone: true }] : []
  }

  endAll() {
    return [...this.#open].flatMap((key) => this.end(key))
  }
}

/** What a server sends for a list: others stand for an empty one. */
const listOf = (value) => (Array.isArray(value) ? value.filter((one) => one) : [])

/** What a stream of OpenAI says of its answer. */
const FACTS = ['model', 'id', 'created']

const REASONS = ['stop', 'tool_calls', 'length', 'content_filter']

/** Why an answer ended, by the word of a client. Errors and others are the end of a text. */
function reasonOf(word) {
  const reason = word === 'function_call' ? 'tool_calls' : String(word).replace('-', '_')
  return REASONS.includes(reason) ? reason : 'stop'
}

module.exports = { CallEvents, FACTS, REASONS, blocksOf, listOf, reasonOf }
