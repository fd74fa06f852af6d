'use strict'

const native = require('./native.js')
const { error, typeError, wrongType, wrongValue } = require('./errors.js')
const { collectIfRequested } = require('./memory.js')
const { COLUMN_NAMES } = require('./options.js')
const { isArrayBuffer } = require('./realm.js')

// Node 20 defines the symbol by this name, because its V8 does not have it.
const DISPOSE = Symbol.dispose ?? Symbol.for('nodejs.dispose')

const INSPECT = Symbol.for('nodejs.util.inspect.custom')

// The views of the columns. Word ids and sequence ids are -1 where the core has u32::MAX, "none".
const VIEWS = {
  offsets: Uint32Array,
  tokens: Array,
  specialTokensMask: Uint8Array,
  typeIds: Uint32Array,
  attentionMask: Uint8Array,
  wordIds: Int32Array,
  sequenceIds: Int32Array,
}
/** @type {[string, any][]} */
const COLUMN_VIEWS = COLUMN_NAMES.map((name) => [name, VIEWS[name]])

// Makes the constructor private: only batchOf creates batches.
const INTERNAL = Symbol('internal')

/** structuredClone and postMessage would copy a Batch as an empty object: see lib/tokenizer.js. */
const cannotBeCloned = () => 'send ids, rowOffsets and the columns that you need of a Batch. It'

/** Rows of ids in one buffer, and columns in others. Its properties are views of them. */
class Batch {
  #slab
  #rows
  #ids
  #rowOffsets
  #rowTexts
  #columns = {}

  constructor(internal, slab, rows, rowTexts, ...columns) {
    if (internal !== INTERNAL) {
      throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'Batch has no public constructor; call tokenizer.encodeBatch()')
    }
    collectIfRequested()
    this.clone = cannotBeCloned
    this.#slab = slab
    this.#rows = rows
    this.#rowOffsets = new Uint32Array(slab, 0, rows + 1)
    this.#ids = new Uint32Array(slab, (rows + 1) * 4)
    if (rowTexts) this.#rowTexts = new Uint32Array(rowTexts)
    COLUMN_VIEWS.forEach(([name, View], index) => {
      const column = columns[index]
      if (column) this.#columns[name] = isArrayBuffer(column) ? new View(column) : column
    })
  }

  get length() {
    return this.#isOpen ? this.#rows : 0
  }

  /** False after dispose(), and after the caller transferred the memory to another thread. */
  get #isOpen() {
    return this.#slab !== undefined && this.#slab.byteLength > 0
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
    const { offsets } = this
    this.#checkColumn(offsets)
    return offsets?.subarray(this.#rowOffsets[index] * 2, this.#rowOffsets[index + 1] * 2)
  }

  /** The rows as a rectangle, in the form of onnxruntime-node's tensors. */
  tensor(type, column = 'ids') {
    this.#checkOpen()
    const expected = "'int64' or 'int32'"
    if (typeof type !== 'string') throw wrongType('type', expected, type)
    if (type !== 'int64' && type !== 'int32') throw wrongValue('type', expected, type)
    const names = ['ids', 'attentionMask', 'typeIds', 'specialTokensMask', 'wordIds', 'sequenceIds']
    if (!names.includes(column)) throw wrongValue('column', names.map((name) => `'${name}'`).join(' or '), column)
    const values = this[column]
    if (values === undefined) {
      throw wrongValue('column', `a column that the call requested (columns: ['${column}'])`, column)
    }
    this.#checkColumn(values)
    const ends = this.#rowOffsets
    let width = 0
    for (let row = 0; row < this.#rows; row++) width = Math.max(width, ends[row + 1] - ends[row])
    const wide = type === 'int64'
    const data = wide ? new BigInt64Array(this.#rows * width) : new Int32Array(this.#rows * width)
    // Writes the 32-bit halves of each 64-bit integer. All supported machines are little-endian, so
    // the lower half comes first.
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
    for (let index = 0; index < this.length; index++) yield this.row(index)
  }

  toJSON() {
    this.#checkOpen()
    for (const values of Object.values(this.#columns)) this.#checkColumn(values)
    return require('./print.js').batchJson(this, Object.keys(this.#columns))
  }

  /** @param {import('./print.js').InspectArguments} args */
  [INSPECT](...args) {
    if (!(#slab in this)) return 'Batch.prototype'
    return require('./print.js').printBatch(this, Object.keys(this.#columns), !this.#isOpen, ...args)
  }

  /** Frees the memory now; otherwise the finalizers of its ArrayBuffers do (src/results.rs). */
  dispose() {
    if (this.#slab === undefined) return
    // Includes an attention mask that was created here.
    const others = [this.#rowTexts, ...Object.values(this.#columns)].filter(ArrayBuffer.isView)
    for (const buffer of [this.#slab, ...others.map((view) => view.buffer)]) native.detach(buffer)
    this.#slab = undefined
    this.#rows = 0
  }

  [DISPOSE]() {
    this.dispose()
  }

  #checkOpen() {
    if (this.#slab === undefined) throw error('ERR_TOKENLANE_DISPOSED', 'the batch was disposed and has no rows')
    if (!this.#isOpen) throw transferred('the batch')
  }

  /** The columns have memory of their own. */
  #checkColumn(values) {
    if (values?.length === 0 && this.#ids.length > 0) throw transferred('a column of the batch')
  }

  #check(index) {
    this.#checkOpen()
    if (typeof index !== 'number') throw wrongType('index', 'a number', index)
    if (!(Number.isInteger(index) && index >= 0 && index < this.#rows)) {
      throw wrongValue('index', `a row of the batch (it has ${this.#rows}, counted from 0)`, index)
    }
  }
}

const transferred = (what) =>
  typeError('ERR_TOKENLANE_BUFFER', `the memory of ${what} was detached: it was transferred`)

/** Creates a batch from the result of the addon. */
const batchOf = (parts) => new Batch(INTERNAL, ...parts)

module.exports = { Batch, batchOf }
