'use strict'

const { spend } = require('./budget.js')
const { Undefined } = require('./values.js')

/**
 * The names that a part of a template sets, found when it is compiled. A scope has a place for each.
 * A name is looked up when it is used first, because a macro may use what is set below it.
 */
class Names {
  #around
  #places = new Map()
  /** Whether a function that lives on uses a scope of these names, so that it cannot be used again. */
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

  /** The place of a name that is set here. */
  declare(name) {
    if (!this.#places.has(name)) this.#places.set(name, this.#places.size)
    return this.#places.get(name)
  }

  /** Where a name may be set: how many scopes further out, and at which place; the nearest first. */
  find(name) {
    const found = []
    for (let names = this, hops = 0; names !== undefined; names = names.#around, hops++) {
      const place = names.#places.get(name)
      if (place !== undefined) found.push({ hops, place })
    }
    return found
  }

  /** A function of the scope that gives the value of a name. */
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

  /** Makes the scope that of another iteration. */
  clear() {
    spend(0.5)
    for (let i = 0; i < this.values.length; i++) this.values[i] = undefined
  }

  /** The scope so many levels further out. */
  outer(hops) {
    let scope = this
    for (let i = 0; i < hops; i++) scope = scope.around
    return scope
  }
}

module.exports = { Names, Scope }
