'use strict'

// The ids or the text of an answer as the text of a reader.

const { typeError, valueError } = require('./errors.js')

const MAX_ID = 0xffffffff

/** Throws for what is no chunk, before anything of it is read. */
function checkInput(chunk) {
  if (typeof chunk === 'string' || chunk?.[Symbol.toStringTag] === 'Uint32Array') return
  const isList = Array.isArray(chunk)
  if (!isList && typeof chunk !== 'number') throw typeError('the answer', 'a text or ids', chunk)
  for (const [i, id] of (isList ? chunk : [chunk]).entries()) {
    const name = isList ? `ids[${i}]` : 'the id'
    if (typeof id !== 'number') throw typeError(name, 'a number', id)
    if (!Number.isInteger(id) || id < 0 || id > MAX_ID) throw valueError(name, `an integer from 0 to ${MAX_ID}`, id)
  }
}

/** Text in chunks of any size. Half of a character waits for the other one. */
class TextInput {
  #half = ''

  push(text) {
    if (typeof text !== 'string') throw typeError('the answer', 'a text, as it was before', text)
    const whole = this.#half + text
    const last = whole.charCodeAt(whole.length - 1)
    const isHalf = last >= 0xd800 && last < 0xdc00
    this.#half = isHalf ? whole.at(-1) : ''
    return isHalf ? whole.slice(0, -1) : whole
  }

  end() {
    return this.#half
  }
}

/** Ids, decoded. A control token that has a place in the format is written as its mark. */
class IdInput {
  #stream
  #marks
  #controls

  /** @param {import('./formats.js').Compiled} format */
  constructor(tokenizer, format) {
    this.#stream = tokenizer.decodeStream({ skipSpecialTokens: false })
    if (typeof this.#stream?.push !== 'function') throw typeError('tokenizer', 'one of tokenlane', tokenizer)
    this.#marks = format.ids
    this.#controls = format.controls
  }

  push(ids) {
    if (typeof ids === 'number') return this.#marks.has(ids) ? this.#control(ids) : this.#stream.push(ids)
    if (typeof ids === 'string') throw typeError('the answer', 'ids, as it was before', ids)
    let [text, from] = ['', 0]
    for (let i = 0; i < ids.length; i++) {
      if (!this.#marks.has(ids[i])) continue
      if (i > from) text += this.#stream.push(ids.slice(from, i))
      text += this.#control(ids[i])
      from = i + 1
    }
    return from === ids.length ? text : text + this.#stream.push(ids.slice(from))
  }

  #control(id) {
    const mark = this.#marks.get(id)
    const text = this.#stream.push(id)
    const token = this.#controls[mark.charCodeAt(1) - 0xda00]
    return (text.endsWith(token) ? text.slice(0, text.length - token.length) : text) + mark
  }

  end() {
    return this.#stream.end()
  }
}

module.exports = { IdInput, TextInput, checkInput }
