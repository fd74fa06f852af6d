'use strict'

// The variable `loop` of loops, and the cyclers that templates make.

const { spend } = require('./budget.js')
const { equals } = require('./compare.js')
const { positional } = require('./arguments.js')
const { TemplateError, Tuple, Undefined } = require('./values.js')

class Loop {
  #list
  #at = -1
  #depth
  #last

  /** `call` renders the loop for another list. It is only defined in recursive loops. */
  constructor(list, depth, call) {
    this.#list = list
    this.#depth = depth
    this.call = call
  }

  next() {
    this.#at++
  }

  /** Returns the attribute with a name, or undefined. */
  get(name) {
    spend(1)
    const { length } = this.#list
    const at = this.#at
    switch (name) {
      case 'index':
        return at + 1
      case 'index0':
        return at
      case 'revindex':
        return length - at
      case 'revindex0':
        return length - at - 1
      case 'first':
        return at === 0
      case 'last':
        return at === length - 1
      case 'length':
        return length
      case 'depth':
        return this.#depth + 1
      case 'depth0':
        return this.#depth
      case 'previtem':
        return this.#neighbour(at - 1)
      case 'nextitem':
        return this.#neighbour(at + 1)
      case 'cycle':
        return positional((args) => this.#cycle(args))
      case 'changed':
        return positional((args) => this.#changed(Tuple.from(args)))
      default:
        return undefined
    }
  }

  #neighbour(place) {
    return place >= 0 && place < this.#list.length
      ? this.#list.at(place)
      : new Undefined('there is no such element of the loop')
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
