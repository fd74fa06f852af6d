'use strict'

// The tree of a template as functions. An expression becomes a function of the scope that gives its
// value. A statement becomes a function of the scope and the output, which gives BREAK or CONTINUE
// if it leaves the loop around it. Scopes and undefined values behave as in jinja2.

const { allocate, allocateList, deeper, spend } = require('./budget.js')
const { getAttribute, getItem, getSlice } = require('./access.js')
const { filters } = require('./filters.js')
const { Loop } = require('./loop.js')
const { sign } = require('./numbers.js')
const { COMPARISONS, binary } = require('./operators.js')
const { Output } = require('./output.js')
const { parse } = require('./parser.js')
const { str } = require('./print.js')
const { Scope } = require('./scope.js')
const { tests } = require('./tests.js')
const text = require('./text.js')
const { Dict, Namespace, TemplateError, Tuple, Undefined, isTrue, isText, items, kind, plain } = require('./values.js')

const BREAK = Symbol('break')
const CONTINUE = Symbol('continue')
const NO_KEYWORDS = new Map()

/** A function of the values by name that gives the text of a template. */
function compile(source) {
  const body = block(parse(source))
  return (globals) => {
    const out = new Output({ isResult: true })
    body(new Scope(new Scope(undefined, globals)), out)
    return out.text()
  }
}

// Statements

function block(nodes) {
  const statements = nodes.map((node) => STATEMENTS[node.type](node))
  return (scope, out) => {
    for (const statement of statements) {
      spend(1)
      const left = statement(scope, out)
      if (left !== undefined) return left
    }
    return undefined
  }
}

/** A function that hands what a body writes to `use`. If the body leaves a loop, its text is lost. */
function captured(nodes, use) {
  const body = block(nodes)
  return (scope, out) => {
    const own = new Output()
    const left = body(new Scope(scope), own)
    if (left === undefined) use(own.text(), scope, out)
    return left
  }
}

const STATEMENTS = {
  Data:
    ({ text: data }) =>
    (scope, out) =>
      out.write(data),

  Output({ value }) {
    const evaluate = expression(value)
    return (scope, out) => out.write(str(evaluate(scope)))
  },

  Set({ target, value }) {
    const assign = assignment(target)
    const evaluate = expression(value)
    return (scope) => assign(evaluate(scope), scope)
  },

  SetBlock({ target, filters: names, body }) {
    const assign = assignment(target)
    const change = chain(names)
    return captured(body, (written, scope) => assign(change(written, scope), scope))
  },

  FilterBlock({ filters: names, body }) {
    const change = chain(names)
    return captured(body, (written, scope, out) => out.write(str(change(written, scope))))
  },

  Generation: ({ body }) => captured(body, (written, scope, out) => out.write(written)),

  If({ branches, otherwise }) {
    const tested = branches.map(({ test, body }) => ({ test: expression(test), body: block(body) }))
    const rest = block(otherwise)
    return (scope, out) => {
      for (const { test, body } of tested) if (isTrue(test(scope))) return body(scope, out)
      return rest(scope, out)
    }
  },

  For: loopStatement,

  Break: () => () => BREAK,
  Continue: () => () => CONTINUE,

  Macro(node) {
    const make = macro(`the macro '${node.name}'`, node)
    return (scope) => scope.set(node.name, make(scope))
  },

  CallBlock(node) {
    const make = macro('the call block', node)
    const callee = expression(node.call.callee)
    const given = argumentsOf(node.call)
    return (scope, out) => {
      const [args, keywords] = given(scope)
      out.write(str(call(callee(scope), args, new Map([...keywords, ['caller', make(scope)]]))))
    }
  },

  With({ values, body }) {
    const assigned = values.map(({ target, value }) => ({ assign: assignment(target), evaluate: expression(value) }))
    const run = block(body)
    return (scope, out) => {
      const inner = new Scope(scope)
      const found = assigned.map(({ evaluate }) => evaluate(scope))
      assigned.forEach(({ assign }, i) => assign(found[i], inner))
      return run(inner, out)
    }
  },
}

/** A function that sets a target to a value. */
function assignment(target) {
  if (target.type === 'Name') return (value, scope) => scope.set(target.name, value)
  if (target.type === 'NamespaceAttribute') {
    const { name, attribute } = target
    return (value, scope) => {
      const object = scope.get(name)
      if (!(object instanceof Namespace)) throw new TemplateError(`only a namespace has attributes to set, and ${name} is ${kind(object)}`)
      if (attribute.startsWith('_')) throw new TemplateError(`the attribute ${attribute} of a namespace must not begin with _`)
      object.attributes.set(attribute, value)
    }
  }
  const parts = target.items.map(assignment)
  return (value, scope) => {
    const list = items(value)
    if (list.length !== parts.length) throw new TemplateError(`there are ${list.length} values for ${parts.length} names`)
    parts.forEach((assign, i) => assign(list[i], scope))
  }
}

function loopStatement({ target, iterable, test, isRecursive, body, otherwise }) {
  const evaluate = expression(iterable)
  const assign = assignment(target)
  const passes = test && expression(test)
  const run = block(body)
  const rest = block(otherwise)

  const chosen = (list, scope) => {
    if (passes === undefined) return list
    allocateList(list.length)
    return Array.from(list).filter((item) => {
      const inner = new Scope(scope)
      assign(item, inner)
      return isTrue(passes(inner))
    })
  }

  const render = (value, scope, out, depth) => {
    const list = chosen(items(value), scope)
    const loop = new Loop(list, depth, isRecursive ? again(scope, depth) : undefined)
    let isDone = false
    for (const item of list) {
      loop.next()
      const inner = new Scope(scope)
      inner.set('loop', loop)
      assign(item, inner)
      const left = run(inner, out)
      isDone ||= left === undefined
      if (left === BREAK) break
    }
    // jinja2 takes a loop for empty if no iteration reached the end of the body.
    return isDone ? undefined : rest(new Scope(scope), out)
  }

  const again = (scope, depth) => (args) => {
    if (args.length !== 1) throw new TemplateError('a recursive loop takes one value')
    const own = new Output()
    deeper('loops', () => render(args[0], scope, own, depth + 1))
    return own.text()
  }

  return (scope, out) => render(evaluate(scope), scope, out, 0)
}

/** A function that gives a macro of a scope. The macro sees what is in that scope when it is called. */
function macro(what, { parameters, body, uses }) {
  const run = block(body)
  const names = parameters.map(({ name }) => name)
  const defaults = parameters.map(({ value }) => value && expression(value))
  return (around) => (args, keywords) => {
    const scope = new Scope(around)
    const rest = new Map(keywords)
    const missing = []
    names.forEach((name, i) => {
      const value = i < args.length ? args[i] : rest.get(name)
      if (i >= args.length) rest.delete(name)
      if (value === undefined && defaults[i] !== undefined) missing.push(i)
      scope.set(name, value === undefined ? new Undefined(`the argument '${name}' of ${what} is missing`) : value)
    })
    if (uses.has('caller') && !names.includes('caller')) {
      scope.set('caller', rest.get('caller') ?? new Undefined(`${what} was not called by a call block`))
      rest.delete('caller')
    }
    if (rest.size > 0 && !uses.has('kwargs')) throw new TemplateError(`${what} has no argument '${rest.keys().next().value}'`)
    if (args.length > names.length && !uses.has('varargs')) throw new TemplateError(`${what} has ${names.length} arguments at most`)
    if (uses.has('kwargs')) scope.set('kwargs', new Dict(rest))
    if (uses.has('varargs')) scope.set('varargs', Tuple.from(args.slice(names.length)))
    for (const i of missing) scope.set(names[i], defaults[i](scope))
    const out = new Output()
    deeper('macros', () => run(scope, out))
    return out.text()
  }
}

// Expressions

function expression(node) {
  return EXPRESSIONS[node.type](node)
}

const list = (nodes) => {
  const parts = nodes.map(expression)
  return (scope) => {
    allocateList(parts.length)
    return parts.map((part) => part(scope))
  }
}

const EXPRESSIONS = {
  Constant:
    ({ value }) =>
    () => {
      spend(1)
      return value
    },

  Name:
    ({ name }) =>
    (scope) =>
      scope.get(name),

  List: ({ items: nodes }) => list(nodes),

  Tuple({ items: nodes }) {
    const parts = list(nodes)
    return (scope) => Tuple.from(parts(scope))
  },

  Dict({ entries }) {
    const parts = entries.map(({ key, value }) => [expression(key), expression(value)])
    return (scope) => new Dict(parts.map(([key, value]) => [key(scope), value(scope)]))
  },

  Attribute({ object, name }) {
    const owner = expression(object)
    return (scope) => getAttribute(owner(scope), name)
  },

  Item({ object, key }) {
    const owner = expression(object)
    const evaluate = expression(key)
    return (scope) => getItem(owner(scope), evaluate(scope))
  },

  SliceOf({ object, key }) {
    const owner = expression(object)
    const parts = key.parts.map((part) => part && expression(part))
    return (scope) => {
      const whole = owner(scope)
      const [start, stop, step] = [0, 1, 2].map((i) => parts[i]?.(scope) ?? null)
      return getSlice(whole, start, stop, step)
    }
  },

  Slice() {
    throw new TemplateError('slices of several dimensions are not supported')
  },

  Call(node) {
    const callee = expression(node.callee)
    const given = argumentsOf(node)
    return (scope) => {
      spend(1)
      const run = callee(scope)
      return call(run, ...given(scope))
    }
  },

  Filter(node) {
    const value = expression(node.value)
    const change = applied(filters, node)
    return (scope) => change(value(scope), scope)
  },

  Test(node) {
    const value = expression(node.value)
    const test = applied(tests, node)
    return (scope) => isTrue(test(value(scope), scope))
  },

  Sign({ operator, value }) {
    const evaluate = expression(value)
    return (scope) => sign(operator, evaluate(scope))
  },

  Not({ value }) {
    const evaluate = expression(value)
    return (scope) => !isTrue(evaluate(scope))
  },

  And({ left, right }) {
    const [first, second] = [expression(left), expression(right)]
    return (scope) => {
      const value = first(scope)
      return isTrue(value) ? second(scope) : value
    }
  },

  Or({ left, right }) {
    const [first, second] = [expression(left), expression(right)]
    return (scope) => {
      const value = first(scope)
      return isTrue(value) ? value : second(scope)
    }
  },

  Condition({ test, value, otherwise }) {
    const [passes, then] = [expression(test), expression(value)]
    const rest = otherwise ? expression(otherwise) : () => new Undefined('an if without else gave nothing')
    return (scope) => (isTrue(passes(scope)) ? then(scope) : rest(scope))
  },

  /** `a < b < c` is `a < b and b < c`. */
  Compare({ first, rest }) {
    const start = expression(first)
    const steps = rest.map(({ operator, value }) => ({ holds: COMPARISONS[operator], evaluate: expression(value) }))
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

  Concat({ items: nodes }) {
    const parts = list(nodes)
    return (scope) => text.join(parts(scope).map(str), '')
  },

  Binary({ operator, left, right }) {
    const [first, second] = [expression(left), expression(right)]
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

/** A function of the scope that gives the values of arguments, and those by name. */
function argumentsOf({ args, keywords, list: rest, mapping }) {
  const values = list(args)
  const named = keywords.map(({ name, value }) => [name, expression(value)])
  const more = rest && expression(rest)
  const moreNamed = mapping && expression(mapping)
  return (scope) => {
    let given = values(scope)
    if (more !== undefined) {
      const added = items(more(scope))
      allocateList(given.length + added.length)
      given = given.concat(Array.from(added))
    }
    if (named.length === 0 && moreNamed === undefined) return [given, NO_KEYWORDS]
    const byName = new Map(named.map(([name, evaluate]) => [name, evaluate(scope)]))
    for (const [key, value] of moreNamed === undefined ? [] : keywordsOf(moreNamed(scope))) byName.set(key, value)
    return [given, byName]
  }
}

function* keywordsOf(mapping) {
  if (!(mapping instanceof Dict)) throw new TemplateError(`** needs a mapping, not ${kind(mapping)}`)
  for (const [key, value] of mapping.entries()) {
    if (!isText(key)) throw new TemplateError('** needs strings as keys')
    allocate(64)
    yield [plain(key), value]
  }
}

/** A filter or a test as a function of a value and the scope. One that does not exist fails when it is used. */
function applied(find, node) {
  const given = argumentsOf(node)
  return (value, scope) => {
    spend(1)
    return find(node.name)(value, ...given(scope))
  }
}

/** The filters of a block, one after the other. */
function chain(nodes) {
  const changes = nodes.map((node) => applied(filters, node))
  return (value, scope) => changes.reduce((last, change) => change(last, scope), value)
}

module.exports = { compile }
