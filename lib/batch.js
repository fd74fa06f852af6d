'use strict'

const native = require('./native.js')
const { error, wrongType, wrongValue } = require('./errors.js')

// Node 20 knows the symbol by this name before V8 does.
const DISPOSE = Symbol.dispose ?? Symbol.for('nodejs.dispose')

/** Rows of ids in one block of memory. What it hands out are views of that block. */
class Batch {
  #slab
  #offsetSlab
  #rows
  #ids
  #rowOffsets
  #offsets

  constructor(slab, rows, offsetSlab) {
    this.#slab = slab
    this.#rows = rows
    this.#offsetSlab = offsetSlab
    this.#rowOffsets = new Uint32Array(slab, 0, rows + 1)
    this.#ids = new Uint32Array(slab, (rows + 1) * 4)
    if (offsetSlab !== undefined) this.#offsets = new Uint32Array(offsetSlab)
  }

  get length() {
    return this.#rows
  }

  get ids() {
    return this.#ids
  }

  get rowOffsets() {
    return this.#rowOffsets
  }

  get offsets() {
    return this.#offsets
  }

  row(index) {
    this.#check(index)
    return this.#ids.subarray(this.#rowOffsets[index], this.#rowOffsets[index + 1])
  }

  offsetsOf(index) {
    this.#check(index)
    return this.#offsets?.subarray(this.#rowOffsets[index] * 2, this.#rowOffsets[index + 1] * 2)
  }

  *[Symbol.iterator]() {
    for (let index = 0; index < this.#rows; index++) yield this.row(index)
  }

  dispose() {
    if (this.#slab === undefined) return
    native.detach(this.#slab)
    if (this.#offsetSlab !== undefined) native.detach(this.#offsetSlab)
    this.#slab = this.#offsetSlab = undefined
    this.#rows = 0
  }

  [DISPOSE]() {
    this.dispose()
  }

  #check(index) {
    if (this.#slab === undefined) {
      throw error('ERR_TOKENLANE_DISPOSED', 'the batch was disposed of; its rows are gone')
    }
    if (typeof index !== 'number') throw wrongType('index', 'a number', index)
    if (!(Number.isInteger(index) && index >= 0 && index < this.#rows)) {
      throw wrongValue('index', `a row of the batch (it has ${this.#rows}, counted from 0)`, index)
    }
  }
}

module.exports = { Batch }
