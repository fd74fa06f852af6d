'use strict'

const native = require('./native.js')
const { hasOffsets } = require('./options.js')

// The numbers of the columns in src/encoding.rs.
const OFFSETS = 0
const TOKENS = 1
const SPECIAL_TOKENS_MASK = 2
const TYPE_IDS = 3
const ATTENTION_MASK = 4
const WORD_IDS = 5
const SEQUENCE_IDS = 6

/** What one text became. The ids are there; every other column is computed from the text when it is first asked for. */
class Encoding {
  #ids
  #handle
  #text
  #flags
  #listed
  #columns

  constructor(ids, handle, text, flags, listed) {
    this.#ids = ids
    this.#handle = handle
    this.#text = text
    this.#flags = flags
    this.#listed = listed
  }

  get ids() {
    return this.#ids
  }

  get length() {
    return this.#ids.length
  }

  get offsets() {
    return hasOffsets(this.#flags) ? this.#column(OFFSETS, asUint32) : undefined
  }

  get tokens() {
    return this.#column(TOKENS, asIs)
  }

  get specialTokensMask() {
    return this.#column(SPECIAL_TOKENS_MASK, asIs)
  }

  get typeIds() {
    return this.#column(TYPE_IDS, asUint32)
  }

  get attentionMask() {
    return this.#column(ATTENTION_MASK, asIs)
  }

  get wordIds() {
    return this.#column(WORD_IDS, asInt32)
  }

  get sequenceIds() {
    return this.#column(SEQUENCE_IDS, asInt32)
  }

  #column(which, view) {
    this.#columns ??= []
    this.#columns[which] ??= view(native.column(this.#handle, this.#text, this.#flags, this.#listed, which))
    return this.#columns[which]
  }
}

const asIs = (column) => column
const asUint32 = (buffer) => new Uint32Array(buffer)
// The core's mark for "none", the largest word, reads as -1.
const asInt32 = (buffer) => new Int32Array(buffer)

module.exports = { Encoding }
