'use strict'

// Compiles the expressions of a template. An expression becomes a function of the scope that
// returns its value. `frame` has the variables that it can read.

const { allocate, allocateList, spend } = require('./render-cost.js')
const { getAttribute, getItem, getSlice } = require('./access.js')
const { filters } = require('./filters.js')
const { Loop } = require('./loop.js')
const { sign } = require('./numbers.js')
const { COMPARISONS, binary } = require('./operators.js')
const { str } = require('./print.js')
const { getter } = require('./scope.js')
const { tests } = require('./tests.js')
const text = require('./traced.js')
const { Dict, Range, TemplateError, Tuple, Undefined, View } = require('./values.js')
const { isNumber, isText, isTrue, items, kind, seen, stringIn } = require('./values.js')

const NO_KEYWORDS = new Dict()
/** A node takes about 50 ns. */
const STEPS_PER_NODE = 2
const STEPS_PER_KEYWORD = 4

/** Like `expression`, for a whole expression of a statement. Charges each of its nodes. */
function charged(node, frame, { isOutput = false } = {}) {
  const evaluate = isOutput && hasConstantSlice(node) ? folded(node, frame, () => true) : expression(node, frame)
  const steps = STEPS_PER_NODE * node.size
  return (scope) => {
    spend(steps)
    return evaluate(scope)
  }
}

function expression(node, frame) {
  if (frame.isConstant === undefined && hasConstantSlice(node)) return folded(node, frame, isWritable)
  return EXPRESSIONS[node.type](node, frame)
}

/** Filters that jinja2 does not evaluate when it compiles a template. */
const AT_RUN_TIME = ['map', 'reject', 'rejectattr', 'select', 'selectattr']

/**
 * Whether an expression has slices and no variables or calls. jinja2 evaluates it when it compiles
 * the template, where a slice of a value that has none is undefined, and not an error.
 */
function hasConstantSlice(node) {
  node.slices ??= slicesIn(node)
  return node.slices > 0
}

/** The number of slices in a constant expression; -1 for others. */
function slicesIn({ type, name, children }) {
  if (type === 'Name' || type === 'Call' || (type === 'Filter' && AT_RUN_TIME.includes(name))) return -1
  let slices = type === 'SliceOf' ? 1 : 0
  for (const child of children) {
    child.slices ??= slicesIn(child)
    if (child.slices < 0) return -1
    slices += child.slices
  }
  return slices
}

/** A constant expression. jinja2 only uses the value that it has found if `isKept` holds for it. */
function folded(node, frame, isKept) {
  const [early, late] = [true, false].map((isConstant) => {
    frame.isConstant = isConstant
    return EXPRESSIONS[node.type](node, frame)
  })
  frame.isConstant = undefined
  return (scope) => {
    const value = early(scope)
    return isKept(value) ? value : late(scope)
  }
}

/** Values that jinja2 can write into the code of a compiled template. */
function isWritable(value) {
  spend(1)
  if (Array.isArray(value)) return !(value instanceof View) && value.every(isWritable)
  if (value instanceof Dict) return value.values().every(isWritable)
  return value === null || isText(value) || isNumber(value) || value instanceof Range
}

const list = (nodes, frame) => {
  const parts = nodes.map((node) => expression(node, frame))
  return (scope) => {
    allocateList(parts.length)
    return parts.map((part) => part(scope))
  }
}

const EXPRESSIONS = {
  Constant:
    ({ value }) =>
    () =>
      value,

  Name: ({ name }, frame) => getter(name, frame),

  List: ({ items: nodes }, frame) => list(nodes, frame),

  Tuple({ items: nodes }, frame) {
    const parts = list(nodes, frame)
    return (scope) => Tuple.from(parts(scope))
  },

  Dict({ entries }, frame) {
    const parts = entries.map(({ key, value }) => [expression(key, frame), expression(value, frame)])
    return (scope) => new Dict(parts.map(([key, value]) => [key(scope), value(scope)]))
  },

  Attribute({ object, name }, frame) {
    const owner = expression(object, frame)
    return (scope) => getAttribute(owner(scope), name)
  },

  Item({ object, key }, frame) {
    const owner = expression(object, frame)
    const evaluate = expression(key, frame)
    return (scope) => getItem(owner(scope), evaluate(scope))
  },

  SliceOf({ object, key }, frame) {
    const owner = expression(object, frame)
    const parts = key.parts.map((part) => part && expression(part, frame))
    const { isConstant } = frame
    return (scope) => {
      const whole = owner(scope)
      const [start, stop, step] = [0, 1, 2].map((i) => parts[i]?.(scope) ?? null)
      return getSlice(whole, start, stop, step, isConstant)
    }
  },

  Slice() {
    throw new TemplateError('slices of several dimensions are not supported')
  },

  Call(node, frame) {
    const callee = expression(node.callee, frame)
    const given = argumentsOf(node, frame)
    return (scope) => {
      spend(3)
      const run = callee(scope)
      return call(run, ...given(scope))
    }
  },

  Filter(node, frame) {
    const value = expression(node.value, frame)
    const change = applied(filters, node, frame)
    return (scope) => change(value(scope), scope)
  },

  Test(node, frame) {
    const value = expression(node.value, frame)
    const test = applied(tests, node, frame)
    return (scope) => isTrue(test(value(scope), scope))
  },

  Sign({ operator, value }, frame) {
    const evaluate = expression(value, frame)
    return (scope) => sign(operator, evaluate(scope))
  },

  Not({ value }, frame) {
    const evaluate = expression(value, frame)
    return (scope) => !isTrue(evaluate(scope))
  },

  And({ left, right }, frame) {
    const [first, second] = [expression(left, frame), expression(right, frame)]
    return (scope) => {
      const value = first(scope)
      return isTrue(value) ? second(scope) : value
    }
  },

  Or({ left, right }, frame) {
    const [first, second] = [expression(left, frame), expression(right, frame)]
    return (scope) => {
      const value = first(scope)
      return isTrue(value) ? value : second(scope)
    }
  },

  Condition({ test, value, otherwise }, frame) {
    const [passes, then] = [expression(test, frame), expression(value, frame)]
    const rest = otherwise ? expression(otherwise, frame) : () => new Undefined('an if without else gave nothing')
    return (scope) => (isTrue(passes(scope)) ? then(scope) : rest(scope))
  },

  /** `a < b < c` is `a < b and b < c`. */
  Compare({ first, rest }, frame) {
    const start = expression(first, frame)
    const steps = rest.map(({ operator, value }) => ({
      holds: COMPARISONS[operator],
      evaluate: expression(value, frame),
    }))
    return (scope) => {
      let last = start(scope)
      for (const { holds, evaluate } of steps) {
        const next = evaluate(scope)
        if (!holds(last, next)) return false
        last = next
      }
      return true
    }
  },

  Concat({ items: nodes }, frame) {
    const parts = list(nodes, frame)
    return (scope) => text.join(parts(scope).map(str), '')
  },

  Binary({ operator, left, right }, frame) {
    const [first, second] = [expression(left, frame), expression(right, frame)]
    return (scope) => {
      spend(1)
      const a = first(scope)
      return binary(operator, a, second(scope))
    }
  },
}

function call(callee, args, keywords) {
  if (callee instanceof Undefined) callee.refuse()
  const run = callee instanceof Loop ? callee.call : callee
  if (typeof run !== 'function') throw new TemplateError(`${kind(callee)} cannot be called`)
  return run(args, keywords)
}

/** A function of the scope that returns positional and named arguments. */
function argumentsOf({ args, keywords, list: rest, mapping }, frame) {
  const values = list(args, frame)
  const named = keywords.map(({ name, value }) => [name, expression(value, frame)])
  const more = rest && expression(rest, frame)
  const moreNamed = mapping && expression(mapping, frame)
  return (scope) => {
    let given = values(scope)
    if (more !== undefined) {
      const added = items(more(scope))
      allocateList(given.length + added.length)
      given = given.concat(Array.from(added))
    }
    if (named.length === 0 && moreNamed === undefined) return [given, NO_KEYWORDS]
    spend(STEPS_PER_KEYWORD * named.length)
    const byName = new Dict(named.map(([name, evaluate]) => [name, evaluate(scope)]))
    for (const [key, value] of moreNamed === undefined ? [] : keywordsOf(moreNamed(scope))) {
      if (byName.has(key)) throw new TemplateError(`two arguments ${seen(key)}`)
      byName.set(key, value)
    }
    return [given, byName]
  }
}

function* keywordsOf(mapping) {
  if (!(mapping instanceof Dict)) throw new TemplateError(`** needs a mapping, not ${kind(mapping)}`)
  for (const [key, value] of mapping.entries()) {
    if (!isText(key)) throw new TemplateError('** needs strings as keys')
    allocate(64)
    yield [stringIn(key), value]
  }
}

/**
 * A filter or a test as a function of a value and the scope. An unknown one only fails when it is
 * used.
 */
function applied(find, node, frame) {
  const given = argumentsOf(node, frame)
  return (value, scope) => {
    spend(3)
    return find(node.name)(value, ...given(scope))
  }
}

/** Applies the filters of a block in order. */
function chain(nodes, frame) {
  const changes = nodes.map((node) => applied(filters, node, frame))
  const steps = STEPS_PER_NODE * nodes.flatMap(({ all }) => all).reduce((sum, { size }) => sum + size, 0)
  return (value, scope) => {
    spend(steps)
    return changes.reduce((last, change) => change(last, scope), value)
  }
}

module.exports = { STEPS_PER_NODE, argumentsOf, call, chain, charged, expression }
