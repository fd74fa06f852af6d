'use strict'

// The variable `loop` of loops, and the cyclers that templates make.

const { spend } = require('./render-cost.js')
const { equals } = require('./compare.js')
const { positional } = require('./arguments.js')
const { Range, TemplateError, Tuple, Undefined, listOf } = require('./values.js')

class Loop {
  #list
  #iterator
  #depth
  #at = -1
  /** Number of values that were read from the iterator, or from the list. */
  #read = 0
  #length
  /** The value after the current one, if it was read ahead. */
  #after
  #before
  #last
  current

  /**
   * `values` is a list, a range, or an iterator whose values are computed late. `call`
   * renders the loop for other values. It is only defined in recursive loops.
   */
  constructor(values, depth, call) {
    const isList = Array.isArray(values) || values instanceof Range
    this.#list = isList ? values : undefined
    this.#iterator = isList ? undefined : values[Symbol.iterator]()
    this.#length = isList ? values.length : undefined
    this.#depth = depth
    this.call = call
  }

  /** Moves to the next value. Returns whether there is one. */
  next() {
    const value = this.#after === undefined ? this.#pull() : this.#after
    this.#after = undefined
    if (value === undefined) return false
    this.#at++
    this.#before = this.current
    this.current = value
    return true
  }

  /** Reads a value, or undefined at the end. */
  #pull() {
    if (this.#list !== undefined) return this.#read < this.#list.length ? this.#list.at(this.#read++) : undefined
    spend(2)
    return this.#iterator.next().value
  }

  /** The value after the current one, or undefined. */
  #peek() {
    if (this.#after === undefined) this.#after = this.#pull()
    return this.#after
  }

  /** The number of values, for which all of them are read. */
  #size() {
    if (this.#length !== undefined) return this.#length
    const rest = listOf({ [Symbol.iterator]: () => this.#iterator })
    this.#list = rest
    this.#length = rest.length + this.#at + 1 + (this.#after === undefined ? 0 : 1)
    return this.#length
  }

  /** What Python prints. */
  get printed() {
    return `<LoopContext ${this.#at + 1}/${this.#size()}>`
  }

  /** Returns the attribute with a name, or undefined. */
  get(name) {
    spend(1)
    const at = this.#at
    switch (name) {
      case 'index':
        return at + 1
      case 'index0':
        return at
      case 'revindex':
        return this.#size() - at
      case 'revindex0':
        return this.#size() - at - 1
      case 'first':
        return at === 0
      case 'last':
        return this.#peek() === undefined
      case 'length':
        return this.#size()
      case 'depth':
        return this.#depth + 1
      case 'depth0':
        return this.#depth
      case 'previtem':
        return at === 0 ? noElement() : this.#before
      case 'nextitem':
        return this.#peek() === undefined ? noElement() : this.#after
      case 'cycle':
        return positional((args) => this.#cycle(args))
      case 'changed':
        return positional((args) => this.#changed(Tuple.from(args)))
      default:
        return undefined
    }
  }

  #cycle(args) {
    if (args.length === 0) throw new TemplateError('loop.cycle needs values')
    return args[this.#at % args.length]
  }

  #changed(values) {
    const isSame = this.#last !== undefined && equals(this.#last, values)
    this.#last = values
    return !isSame
  }
}

const noElement = () => new Undefined('there is no such element of the loop')

/** jinja2's cycler: repeats its values. */
class Cycler {
  #values
  #at = 0

  constructor(values) {
    this.#values = values
  }

  /** Returns the attribute with a name, or undefined. */
  get(name) {
    spend(1)
    switch (name) {
      case 'items':
        return this.#values
      case 'pos':
        return this.#at
      case 'current':
        return this.#values[this.#at]
      case 'next':
        return positional(() => this.#values[this.#step((this.#at + 1) % this.#values.length)])
      case 'reset':
        return positional(() => {
          this.#step(0)
          return null
        })
      default:
        return undefined
    }
  }

  /** Changes the position, and returns the one before. */
  #step(to) {
    const before = this.#at
    this.#at = to
    return before
  }
}

module.exports = { Cycler, Loop }
