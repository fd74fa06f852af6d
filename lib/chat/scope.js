'use strict'

const { spend } = require('./budget.js')
const { Undefined } = require('./values.js')

/**
 * The names that a part of a template sets, collected when it is compiled. Each name has an index
 * in the scope. A name is resolved on first use, because a macro may use a name that is set after
 * it.
 */
class Names {
  #around
  #places = new Map()
  /** Whether a function that outlives the scope captures it, so that the scope cannot be reused. */
  isCaptured = false

  constructor(around) {
    this.#around = around
  }

  get size() {
    return this.#places.size
  }

  capture() {
    for (let names = this; names !== undefined; names = names.#around) names.isCaptured = true
  }

  /** Returns the index of a name that is set here. */
  declare(name) {
    if (!this.#places.has(name)) this.#places.set(name, this.#places.size)
    return this.#places.get(name)
  }

  /**
   * The places where a name may be set, innermost first: the number of scopes outwards, and the
   * index.
   */
  find(name) {
    const found = []
    for (let names = this, hops = 0; names !== undefined; names = names.#around, hops++) {
      const place = names.#places.get(name)
      if (place !== undefined) found.push({ hops, place })
    }
    return found
  }

  /** A function of the scope that returns the value of a name. */
  getter(name) {
    let found
    return (scope) => {
      found ??= this.find(name)
      spend(0.25)
      for (let i = 0; i < found.length; i++) {
        const value = scope.outer(found[i].hops).values[found[i].place]
        if (value !== undefined) return value
      }
      return scope.globals.get(name) ?? missing(scope.globals, name)
    }
  }
}

const missing = (globals, name) => (globals.has(name) ? null : new Undefined(`'${name}' is undefined`))

/** The values of the names that a running part of a template has set. */
class Scope {
  constructor(around, names, globals = around.globals) {
    spend(1)
    this.around = around
    this.globals = globals
    this.values = new Array(names.size).fill(undefined)
  }

  /** Resets the scope for the next iteration. */
  clear() {
    spend(0.5)
    for (let i = 0; i < this.values.length; i++) this.values[i] = undefined
  }

  /** The scope `hops` levels outwards. */
  outer(hops) {
    let scope = this
    for (let i = 0; i < hops; i++) scope = scope.around
    return scope
  }
}

module.exports = { Names, Scope }
