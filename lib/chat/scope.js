'use strict'

const { allocateList, spend } = require('./budget.js')
const { TemplateError, Undefined } = require('./values.js')

const STEPS_PER_HOP = 1 / 16
const STEPS_PER_CLEARED_NAME = 1 / 16

/**
 * The names that a part of a template sets, collected when it is compiled. Each name has an index
 * in the scope. A name is resolved on first use, because a macro may use a name that is set after
 * it.
 */
class Names {
  #around
  #places = new Map()
  /** Results of `find`. Names are only looked up when all of them are declared. */
  #found = new Map()
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
   * The places where a name may be set, innermost first: the number of scopes outwards from the
   * place before, and the index.
   */
  find(name) {
    let found = this.#found.get(name)
    if (found !== undefined) return found
    found = []
    let hops = 0
    for (let names = this; names !== undefined; names = names.#around, hops++) {
      const place = names.#places.get(name)
      if (place === undefined) continue
      found.push({ hops, place })
      hops = 0
    }
    this.#found.set(name, found)
    return found
  }

  /** A function of the scope that returns the value of a name. */
  getter(name) {
    let found
    return (scope) => {
      found ??= this.find(name)
      const { globals } = scope
      let owner = scope
      for (const { hops, place } of found) {
        spend(0.25 + STEPS_PER_HOP * hops)
        owner = owner.outer(hops)
        const value = owner.values[place]
        if (value !== undefined) return value
      }
      spend(0.25)
      // In jinja2 it gives access to blocks of templates, and hides a variable of this name.
      if (name === 'self') throw new TemplateError("'self' is not supported")
      return globals.get(name) ?? missing(globals, name)
    }
  }
}

function missing(globals, name) {
  if (globals.has(name)) return null
  spend(4)
  return new Undefined(`'${name}' is undefined`)
}

/** The values of the names that a running part of a template has set. */
class Scope {
  constructor(around, names, globals = around.globals) {
    spend(1)
    allocateList(names.size)
    this.around = around
    this.globals = globals
    this.values = new Array(names.size).fill(undefined)
  }

  /** Resets the scope for the next iteration. */
  clear() {
    spend(0.5 + STEPS_PER_CLEARED_NAME * this.values.length)
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
