'use strict'

// Tensor: the class of the results. The models of @huggingface/transformers accept instances of
// their own class only, so that class is used if the package is installed. Otherwise, and in a
// process that does not load the package, results have the class below. It has the same shape.

// This comes first: in a bundle of ES modules it reports why the modules of Node are not found.
const { importOptional, requireOptional } = require('tokenlane/internal/transformers.js')
const { inspect } = require('node:util')

const { bounded, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { nameOf } = require('tokenlane/internal/base.js').realm
const { env } = require('./env.js')

const PACKAGE = '@huggingface/transformers'

const ARRAYS = {
  bool: Uint8Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
}

/** An element as a number. What is none is refused, as are objects. */
function numberOf(value, isBig) {
  try {
    return isBig ? BigInt(primitive(value)) : Number(primitive(value))
  } catch {
    throw typeError('data must be numbers')
  }
}

/** The row of an index such as '0' or '-1'; undefined for names of other properties. */
function rowOf(tensor, key) {
  if (typeof key !== 'string' || !/^-?\d+$/.test(key)) return undefined
  const [rows] = tensor.dims
  const index = Number(key)
  if (index < -rows || index >= rows) {
    throw error('ARGUMENT_VALUE', `index ${key} is out of bounds for dimension 0 with size ${rows}`)
  }
  return index < 0 ? index + rows : index
}

/** Looks up `tensor[0]`. It is a prototype, so only names that the tensor lacks get here. */
const rows = new Proxy(Object.prototype, {
  get(target, key, tensor) {
    const row = tensor instanceof Tensor ? rowOf(tensor, key) : undefined
    return row === undefined ? Reflect.get(target, key, tensor) : tensor._row(row)
  },
})

class Tensor {
  constructor(type, data, dims) {
    if (typeof type !== 'string' || !Object.hasOwn(ARRAYS, type)) {
      throw typeError(`type must be one of ${Object.keys(ARRAYS).join(', ')}`)
    }
    if (!Array.isArray(dims) || !bounded(dims).every((dim) => Number.isSafeInteger(dim) && dim >= 0)) {
      throw typeError('dims must be an array of non-negative integers')
    }
    const Kind = ARRAYS[type]
    if (nameOf(data) !== Kind.name && !Array.isArray(data)) throw typeError(`data must be a ${Kind.name} or an array`)
    const isBig = type === 'int64' || type === 'uint64'
    const values = Array.isArray(data) ? Kind.from(bounded(data), (value) => numberOf(value, isBig)) : data
    const size = dims.reduce((product, dim) => product * dim, 1)
    if (values.length !== size) {
      throw error('TENSOR_SHAPE', `a tensor with the dimensions [${dims}] has ${size} elements, not ${values.length}`)
    }
    this.type = type
    this.data = values
    this.dims = dims
    this.size = size
    this.location = 'cpu'
  }

  /** A row: a view of the data with one dimension less. */
  _row(index) {
    const [, ...dims] = this.dims
    const size = dims.reduce((product, dim) => product * dim, 1)
    return new Tensor(this.type, this.data.subarray(index * size, (index + 1) * size), dims)
  }

  *[Symbol.iterator]() {
    if (this.dims.length === 0) throw typeError('a tensor without dimensions cannot be iterated')
    if (this.dims.length === 1) yield* this.data
    else for (let index = 0; index < this.dims[0]; index++) yield this._row(index)
  }

  item() {
    if (this.size === 1) return this.data[0]
    throw error('TENSOR_SHAPE', `a tensor with ${this.size} elements cannot be converted to a scalar`)
  }

  tolist() {
    if (this.dims.length === 0) return this.data[0]
    return this.dims.length === 1 ? Array.from(this.data) : Array.from(this, (row) => row.tolist())
  }

  clone() {
    return new Tensor(this.type, this.data.slice(), [...this.dims])
  }

  dispose() {}

  [inspect.custom](_depth, options, print) {
    const { type, dims, data, size } = this
    return `Tensor ${print({ type, dims, data, size }, options)}`
  }
}
Object.setPrototypeOf(Tensor.prototype, rows)

/** Whether a value is a tensor, of this class or of another one with its shape. */
const isTensor = (value) =>
  value instanceof Tensor || (Array.isArray(value?.dims) && typeof value.tolist === 'function')

// The ES module and the CommonJS module of the package have different classes. index.mjs replaces
// this loader.
let load = async () => requireOptional(PACKAGE, () => require(PACKAGE))
let search
let installed

function loadPackageWith(loader) {
  load = () => importOptional(PACKAGE, () => loader(PACKAGE))
}

/** Called with the installed package when it has been loaded. */
let adopt = (_package) => {}

function whenInstalled(callback) {
  adopt = callback
}

/** Finds the class of the installed package. A package that does not load counts as missing. */
async function findTensor() {
  if (env.Tensor !== undefined) return undefined
  search ??= load().then(
    (found) => {
      adopt(found)
      installed = found.Tensor
      return installed
    },
    () => undefined,
  )
  return search
}

function tensorOf(data, dims) {
  const Chosen = env.Tensor ?? installed ?? Tensor
  return new Chosen('int64', data, dims)
}

module.exports = { Tensor, findTensor, isTensor, loadPackageWith, tensorOf, whenInstalled }
