'use strict'

// The variables of running parts of a template. symbols.js decides which variable a name means.

const { allocateList, spend } = require('./render-cost.js')
const { Load } = require('./symbols.js')
const { TemplateError, Undefined } = require('./values.js')

const STEPS_PER_READ = 0.25
const STEPS_PER_HOP = 1 / 16
const STEPS_PER_LOAD = 0.25
const STEPS_PER_RESOLVED_NAME = 1

/** The values of names that no frame has: what the template set for its blocks, and others. */
class Context {
  /** @param {Map<string, unknown>} values */
  constructor(values) {
    this.values = values
    this.set = new Map()
  }

  /** The value of a name, or undefined. */
  resolve(name) {
    return this.set.has(name) ? this.set.get(name) : this.values.get(name)
  }

  /** The context of a block that also sees these values. */
  derived(values) {
    const all = [...this.values, ...this.set, ...values]
    allocateList(2 * all.length)
    spend(all.length)
    return new Context(new Map(all))
  }
}

/** The local variables of a running function. A missing value is `undefined`. */
class Scope {
  constructor(locals, around, context = around.context) {
    spend(1)
    allocateList(locals.size)
    this.around = around
    this.context = context
    this.values = new Array(locals.size).fill(undefined)
  }

  /** The scope `hops` functions outwards. */
  outer(hops) {
    let scope = this
    for (let i = 0; i < hops; i++) scope = scope.around
    return scope
  }
}

/** A function of the scope that returns the value of a variable, which may be missing. */
function reader({ hops, slot }) {
  if (hops === 0) return (scope) => scope.values[slot]
  return (scope) => {
    spend(STEPS_PER_HOP * hops)
    return scope.outer(hops).values[slot]
  }
}

/** A function of the scope that returns the value of a name. */
function getter(name, frame) {
  const variable = frame.variable(name)
  const read = reader(variable)
  const isAssigned = variable.load === Load.PARAMETER && !frame.isDefining
  return (scope) => {
    spend(STEPS_PER_READ)
    const value = read(scope)
    if (value !== undefined) return value
    // jinja2 does not check these, and writes the word "missing" for a variable of an ended loop.
    if (isAssigned) throw new TemplateError(`the variable ${name} is not supported here`)
    spend(4)
    return new Undefined(`'${name}' is undefined`)
  }
}

/** A function of a value and the scope that sets a variable of a frame. */
function setter(name, frame) {
  const { slot } = frame.variable(name)
  if (!frame.isTop) return (value, scope) => void (scope.values[slot] = value)
  return (value, scope) => {
    scope.values[slot] = value
    scope.context.set.set(name, value)
  }
}

/** A function of the scope that loads the variables of a frame. */
function enter(frame) {
  const loads = Array.from(frame.loads, ([name, load]) => loadOf(name, load, frame)).filter(
    (load) => load !== undefined,
  )
  const steps = [...frame.loads.values()].reduce(
    (sum, load) => sum + (load === Load.RESOLVE ? STEPS_PER_RESOLVED_NAME : STEPS_PER_LOAD),
    0,
  )
  return (scope) => {
    spend(steps)
    for (let i = 0; i < loads.length; i++) loads[i](scope)
  }
}

function loadOf(name, load, frame) {
  if (load === Load.PARAMETER) return undefined
  const { slot } = frame.variable(name)
  if (load === Load.UNDEFINED) return (scope) => void (scope.values[slot] = undefined)
  if (load === Load.RESOLVE) return (scope) => void (scope.values[slot] = scope.context.resolve(name))
  const outer = frame.parent.variable(name)
  const isShared = frame.parent.locals === frame.locals
  const read = reader(isShared ? outer : { ...outer, hops: outer.hops + 1 })
  return (scope) => void (scope.values[slot] = read(scope))
}

/** A function of the scope that removes the variables of a frame. */
function leave(frame) {
  const slots = Array.from(frame.loads.keys(), (name) => frame.locals.slot(frame.level, name))
  return (scope) => {
    spend(STEPS_PER_LOAD * slots.length)
    for (let i = 0; i < slots.length; i++) scope.values[slots[i]] = undefined
  }
}

module.exports = { Context, Scope, enter, getter, leave, reader, setter }
