'use strict'

const { spend } = require('./budget.js')
const { Undefined } = require('./values.js')

/** Names and their values. What is not here may be in the scope around it. */
class Scope {
  #around
  #names

  constructor(around, names = new Map()) {
    spend(4)
    this.#around = around
    this.#names = names
  }

  get(name) {
    for (let scope = this; scope !== undefined; scope = scope.#around) {
      spend(1)
      const value = scope.#names.get(name)
      if (value !== undefined) return value
    }
    return new Undefined(`'${name}' is undefined`)
  }

  set(name, value) {
    spend(1)
    this.#names.set(name, value)
  }
}

module.exports = { Scope }
