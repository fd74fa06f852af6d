'use strict'

const native = require('./native.js')
const { error, typeError, wrongType, wrongValue } = require('./errors.js')
const { collectIfRequested } = require('./memory.js')

// Node 20 knows the symbol by this name before V8 does.
const DISPOSE = Symbol.dispose ?? Symbol.for('nodejs.dispose')

// Where the columns stand behind the ids, in the order of src/options.rs, and how they are viewed.
const COLUMNS = [
  ['offsets', Uint32Array],
  ['tokens', Array],
  ['specialTokensMask', Uint8Array],
  ['typeIds', Uint32Array],
  ['attentionMask', Uint8Array],
  ['wordIds', Int32Array],
  ['sequenceIds', Int32Array],
]

// Only the calls that encode batches make them.
const MAKER = Symbol('maker')

/** Rows of ids in one block of memory. What it hands out are views of that block. */
class Batch {
  #slab
  #rows
  #ids
  #rowOffsets
  #rowTexts
  #columns = {}

  constructor(maker, slab, rows, rowTexts, ...columns) {
    if (maker !== MAKER) throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'a Batch is made by tokenizer.encodeBatch()')
    collectIfRequested()
    this.#slab = slab
    this.#rows = rows
    this.#rowOffsets = new Uint32Array(slab, 0, rows + 1)
    this.#ids = new Uint32Array(slab, (rows + 1) * 4)
    if (rowTexts) this.#rowTexts = new Uint32Array(rowTexts)
    COLUMNS.forEach(([name, View], index) => {
      const column = columns[index]
      if (column) this.#columns[name] = column instanceof ArrayBuffer ? new View(column) : column
    })
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

  get rowTexts() {
    return this.#rowTexts
  }

  get offsets() {
    return this.#columns.offsets
  }

  get tokens() {
    return this.#columns.tokens
  }

  get specialTokensMask() {
    return this.#columns.specialTokensMask
  }

  get typeIds() {
    return this.#columns.typeIds
  }

  get attentionMask() {
    this.#columns.attentionMask ??= new Uint8Array(this.#ids.length).fill(1)
    return this.#columns.attentionMask
  }

  get wordIds() {
    return this.#columns.wordIds
  }

  get sequenceIds() {
    return this.#columns.sequenceIds
  }

  row(index) {
    this.#check(index)
    return this.#ids.subarray(this.#rowOffsets[index], this.#rowOffsets[index + 1])
  }

  offsetsOf(index) {
    this.#check(index)
    return this.offsets?.subarray(this.#rowOffsets[index] * 2, this.#rowOffsets[index + 1] * 2)
  }

  /** Rows in one array of a fixed width, as onnxruntime-node takes them. */
  tensor(type, column = 'ids') {
    this.#checkAlive()
    const expected = "'int64' or 'int32'"
    if (typeof type !== 'string') throw wrongType('type', expected, type)
    if (type !== 'int64' && type !== 'int32') throw wrongValue('type', expected, type)
    const names = ['ids', 'attentionMask', 'typeIds', 'specialTokensMask', 'wordIds', 'sequenceIds']
    if (!names.includes(column)) throw wrongValue('column', names.map((name) => `'${name}'`).join(' or '), column)
    const values = this[column]
    if (values === undefined) throw wrongValue('column', `a column that the batch was asked for (columns: ['${column}'])`, column)
    const ends = this.#rowOffsets
    let width = 0
    for (let row = 0; row < this.#rows; row++) width = Math.max(width, ends[row + 1] - ends[row])
    const wide = type === 'int64'
    const data = wide ? new BigInt64Array(this.#rows * width) : new Int32Array(this.#rows * width)
    // A 64-bit integer is its lower half and a half of signs; all machines that the addon runs on store the lower first.
    const words = wide ? new Int32Array(data.buffer) : data
    const step = wide ? 2 : 1
    const isSigned = values instanceof Int32Array
    for (let row = 0; row < this.#rows; row++) {
      let at = row * width * step
      for (let index = ends[row]; index < ends[row + 1]; index++, at += step) {
        words[at] = values[index]
        if (wide && isSigned && values[index] < 0) words[at + 1] = -1
      }
    }
    return { type, data, dims: [this.#rows, width] }
  }

  *[Symbol.iterator]() {
    for (let index = 0; index < this.#rows; index++) yield this.row(index)
  }

  dispose() {
    if (this.#slab === undefined) return
    // The mask may have been made here: it would otherwise outlive what it is about.
    const others = [this.#rowTexts, ...Object.values(this.#columns)].filter(ArrayBuffer.isView)
    for (const buffer of [this.#slab, ...others.map((view) => view.buffer)]) native.detach(buffer)
    this.#slab = undefined
    this.#rows = 0
  }

  [DISPOSE]() {
    this.dispose()
  }

  #checkAlive() {
    if (this.#slab === undefined) {
      throw error('ERR_TOKENLANE_DISPOSED', 'the batch was disposed of; its rows are gone')
    }
  }

  #check(index) {
    this.#checkAlive()
    if (typeof index !== 'number') throw wrongType('index', 'a number', index)
    if (!(Number.isInteger(index) && index >= 0 && index < this.#rows)) {
      throw wrongValue('index', `a row of the batch (it has ${this.#rows}, counted from 0)`, index)
    }
  }
}

/** The batch of what the addon hands over. */
const batchOf = (blocks) => new Batch(MAKER, ...blocks)

module.exports = { Batch, batchOf }
