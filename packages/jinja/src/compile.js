'use strict'

// Compiles the statements of a template to functions of the scope and the output, which return
// BREAK or CONTINUE if they leave the loop around them. `frame` has the variables at a statement
// (symbols.js). Undefined values behave as in jinja2.

const { allocateList, deeper, spend } = require('./render-cost.js')
const { stringOf } = require('./arguments.js')
const { STEPS_PER_NODE, argumentsOf, call, chain, charged, expression } = require('./expressions.js')
const { Loop } = require('./loop.js')
const { current } = require('./origins.js')
const { Output } = require('./output.js')
const { parse } = require('./parser.js')
const { quoted, str } = require('./print.js')
const { Context, Scope, enter, getter, leave, reader, setter } = require('./scope.js')
const { Frame, Locals, readsFirst } = require('./symbols.js')
const {
  Dict,
  Generator,
  Namespace,
  Range,
  TemplateError,
  Tuple,
  Undefined,
  isTrue,
  items,
  kind,
  seen,
  textLength,
} = require('./values.js')

const BREAK = Symbol('break')
const CONTINUE = Symbol('continue')
const NO_KEYWORDS = new Dict()

/** Compiles a template to a function of the values by name, which returns the rendered text. */
function compile(source) {
  const { body, hasBlocks } = parse(source)
  const frame = new Frame(new Locals())
  frame.isTop = hasBlocks
  const run = root(body, frame)
  return (values) => {
    const out = new Output({ isResult: true })
    const trace = current()
    if (trace !== undefined) trace.output = out
    run(new Context(values), out)
    return out.text()
  }
}

/** The body of the template or of a block, as a function of the context and the output. */
function root(nodes, frame) {
  // In jinja2 they give access to blocks, and hide variables with their names.
  for (const name of ['self', 'super']) if (readsFirst(nodes, name)) frame.declare(name)
  frame.visit(nodes)
  const load = enter(frame)
  const run = block(nodes, frame)
  return (context, out) => {
    const scope = new Scope(frame.locals, undefined, context)
    load(scope)
    run(scope, out)
  }
}

function block(nodes, frame) {
  const statements = nodes.map((node) => STATEMENTS[node.type](node, frame))
  return (scope, out) => {
    for (let i = 0; i < statements.length; i++) {
      spend(0.5)
      const left = statements[i](scope, out)
      if (left !== undefined) return left
    }
    return undefined
  }
}

/** A part of a template with a frame of its own; `before` sets its first variables. */
function framed(nodes, frame, before = (_scope) => {}) {
  frame.visit(nodes)
  const load = enter(frame)
  const run = block(nodes, frame)
  const end = leave(frame)
  return (scope, out) => {
    load(scope)
    before(scope)
    const left = run(scope, out)
    if (left === undefined) end(scope)
    return left
  }
}

/**
 * A function that passes the output of a body to `use`. If the body leaves a loop, its output is
 * dropped.
 */
function captured(nodes, frame, use) {
  const load = enter(frame)
  const run = block(nodes, frame)
  const end = leave(frame)
  return (scope, out) => {
    spend(3)
    load(scope)
    const own = new Output()
    const left = run(scope, own)
    if (left !== undefined) return left
    use(own.text(), scope, out)
    end(scope)
    return undefined
  }
}

const STATEMENTS = {
  Data:
    ({ text: data }) =>
    (_scope, out) =>
      out.write(data),

  Output({ value }, frame) {
    const evaluate = charged(value, frame, { isOutput: true })
    return (scope, out) => out.write(str(evaluate(scope)))
  },

  Set({ target, value }, frame) {
    const assign = assignment(target, frame)
    const evaluate = charged(value, frame)
    return (scope) => {
      const assigned = evaluate(scope)
      current()?.set(assigned)
      assign(assigned, scope)
    }
  },

  SetBlock({ target, filters: changes, body }, frame) {
    const inner = frame.inner()
    inner.visit(body)
    const assign = assignment(target, frame)
    const change = chain(changes, inner)
    return captured(body, inner, (written, scope) => assign(change(written, scope), scope))
  },

  FilterBlock({ filters: changes, body }, frame) {
    const inner = frame.inner()
    inner.visit(body)
    for (const { all } of changes) for (const node of all) inner.read(node)
    const change = chain(changes, inner)
    return captured(body, inner, (written, scope, out) => out.write(stringOf(change(written, scope))))
  },

  /** In transformers it is a call block of a function that only calls it. */
  Generation({ body }, frame) {
    const make = macro(null, { parameters: [], body }, frame)
    return (scope, out) => {
      const written = make(scope)([], NO_KEYWORDS)
      const trace = current()
      if (trace !== undefined) trace.generations.push(trace.output.length, textLength(written))
      out.write(written)
    }
  },

  If({ branches, otherwise }, frame) {
    const tests = branches.map(({ test }) => charged(test, frame))
    const bodies = branches.map(({ body }) => block(body, frame))
    const rest = block(otherwise, frame)
    return (scope, out) => {
      for (let i = 0; i < tests.length; i++) if (isTrue(tests[i](scope))) return bodies[i](scope, out)
      return rest(scope, out)
    }
  },

  For: loopStatement,

  Break: () => () => BREAK,
  Continue: () => () => CONTINUE,

  Macro(node, frame) {
    const assign = setter(node.name, frame)
    const make = macro(node.name, node, frame)
    return (scope) => {
      spend(2)
      assign(make(scope), scope)
    }
  },

  CallBlock(node, frame) {
    const make = macro(null, node, frame)
    const callee = expression(node.call.callee, frame)
    const given = argumentsOf(node.call, frame)
    return (scope, out) => {
      spend(STEPS_PER_NODE * node.call.size)
      const [args, keywords] = given(scope)
      if (keywords.has('caller')) throw new TemplateError('two arguments caller')
      out.write(str(call(callee(scope), args, new Dict([...keywords.entries(), ['caller', make(scope)]]))))
    }
  },

  With({ values, body }, frame) {
    const inner = frame.inner()
    for (const { target } of values) inner.parameters(target)
    const assigned = values.map(({ target, value }) => ({
      assign: assignment(target, inner),
      evaluate: charged(value, frame),
    }))
    return framed(body, inner, (scope) => {
      for (const { assign, evaluate } of assigned) assign(evaluate(scope), scope)
    })
  },

  Scope: ({ body }, frame) => framed(body, frame.inner()),

  /** A block sees the variables that the template has set before, and sets none outside. */
  Block({ name, body, isScoped, isRequired }, frame) {
    if (frame.blocks.has(name)) throw new TemplateError(`two blocks ${name}`)
    const inner = new Frame(new Locals())
    inner.blocks = frame.blocks.set(name, inner)
    const run = root(body, inner)
    const seen = isScoped ? Array.from(frame.stored(), (one) => [one, reader(frame.variable(one))]) : []
    return (scope, out) => {
      if (isRequired) throw new TemplateError(`the required block ${name} is not filled`)
      if (!isScoped) return run(scope.context, out)
      const values = seen.map(([one, get]) => [one, get(scope)]).filter(([, value]) => value !== undefined)
      return run(scope.context.derived(values), out)
    }
  },
}

/** A function that assigns a value to a target. */
function assignment(target, frame) {
  if (target.type === 'Name') return setter(target.name, frame)
  if (target.type === 'NamespaceAttribute') {
    const { name, attribute } = target
    const get = getter(name, frame)
    return (value, scope) => {
      const object = get(scope)
      if (!(object instanceof Namespace))
        throw new TemplateError(`only a namespace has attributes to set, and ${name} is ${kind(object)}`)
      if (attribute.startsWith('_'))
        throw new TemplateError(`the attribute ${attribute} of a namespace must not begin with _`)
      object.attributes.set(attribute, value)
    }
  }
  const parts = target.items.map((item) => assignment(item, frame))
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

/** The elements of a value that pass the condition of a loop, as a function of value and scope. */
function condition({ target, test }, frame) {
  if (test === undefined) return undefined
  const inner = frame.inner(new Locals(frame.locals))
  inner.parameters(target)
  inner.read(test)
  const load = enter(inner)
  const assign = assignment(target, inner)
  const passes = charged(test, inner)
  return function* (list, around) {
    const scope = new Scope(inner.locals, around)
    load(scope)
    for (const item of list) {
      spend(3)
      assign(item, scope)
      if (isTrue(passes(scope))) yield unpacked(target, item)
    }
  }
}

function loopStatement(node, frame) {
  const { target, iterable, isRecursive, hasScopedBlock, body, otherwise } = node
  const evaluate = charged(iterable, frame)
  const chosen = condition(node, frame)
  // A recursive loop is a function.
  const locals = isRecursive ? new Locals(frame.locals) : frame.locals
  const [inner, rest] = [frame.inner(locals), frame.inner(locals)]
  const hasLoop = isRecursive || hasScopedBlock || readsFirst(body, 'loop')
  if (hasLoop) inner.declare('loop')
  inner.parameters(target)
  inner.visit(body)
  const setLoop = hasLoop ? setter('loop', inner) : () => {}
  const assign = assignment(target, inner)
  const load = enter(inner)
  const run = block(body, inner)
  const end = isRecursive && otherwise.length === 0 ? () => {} : leave(inner)
  const runRest = framed(otherwise, rest)

  const render = (value, scope, out, depth) => {
    const list = value instanceof Range || value instanceof Generator ? value : items(value)
    const loop = new Loop(
      chosen === undefined ? list : chosen(list instanceof Range ? list.list() : list, scope),
      depth,
      isRecursive ? again(scope, depth) : undefined,
    )
    const own = isRecursive ? new Scope(locals, scope) : scope
    const trace = current()?.output === out ? current() : undefined
    let isDone = false
    while (loop.next()) {
      setLoop(loop, own)
      assign(loop.current, own)
      load(own)
      trace?.enter(loop.current, out.length)
      const left = run(own, out)
      trace?.leave(out.length)
      isDone ||= left === undefined
      if (left === BREAK) break
    }
    end(own)
    // jinja2 considers a loop empty if no iteration reached the end of the body.
    return isDone ? undefined : runRest(own, out)
  }

  const again = (scope, depth) => (args, keywords) => {
    if (args.length !== 1 || keywords.size > 0) throw new TemplateError('a recursive loop takes one value')
    const own = new Output()
    deeper('loops', () => render(args[0], scope, own, depth + 1))
    return own.text()
  }

  return (scope, out) => {
    // jinja2 captures a recursive loop, which only shows in the slots of generations.
    if (!isRecursive || current() === undefined) return render(evaluate(scope), scope, out, 0)
    const own = new Output()
    const left = render(evaluate(scope), scope, own, 0)
    out.write(own.text())
    return left
  }
}

/**
 * A function that creates a macro in a scope. The macro sees the values of that scope when it is
 * called.
 */
function macro(name, { parameters, body }, outer) {
  const what = name === null ? 'the call block' : `the macro '${name}'`
  const frame = outer.inner(new Locals(outer.locals))
  const words = parameters.map((parameter) => parameter.name)
  const [usesCaller, usesKeywords, usesRest] = ['caller', 'kwargs', 'varargs'].map((word) => readsFirst(body, word))
  const own = parameters.find((parameter) => parameter.name === 'caller')
  if (usesCaller && own !== undefined && own.value === undefined)
    throw new TemplateError('the parameter caller needs a default')
  const takesKeywords = usesKeywords && !words.includes('kwargs')
  const takesRest = usesRest && !words.includes('varargs')
  for (const word of words) frame.declare(word)
  if (usesCaller) frame.declare('caller')
  if (takesKeywords) frame.declare('kwargs')
  if (takesRest) frame.declare('varargs')
  for (const { value } of parameters) if (value !== undefined) frame.read(value)
  frame.visit(body)
  const attributes = new Map(
    Object.entries({
      name,
      arguments: Tuple.from(words),
      caller: usesCaller,
      catch_kwargs: takesKeywords,
      catch_varargs: takesRest,
      explicit_caller: words.includes('caller'),
    }),
  )
  const slots = words.map((word) => frame.variable(word).slot)
  const set = (word) => (frame.loads.has(word) ? setter(word, frame) : () => {})
  const [setCaller, setKeywords, setRest] = ['caller', 'kwargs', 'varargs'].map(set)
  frame.isDefining = true
  const defaults = parameters.map(({ value }) => value && charged(value, frame))
  frame.isDefining = false
  const load = enter(frame)
  const run = block(body, frame)
  const runIn = (around) => (args, keywords) => {
    spend(10)
    const scope = new Scope(frame.locals, around)
    const rest = new Dict(keywords.entries())
    words.forEach((word, i) => {
      spend(2)
      scope.values[slots[i]] = i < args.length ? args[i] : rest.get(word)
      if (i >= args.length) rest.delete(word)
    })
    if (usesCaller && !words.includes('caller')) {
      setCaller(rest.get('caller') ?? new Undefined(`${what} was not called by a call block`), scope)
      rest.delete('caller')
    }
    if (rest.size > 0 && !takesKeywords) throw new TemplateError(`${what} has no argument '${seen(rest.keys()[0])}'`)
    if (args.length > words.length && !takesRest)
      throw new TemplateError(`${what} has ${words.length} arguments at most`)
    if (takesKeywords) setKeywords(rest, scope)
    if (takesRest) {
      spend(4 * args.length)
      setRest(Tuple.from(args.slice(words.length)), scope)
    }
    load(scope)
    words.forEach((word, i) => {
      if (scope.values[slots[i]] !== undefined) return
      scope.values[slots[i]] =
        defaults[i] === undefined ? new Undefined(`the argument '${word}' of ${what} is missing`) : defaults[i](scope)
    })
    const out = new Output()
    deeper('macros', () => run(scope, out))
    return out.text()
  }
  const printed = `<Macro ${name === null ? 'anonymous' : quoted(name)}>`
  return (around) => Object.assign(runIn(around), { attributes, printed })
}

module.exports = { compile }
