'use strict'

// Compiles the tree of a template to functions. An expression becomes a function of the scope that
// returns its value. A statement becomes a function of the scope and the output, which returns
// BREAK or CONTINUE if it leaves the loop around it. `names` are the names that can be set at a
// node. Scopes and undefined values behave as in jinja2.

const { allocate, allocateList, deeper, spend } = require('./budget.js')
const { getAttribute, getItem, getSlice } = require('./access.js')
const { textOf } = require('./arguments.js')
const { filters } = require('./filters.js')
const { Loop } = require('./loop.js')
const { sign } = require('./numbers.js')
const { COMPARISONS, binary } = require('./operators.js')
const { Output } = require('./output.js')
const { parse } = require('./parser.js')
const { str } = require('./print.js')
const { Names, Scope } = require('./scope.js')
const { tests } = require('./tests.js')
const text = require('./text.js')
const {
  Dict,
  Namespace,
  Range,
  TemplateError,
  Tuple,
  Undefined,
  isTrue,
  isText,
  items,
  kind,
  plain,
} = require('./values.js')

const BREAK = Symbol('break')
const CONTINUE = Symbol('continue')
const NO_KEYWORDS = new Map()

/** Compiles a template to a function of the values by name, which returns the rendered text. */
function compile(source) {
  const names = new Names()
  const body = block(parse(source), names)
  return (globals) => {
    const out = new Output({ isResult: true })
    body(new Scope(undefined, names, globals), out)
    return out.text()
  }
}

// Statements

function block(nodes, names) {
  const statements = nodes.map((node) => STATEMENTS[node.type](node, names))
  return (scope, out) => {
    for (let i = 0; i < statements.length; i++) {
      spend(0.25)
      const left = statements[i](scope, out)
      if (left !== undefined) return left
    }
    return undefined
  }
}

/**
 * A function that passes the output of a body to `use`. If the body leaves a loop, its output is
 * dropped.
 */
function captured(nodes, around, use) {
  const names = new Names(around)
  const body = block(nodes, names)
  return (scope, out) => {
    spend(3)
    const own = new Output()
    const left = body(new Scope(scope, names), own)
    if (left === undefined) use(own.text(), scope, out)
    return left
  }
}

const STATEMENTS = {
  Data:
    ({ text: data }) =>
    (_scope, out) =>
      out.write(data),

  Output({ value }, names) {
    const evaluate = charged(value, names)
    return (scope, out) => out.write(str(evaluate(scope)))
  },

  Set({ target, value }, names) {
    const assign = assignment(target, names)
    const evaluate = charged(value, names)
    return (scope) => assign(evaluate(scope), scope)
  },

  SetBlock({ target, filters: changes, body }, names) {
    const assign = assignment(target, names)
    const change = chain(changes, names)
    return captured(body, names, (written, scope) => assign(change(written, scope), scope))
  },

  FilterBlock({ filters: changes, body }, names) {
    const change = chain(changes, names)
    return captured(body, names, (written, scope, out) => out.write(textOf(change(written, scope))))
  },

  Generation: ({ body }, names) => captured(body, names, (written, _scope, out) => out.write(written)),

  If({ branches, otherwise }, names) {
    const tests = branches.map(({ test }) => charged(test, names))
    const bodies = branches.map(({ body }) => block(body, names))
    const rest = block(otherwise, names)
    return (scope, out) => {
      for (let i = 0; i < tests.length; i++) if (isTrue(tests[i](scope))) return bodies[i](scope, out)
      return rest(scope, out)
    }
  },

  For: loopStatement,

  Break: () => () => BREAK,
  Continue: () => () => CONTINUE,

  Macro(node, names) {
    const place = names.declare(node.name)
    const make = macro(node.name, node, names)
    return (scope) => {
      spend(2)
      scope.values[place] = make(scope)
    }
  },

  CallBlock(node, names) {
    const make = macro(null, node, names)
    const callee = expression(node.call.callee, names)
    const given = argumentsOf(node.call, names)
    return (scope, out) => {
      spend(STEPS_PER_NODE * node.call.size)
      const [args, keywords] = given(scope)
      if (keywords.has('caller')) throw new TemplateError('two arguments caller')
      out.write(str(call(callee(scope), args, new Map([...keywords, ['caller', make(scope)]]))))
    }
  },

  With({ values, body }, around) {
    const names = new Names(around)
    const assigned = values.map(({ target, value }) => ({
      assign: assignment(target, names),
      evaluate: charged(value, around),
    }))
    const run = block(body, names)
    return (scope, out) => {
      const inner = new Scope(scope, names)
      const found = assigned.map(({ evaluate }) => evaluate(scope))
      assigned.forEach(({ assign }, i) => assign(found[i], inner))
      return run(inner, out)
    }
  },
}

/** A function that assigns a value to a target. */
function assignment(target, names) {
  if (target.type === 'Name') {
    const place = names.declare(target.name)
    return (value, scope) => {
      scope.values[place] = value
    }
  }
  if (target.type === 'NamespaceAttribute') {
    const { name, attribute } = target
    const get = names.getter(name)
    return (value, scope) => {
      const object = get(scope)
      if (!(object instanceof Namespace))
        throw new TemplateError(`only a namespace has attributes to set, and ${name} is ${kind(object)}`)
      if (attribute.startsWith('_'))
        throw new TemplateError(`the attribute ${attribute} of a namespace must not begin with _`)
      object.attributes.set(attribute, value)
    }
  }
  const parts = target.items.map((item) => assignment(item, names))
  return (value, scope) => {
    spend(STEPS_PER_NODE * parts.length)
    const list = items(value)
    if (list.length !== parts.length)
      throw new TemplateError(`there are ${list.length} values for ${parts.length} names`)
    parts.forEach((assign, i) => assign(list[i], scope))
  }
}

/** jinja2 makes tuples of the elements that pass the condition of a loop with several names. */
function unpacked(target, value) {
  if (target.type !== 'Tuple') return value
  allocateList(target.items.length)
  const list = items(value)
  return Tuple.from(target.items, (part, i) => unpacked(part, list[i]))
}

function loopStatement({ target, iterable, test, isRecursive, body, otherwise }, around) {
  if (isRecursive) around.capture()
  const evaluate = charged(iterable, around)
  const [testNames, names, restNames] = [new Names(around), new Names(around), new Names(around)]
  const assignTested = test && assignment(target, testNames)
  const passes = test && charged(test, testNames)
  const loopPlace = names.declare('loop')
  const assign = assignment(target, names)
  const run = block(body, names)
  const rest = block(otherwise, restNames)

  const chosen = (list, scope) => {
    if (passes === undefined) return list
    allocateList(list.length)
    const passed = Array.from(list).filter((item) => {
      const inner = new Scope(scope, testNames)
      assignTested(item, inner)
      return isTrue(passes(inner))
    })
    return target.type === 'Tuple' ? passed.map((item) => unpacked(target, item)) : passed
  }

  const render = (value, scope, out, depth) => {
    const list = value instanceof Range && passes === undefined ? value : chosen(items(value), scope)
    const loop = new Loop(list, depth, isRecursive ? again(scope, depth) : undefined)
    let isDone = false
    let inner
    for (let i = 0; i < list.length; i++) {
      loop.next()
      if (inner === undefined || names.isCaptured) inner = new Scope(scope, names)
      else inner.clear()
      inner.values[loopPlace] = loop
      assign(Array.isArray(list) ? list[i] : list.at(i), inner)
      const left = run(inner, out)
      isDone ||= left === undefined
      if (left === BREAK) break
    }
    // jinja2 considers a loop empty if no iteration reached the end of the body.
    return isDone ? undefined : rest(new Scope(scope, restNames), out)
  }

  const again = (scope, depth) => (args, keywords) => {
    if (args.length !== 1 || keywords.size > 0) throw new TemplateError('a recursive loop takes one value')
    const own = new Output()
    deeper('loops', () => render(args[0], scope, own, depth + 1))
    return own.text()
  }

  return (scope, out) => render(evaluate(scope), scope, out, 0)
}

/**
 * A function that creates a macro in a scope. The macro sees the values of that scope when it is
 * called.
 */
function macro(name, { parameters, body, uses }, outer) {
  const what = name === null ? 'the call block' : `the macro '${name}'`
  outer.capture()
  const names = new Names(outer)
  const words = parameters.map((parameter) => parameter.name)
  for (const word of [...words, ...uses]) names.declare(word)
  const attributes = new Map(
    Object.entries({
      name,
      arguments: Tuple.from(words),
      caller: uses.has('caller'),
      catch_kwargs: uses.has('kwargs'),
      catch_varargs: uses.has('varargs'),
      explicit_caller: words.includes('caller'),
    }),
  )
  const defaults = parameters.map(({ value }) => value && charged(value, names))
  const run = block(body, names)
  const runIn = (around) => (args, keywords) => {
    spend(10)
    const scope = new Scope(around, names)
    const set = (word, value) => {
      spend(2)
      scope.values[names.declare(word)] = value
    }
    const rest = new Map(keywords)
    const missing = []
    words.forEach((word, i) => {
      const value = i < args.length ? args[i] : rest.get(word)
      if (i >= args.length) rest.delete(word)
      if (value === undefined && defaults[i] !== undefined) missing.push(i)
      set(word, value === undefined ? new Undefined(`the argument '${word}' of ${what} is missing`) : value)
    })
    if (uses.has('caller') && !words.includes('caller')) {
      set('caller', rest.get('caller') ?? new Undefined(`${what} was not called by a call block`))
      rest.delete('caller')
    }
    if (rest.size > 0 && !uses.has('kwargs'))
      throw new TemplateError(`${what} has no argument '${rest.keys().next().value}'`)
    if (args.length > words.length && !uses.has('varargs'))
      throw new TemplateError(`${what} has ${words.length} arguments at most`)
    if (uses.has('kwargs')) set('kwargs', new Dict(rest))
    if (uses.has('varargs')) {
      spend(2 * args.length)
      set('varargs', Tuple.from(args.slice(words.length)))
    }
    for (const i of missing) set(words[i], defaults[i](scope))
    const out = new Output()
    deeper('macros', () => run(scope, out))
    return out.text()
  }
  return (around) => Object.assign(runIn(around), { attributes })
}

// Expressions

const STEPS_PER_NODE = 1
const STEPS_PER_KEYWORD = 4

/** Like `expression`, for a whole expression of a statement. Charges each of its nodes. */
function charged(node, names) {
  const evaluate = expression(node, names)
  const steps = STEPS_PER_NODE * node.size
  return (scope) => {
    spend(steps)
    return evaluate(scope)
  }
}

function expression(node, names) {
  return EXPRESSIONS[node.type](node, names)
}

const list = (nodes, names) => {
  const parts = nodes.map((node) => expression(node, names))
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

  Name: ({ name }, names) => names.getter(name),

  List: ({ items: nodes }, names) => list(nodes, names),

  Tuple({ items: nodes }, names) {
    const parts = list(nodes, names)
    return (scope) => Tuple.from(parts(scope))
  },

  Dict({ entries }, names) {
    const parts = entries.map(({ key, value }) => [expression(key, names), expression(value, names)])
    return (scope) => new Dict(parts.map(([key, value]) => [key(scope), value(scope)]))
  },

  Attribute({ object, name }, names) {
    const owner = expression(object, names)
    return (scope) => getAttribute(owner(scope), name)
  },

  Item({ object, key }, names) {
    const owner = expression(object, names)
    const evaluate = expression(key, names)
    return (scope) => getItem(owner(scope), evaluate(scope))
  },

  SliceOf({ object, key }, names) {
    const owner = expression(object, names)
    const parts = key.parts.map((part) => part && expression(part, names))
    return (scope) => {
      const whole = owner(scope)
      const [start, stop, step] = [0, 1, 2].map((i) => parts[i]?.(scope) ?? null)
      return getSlice(whole, start, stop, step)
    }
  },

  Slice() {
    throw new TemplateError('slices of several dimensions are not supported')
  },

  Call(node, names) {
    const callee = expression(node.callee, names)
    const given = argumentsOf(node, names)
    return (scope) => {
      spend(3)
      const run = callee(scope)
      return call(run, ...given(scope))
    }
  },

  Filter(node, names) {
    const value = expression(node.value, names)
    const change = applied(filters, node, names)
    return (scope) => change(value(scope), scope)
  },

  Test(node, names) {
    const value = expression(node.value, names)
    const test = applied(tests, node, names)
    return (scope) => isTrue(test(value(scope), scope))
  },

  Sign({ operator, value }, names) {
    const evaluate = expression(value, names)
    return (scope) => sign(operator, evaluate(scope))
  },

  Not({ value }, names) {
    const evaluate = expression(value, names)
    return (scope) => !isTrue(evaluate(scope))
  },

  And({ left, right }, names) {
    const [first, second] = [expression(left, names), expression(right, names)]
    return (scope) => {
      const value = first(scope)
      return isTrue(value) ? second(scope) : value
    }
  },

  Or({ left, right }, names) {
    const [first, second] = [expression(left, names), expression(right, names)]
    return (scope) => {
      const value = first(scope)
      return isTrue(value) ? value : second(scope)
    }
  },

  Condition({ test, value, otherwise }, names) {
    const [passes, then] = [expression(test, names), expression(value, names)]
    const rest = otherwise ? expression(otherwise, names) : () => new Undefined('an if without else gave nothing')
    return (scope) => (isTrue(passes(scope)) ? then(scope) : rest(scope))
  },

  /** `a < b < c` is `a < b and b < c`. */
  Compare({ first, rest }, names) {
    const start = expression(first, names)
    const steps = rest.map(({ operator, value }) => ({
      holds: COMPARISONS[operator],
      evaluate: expression(value, names),
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

  Concat({ items: nodes }, names) {
    const parts = list(nodes, names)
    return (scope) => text.join(parts(scope).map(str), '')
  },

  Binary({ operator, left, right }, names) {
    const [first, second] = [expression(left, names), expression(right, names)]
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
function argumentsOf({ args, keywords, list: rest, mapping }, names) {
  const values = list(args, names)
  const named = keywords.map(({ name, value }) => [name, expression(value, names)])
  const more = rest && expression(rest, names)
  const moreNamed = mapping && expression(mapping, names)
  return (scope) => {
    let given = values(scope)
    if (more !== undefined) {
      const added = items(more(scope))
      allocateList(given.length + added.length)
      given = given.concat(Array.from(added))
    }
    if (named.length === 0 && moreNamed === undefined) return [given, NO_KEYWORDS]
    spend(STEPS_PER_KEYWORD * named.length)
    const byName = new Map(named.map(([name, evaluate]) => [name, evaluate(scope)]))
    for (const [key, value] of moreNamed === undefined ? [] : keywordsOf(moreNamed(scope))) {
      if (byName.has(key)) throw new TemplateError(`two arguments ${key}`)
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
    yield [plain(key), value]
  }
}

/**
 * A filter or a test as a function of a value and the scope. An unknown one only fails when it is
 * used.
 */
function applied(find, node, names) {
  const given = argumentsOf(node, names)
  return (value, scope) => {
    spend(3)
    return find(node.name)(value, ...given(scope))
  }
}

/** Applies the filters of a block in order. */
function chain(nodes, names) {
  const changes = nodes.map((node) => applied(filters, node, names))
  const steps = STEPS_PER_NODE * nodes.flatMap(({ all }) => all).reduce((sum, { size }) => sum + size, 0)
  return (value, scope) => {
    spend(steps)
    return changes.reduce((last, change) => change(last, scope), value)
  }
}

module.exports = { compile }
