'use strict'

// Which variable a name of a template means, decided when it is compiled, as in jinja2: its
// compiler turns a template into functions of Python, whose local variables are named by a level
// and a name. A frame is a part of a template with variables of its own. A name that a frame sets
// anywhere is a variable of this frame everywhere in it, also before it is set. A name that no
// frame sets comes from the caller.

const { allocate, spend } = require('./render-cost.js')
const { TemplateError } = require('./values.js')

/** Where a variable of a frame gets its value when the frame is entered. */
const Load = {
  /** The frame assigns it: a parameter of a macro, a target of a loop. */
  PARAMETER: 'parameter',
  /** The values of the caller. */
  RESOLVE: 'resolve',
  /** The variable with this name of a frame outside. */
  ALIAS: 'alias',
  /** Nowhere: it is undefined until it is set. */
  UNDEFINED: 'undefined',
}

/** The local variables of a function: the template, a block, a macro, or a part of a loop. */
class Locals {
  #slots = new Map()

  constructor(around) {
    this.around = around
  }

  get size() {
    return this.#slots.size
  }

  /** The index of a variable. Frames of one level share their variables, as in Python. */
  slot(level, name) {
    const key = `${level} ${name}`
    const slot = this.#slots.get(key)
    if (slot !== undefined) return slot
    allocate(100)
    this.#slots.set(key, this.#slots.size)
    return this.#slots.size - 1
  }
}

/** The names of a frame, or of a branch of `if` in it until it is merged into the frame. */
class Symbols {
  /** How the value of each name is loaded. */
  loads = new Map()
  /** The names that are set. */
  stores = new Set()

  /**
   * @param {Frame | undefined} parent the frame outside
   * @param {Symbols} [base] the symbols before a branch
   */
  constructor(parent, base) {
    this.parent = parent
    this.base = base
  }

  has(name) {
    spend(0.25)
    return this.loads.has(name) || (this.base?.has(name) ?? false)
  }

  isStored(name) {
    return this.stores.has(name) || (this.base?.isStored(name) ?? false)
  }

  #isOutside(name) {
    return this.parent?.find(name) !== undefined
  }

  #set(name, load) {
    allocate(64)
    this.loads.set(name, load)
  }

  declare(name) {
    this.stores.add(name)
    this.#set(name, Load.PARAMETER)
  }

  load(name) {
    if (!this.has(name) && !this.#isOutside(name)) this.#set(name, Load.RESOLVE)
  }

  store(name) {
    const isKnown = this.has(name)
    this.stores.add(name)
    if (!isKnown) this.#set(name, this.#isOutside(name) ? Load.ALIAS : Load.UNDEFINED)
  }

  /** A name that only some branches set keeps its value from outside in the others. */
  #merge(branches) {
    const stored = new Set()
    for (const branch of branches) {
      for (const name of branch.stores) if (!this.isStored(name)) stored.add(name)
      for (const [name, load] of branch.loads) this.#set(name, load)
    }
    for (const name of stored) {
      this.stores.add(name)
      this.#set(name, this.#isOutside(name) ? Load.ALIAS : Load.RESOLVE)
    }
  }

  /** Collects the names of statements. Statements with frames of their own have others inside. */
  visit(statements) {
    for (const node of statements) VISITS[node.type]?.(this, node)
  }

  /** Collects the names that an expression reads. */
  read(node) {
    spend(0.25)
    if (node.type === 'Name') this.load(node.name)
    for (const child of node.children) this.read(child)
  }

  /** Collects the names of a target of an assignment. */
  target(node) {
    if (node.type === 'Tuple') for (const item of node.items) this.target(item)
    else if (node.type === 'NamespaceAttribute') this.load(node.name)
    else this.store(node.name)
  }

  branch(visit) {
    const branch = new Symbols(this.parent, this)
    visit(branch)
    return branch
  }

  branches({ branches, otherwise }) {
    const [first, ...others] = branches
    this.read(first.test)
    this.#merge([
      this.branch((body) => body.visit(first.body)),
      this.branch((elif) =>
        others.forEach(({ test, body }) => elif.branches({ branches: [{ test, body }], otherwise: [] })),
      ),
      this.branch((rest) => rest.visit(otherwise)),
    ])
  }
}

const VISITS = {
  Output: (symbols, { value }) => symbols.read(value),
  Set(symbols, { target, value }) {
    symbols.read(value)
    symbols.target(target)
  },
  SetBlock: (symbols, { target }) => symbols.target(target),
  FilterBlock: (symbols, { filters }) => filters.forEach(({ all }) => all.forEach((node) => symbols.read(node))),
  If: (symbols, node) => symbols.branches(node),
  For: (symbols, { iterable }) => symbols.read(iterable),
  Macro: (symbols, { name }) => symbols.store(name),
  CallBlock: (symbols, { call }) => symbols.read(call),
  With: (symbols, { values }) => values.forEach(({ value }) => symbols.read(value)),
}

/** The variables of a part of a template. */
class Frame extends Symbols {
  /** Whether variables that are set are also values for blocks. */
  isTop = false
  /** Whether the defaults of parameters are being compiled, which may read later parameters. */
  isDefining = false
  /**
   * Whether a constant expression is compiled as jinja2 evaluates it early. Undefined elsewhere.
   *
   * @type {boolean | undefined}
   */
  isConstant = undefined

  constructor(locals, parent = undefined) {
    super(parent)
    this.locals = locals
    this.level = parent === undefined ? 0 : parent.level + 1
    /** The blocks of the template by name. */
    this.blocks = parent === undefined ? new Map() : parent.blocks
  }

  /** A frame inside of this one, whose variables are local variables of a function. */
  inner(locals = this.locals) {
    return new Frame(locals, this)
  }

  /** The innermost frame that has a name, from this one outwards, or undefined. */
  find(name) {
    for (let frame = /** @type {Frame | undefined} */ (this); frame !== undefined; frame = frame.parent)
      if (frame.has(name)) return frame
    return undefined
  }

  /** Declares the names of a target whose values the frame assigns itself. */
  parameters(target) {
    if (target.type === 'Tuple') for (const item of target.items) this.parameters(item)
    else this.declare(target.name)
  }

  /** The variable of a name: the number of functions outwards, its slot, and its load. */
  variable(name) {
    const owner = this.find(name)
    // jinja2 has no variable for a name that is only in a filter of a set block, and fails.
    if (owner === undefined) throw new TemplateError(`the variable ${name} cannot be read in a filter of a set block`)
    let hops = 0
    for (let locals = this.locals; locals !== owner.locals; locals = locals.around) hops++
    return { hops, slot: owner.locals.slot(owner.level, name), load: owner.loads.get(name) }
  }

  /** The names that are set here or outside. */
  *stored() {
    const seen = new Set()
    for (let frame = /** @type {Frame | undefined} */ (this); frame !== undefined; frame = frame.parent)
      for (const name of frame.stores) if (!seen.has(name)) yield seen.add(name) && name
  }
}

/** Names with a meaning of their own, if a part of a template reads them before it sets them. */
const SPECIAL = ['loop', 'caller', 'kwargs', 'varargs', 'self', 'super']
const NONE = new Map()

/** Whether nodes read one of the special names before they set it. */
const readsFirst = (nodes, name) => firstUses(nodes).get(name) === 'read'

/** For each special name in nodes, whether it is read or set first. Each node is visited once. */
function firstUses(nodes) {
  let uses = NONE
  for (const node of nodes) {
    spend(0.25)
    node.uses ??= usesOf(node)
    if (node.uses !== NONE) uses = new Map([...node.uses, ...uses])
  }
  return uses
}

function usesOf(node) {
  if (node.type === 'Name')
    return SPECIAL.includes(node.name) ? new Map([[node.name, node.isTarget ? 'set' : 'read']]) : NONE
  return firstUses(PARTS[node.type]?.(node) ?? node.children)
}

const setNames = (names) => names.map(({ name }) => ({ type: 'Name', name, isTarget: true, children: [] }))
const filterParts = (filters) => filters.flatMap(({ all }) => all)
const macroParts = ({ parameters, body }) => [
  ...setNames(parameters),
  ...parameters.flatMap(({ value }) => value ?? []),
  ...body,
]

/** The parts of statements in the order in which jinja2 visits them. */
const PARTS = {
  Output: ({ value }) => [value],
  Set: ({ target, value }) => [target, value],
  SetBlock: ({ target, filters, body }) => [target, ...filterParts(filters), ...body],
  FilterBlock: ({ filters, body }) => [...body, ...filterParts(filters)],
  Generation: ({ body }) => body,
  If: ({ branches, otherwise }) => [...branches.flatMap(({ test, body }) => [test, ...body]), ...otherwise],
  For: ({ target, iterable, test, body, otherwise }) => [
    target,
    iterable,
    ...body,
    ...otherwise,
    ...(test ? [test] : []),
  ],
  Macro: macroParts,
  CallBlock: (node) => [node.call, ...macroParts(node)],
  With: ({ values, body }) => [...values.map(({ target }) => target), ...values.map(({ value }) => value), ...body],
  Scope: ({ body }) => body,
}

module.exports = { Frame, Load, Locals, readsFirst }
