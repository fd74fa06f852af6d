'use strict'

// Runs the tree of a template as jinja2 would in Python: its scopes, its undefined values, its order of things.

const { filters, format } = require('./filters.js')
const { getAttribute, getItem, getSlice, wholeOf } = require('./methods.js')
const { GROUP, NO_TEST, ONE_TUPLE, TEST } = require('./syntax.js')
const { tests } = require('./tests.js')
const values = require('./values.js')
const { Float, Namespace, TemplateError, Tuple, Undefined, compare, contains, equals, isNumber, isTrue, items, keyed, kind, numberOf, str } = values

// A template comes from strangers, and could otherwise go on for ever.
const MOST_STEPS = 5_000_000
const TEXT_IN_A_STEP = 32
const MOST_LENGTH = 1 << 28
const MOST_BITS = 1 << 14

const BREAK = Symbol('break')
const CONTINUE = Symbol('continue')

/** Names and their values; what is not here may be in the scope around it. */
class Scope {
  constructor(around) {
    this.around = around
    this.names = new Map()
  }

  get(name) {
    for (let scope = this; scope !== undefined; scope = scope.around) {
      const value = scope.names.get(name)
      if (value !== undefined) return value
    }
    return new Undefined(`'${name}' is undefined`)
  }

  set(name, value) {
    this.names.set(name, value)
  }
}

class Interpreter {
  /** How many steps are left; more for long conversations, which templates look at several times. */
  #steps = MOST_STEPS
  #length = 0

  /** The text of a tree, with these values by name. */
  run(program, globals) {
    const scope = new Scope()
    for (const [name, value] of globals) {
      scope.set(name, value)
      this.#steps += sizeOf(value) / 2
    }
    return this.#text(program.body, new Scope(scope))
  }

  #take(steps) {
    this.#steps -= steps
    if (this.#steps < 0) throw new TemplateError('it takes too many steps')
  }

  /** What statements write. */
  #text(body, scope) {
    const out = []
    this.#block(body, scope, out)
    return out.join('')
  }

  #block(body, scope, out) {
    for (const node of body) {
      const left = this.#statement(node, scope, out)
      if (left !== undefined) return left
    }
    return undefined
  }

  /** Runs one statement, and says if a loop is to be left by it. */
  #statement(node, scope, out) {
    this.#take(1)
    switch (node.type) {
      case 'Comment':
        return undefined
      case 'Set':
        return this.#set(node, scope)
      case 'If':
        return this.#block(isTrue(this.#value(node.test, scope)) ? node.body : node.alternate, scope, out)
      case 'For':
        return this.#for(node, scope, out)
      case 'Break':
        return BREAK
      case 'Continue':
        return CONTINUE
      case 'Macro':
        scope.set(node.name.value, this.#macro(`the macro '${node.name.value}'`, node.args, node.body, scope))
        return undefined
      case 'CallStatement':
        return this.#write(this.#callStatement(node, scope), out)
      case 'FilterStatement':
        return this.#capture(node.body, scope, (text) => this.#write(this.#filter(text, node.filter, scope), out))
      default:
        return this.#write(str(this.#value(node, scope)), out)
    }
  }

  #write(value, out) {
    const text = str(value)
    this.#length += text.length
    if (this.#length > MOST_LENGTH) throw new TemplateError('it writes too much')
    out.push(text)
  }

  /** Hands over what a block writes; if a loop is left within it, that is lost. */
  #capture(body, scope, use) {
    const out = []
    const left = this.#block(body, new Scope(scope), out)
    if (left === undefined) use(out.join(''))
    return left
  }

  #set({ assignee, value, body }, scope) {
    if (!value) return this.#capture(body, scope, (text) => this.#assign(assignee, text, scope))
    return this.#assign(assignee, this.#value(value, scope), scope)
  }

  #assign(target, value, scope) {
    if (target.type === 'Identifier') return void scope.set(target.value, value)
    if (target.type === 'TupleLiteral') {
      const parts = items(value)
      if (parts.length !== target.value.length) throw new TemplateError(`there are ${parts.length} values for ${target.value.length} names`)
      return target.value.forEach((one, i) => this.#assign(one, parts[i], scope))
    }
    const object = target.type === 'MemberExpression' ? this.#value(target.object, scope) : undefined
    if (!(object instanceof Namespace) || target.computed) throw new TemplateError('only names and attributes of a namespace can be set')
    object.attributes.set(target.property.value, value)
    return undefined
  }

  #for({ loopvar, iterable, body, defaultBlock }, scope, out) {
    const isFiltered = iterable.type === 'SelectExpression'
    let list = items(this.#value(isFiltered ? iterable.lhs : iterable, scope))
    if (isFiltered) {
      list = list.filter((item) => {
        const inner = new Scope(scope)
        this.#assign(loopvar, item, inner)
        return isTrue(this.#value(iterable.test, inner))
      })
    }
    const loop = new Loop(list)
    let isDone = false
    for (const item of list) {
      loop.next()
      const inner = new Scope(scope)
      inner.set('loop', loop)
      this.#assign(loopvar, item, inner)
      const left = this.#block(body, inner, out)
      isDone ||= left === undefined
      if (left === BREAK) break
    }
    // jinja2 takes a loop for empty if it was never gone through to the end.
    return isDone ? undefined : this.#block(defaultBlock, new Scope(scope), out)
  }

  /** A function that gives the text of a body. It sees what is around its definition, as that is when it is called. */
  #macro(what, parameters, body, around) {
    return (args, kwargs) => {
      this.#take(1)
      const scope = new Scope(around)
      const rest = new Map(kwargs)
      const late = []
      parameters.forEach((parameter, i) => {
        const name = parameter.type === 'Identifier' ? parameter.value : parameter.key.value
        const given = i < args.length ? args[i] : rest.get(name)
        if (i >= args.length) rest.delete(name)
        scope.set(name, given ?? (given === null ? null : new Undefined(`the argument '${name}' of ${what} is missing`)))
        if (given === undefined && parameter.type !== 'Identifier') late.push([name, parameter.value])
      })
      const caller = rest.get('caller')
      rest.delete('caller')
      scope.set('caller', caller ?? new Undefined(`${what} was not called by a call block`))
      scope.set('kwargs', rest)
      scope.set('varargs', Tuple.from(args.slice(parameters.length)))
      const uses = (word) => mentions(body, word)
      if (rest.size > 0 && !uses('kwargs')) throw new TemplateError(`${what} has no argument '${[...rest.keys()][0]}'`)
      if (args.length > parameters.length && !uses('varargs')) throw new TemplateError(`${what} has ${parameters.length} arguments at most`)
      for (const [name, value] of late) scope.set(name, this.#value(value, scope))
      return this.#text(body, scope)
    }
  }

  #callStatement({ call, callerArgs, body }, scope) {
    const caller = this.#macro('the call block', callerArgs ?? [], body, scope)
    const [args, kwargs] = this.#arguments(call.args, scope)
    return this.#call(this.#value(call.callee, scope), args, new Map([...kwargs, ['caller', caller]]))
  }

  /** The value of an expression. Large ones take as many steps as they are large. */
  #value(node, scope) {
    const value = this.#evaluate(node, scope)
    const size = typeof value === 'string' ? value.length / TEXT_IN_A_STEP : Array.isArray(value) ? value.length : 0
    this.#take(1 + size)
    return value
  }

  #evaluate(node, scope) {
    switch (node.type) {
      case 'StringLiteral':
        return node.value
      case 'IntegerLiteral':
        if (!Number.isSafeInteger(node.value)) throw new TemplateError('the numbers in a template have 15 digits at most')
        return node.value
      case 'FloatLiteral':
        return new Float(node.value)
      case 'ArrayLiteral':
        return node.value.map((one) => this.#value(one, scope))
      case 'TupleLiteral':
        return Tuple.from(node.value.map((one) => this.#value(one, scope)))
      case 'ObjectLiteral':
        return new Map([...node.value].map(([key, one]) => [keyed(this.#value(key, scope)), this.#value(one, scope)]))
      case 'Identifier':
        return Object.hasOwn(CONSTANTS, node.value) ? CONSTANTS[node.value] : scope.get(node.value)
      case 'MemberExpression':
        return this.#member(node, scope)
      case 'CallExpression': {
        const callee = this.#value(node.callee, scope)
        return this.#call(callee, ...this.#arguments(node.args, scope))
      }
      case 'UnaryExpression':
        return unary(node.operator.value, this.#value(node.argument, scope))
      case 'BinaryExpression':
        return this.#binary(node, scope)
      case 'FilterExpression':
        return this.#filter(this.#value(node.operand, scope), node.filter, scope)
      case 'SelectExpression':
        return isTrue(this.#value(node.test, scope)) ? this.#value(node.lhs, scope) : new Undefined('an if without else gave nothing')
      case 'Ternary':
        return this.#value(isTrue(this.#value(node.condition, scope)) ? node.trueExpr : node.falseExpr, scope)
      default:
        throw new TemplateError(`${node.type} is not supported here`)
    }
  }

  #member({ object, property, computed }, scope) {
    const owner = this.#value(object, scope)
    if (!computed) {
      if (property.type === 'IntegerLiteral') return getItem(owner, property.value)
      return owner instanceof Loop ? owner.get(property.value) : getAttribute(owner, property.value)
    }
    if (property.type === 'SliceExpression') {
      const [start, stop, step] = [property.start, property.stop, property.step].map((one) => (one ? this.#value(one, scope) : null))
      return getSlice(owner, start, stop, step)
    }
    const key = this.#value(property, scope)
    return owner instanceof Loop ? owner.get(key) : getItem(owner, key)
  }

  #call(callee, args, kwargs) {
    if (callee instanceof Undefined) callee.refuse()
    if (typeof callee !== 'function') throw new TemplateError(`${kind(callee)} cannot be called`)
    return callee(args, kwargs)
  }

  #arguments(nodes, scope) {
    const args = []
    const kwargs = new Map()
    for (const node of nodes) {
      if (node.type === 'SpreadExpression') args.push(...items(this.#value(node.argument, scope)))
      else if (node.type === 'KeywordArgumentExpression') kwargs.set(node.key.value, this.#value(node.value, scope))
      else if (node.type === 'KeywordSpreadExpression') for (const [key, value] of this.#value(node.argument, scope)) kwargs.set(key, value)
      else args.push(this.#value(node, scope))
    }
    return [args, kwargs]
  }

  #filter(value, node, scope) {
    const { type, value: name } = node.type === 'CallExpression' ? node.callee : node
    // The parser takes what follows a filter for part of its name; jinja2 does not take it at all.
    if (type !== 'Identifier') throw new TemplateError('a filter is followed by what no filter has: put it in parentheses')
    const [args, kwargs] = node.type === 'CallExpression' ? this.#arguments(node.args, scope) : [[], new Map()]
    if (name === GROUP) return value
    if (name === ONE_TUPLE) return Tuple.of(value)
    if (name.startsWith(NO_TEST)) return !tests(name.slice(NO_TEST.length))(value, args, kwargs)
    if (name.startsWith(TEST)) return tests(name.slice(TEST.length))(value, args, kwargs)
    return filters(name)(value, args, kwargs)
  }

  #binary(node, scope) {
    const operator = node.operator.value
    if (Object.hasOwn(COMPARISONS, operator)) return this.#compare(node, scope).holds
    const a = this.#value(node.left, scope)
    if (operator === 'and') return isTrue(a) ? this.#value(node.right, scope) : a
    if (operator === 'or') return isTrue(a) ? a : this.#value(node.right, scope)
    return arithmetic(operator, a, this.#value(node.right, scope))
  }

  /** `a < b < c` is `a < b and b < c`; what is in parentheses is not such a row. */
  #compare({ operator, left, right }, scope) {
    const isRow = left.type === 'BinaryExpression' && Object.hasOwn(COMPARISONS, left.operator.value)
    const before = isRow ? this.#compare(left, scope) : { holds: true, last: this.#value(left, scope) }
    if (!before.holds) return before
    const last = this.#value(right, scope)
    return { holds: COMPARISONS[operator.value](before.last, last), last }
  }
}

const CONSTANTS = { true: true, True: true, false: false, False: false, none: null, None: null }

const COMPARISONS = {
  '==': equals,
  '!=': (a, b) => !equals(a, b),
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
  in: (a, b) => contains(b, a),
  'not in': (a, b) => !contains(b, a),
}

/** What `loop` is inside of a loop. */
class Loop {
  #list
  #at = -1
  #last

  constructor(list) {
    this.#list = list
  }

  next() {
    this.#at++
  }

  get(name) {
    const { length } = this.#list
    const at = this.#at
    const neighbour = (place) => (place in this.#list ? this.#list[place] : new Undefined('there is no such element of the loop'))
    switch (name) {
      case 'index':
        return at + 1
      case 'index0':
        return at
      case 'revindex':
        return length - at
      case 'revindex0':
        return length - at - 1
      case 'first':
        return at === 0
      case 'last':
        return at === length - 1
      case 'length':
        return length
      case 'depth':
        return 1
      case 'depth0':
        return 0
      case 'previtem':
        return neighbour(at - 1)
      case 'nextitem':
        return neighbour(at + 1)
      case 'cycle':
        return (args) => args[at % args.length]
      case 'changed':
        return (args) => {
          const same = this.#last !== undefined && equals(this.#last, args)
          this.#last = args
          return !same
        }
      default:
        return new Undefined(`a loop has no '${str(name)}'`)
    }
  }
}

/** How much text there is in a value. */
function sizeOf(value) {
  if (typeof value === 'string') return value.length
  const parts = Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : []
  return parts.reduce((sum, part) => sum + sizeOf(part), 0)
}

function unary(operator, value) {
  if (operator === 'not') return !isTrue(value)
  if (value instanceof Undefined) value.refuse()
  if (!isNumber(value)) throw new TemplateError(`${kind(value)} has no sign`)
  if (operator === '+') return value instanceof Float ? value : values.integer(value)
  return value instanceof Float ? new Float(-value.value) : values.integer(-BigInt(value))
}

function arithmetic(operator, a, b) {
  if (operator === '~') return str(a) + str(b)
  if (operator === '%' && typeof a === 'string') return format(a, b instanceof Tuple ? [...b] : [b])
  for (const value of [a, b]) if (value instanceof Undefined) value.refuse()
  if (operator === '+') {
    if (typeof a === 'string' && typeof b === 'string') return a + b
    if (Array.isArray(a) && Array.isArray(b) && a.constructor === b.constructor) return a instanceof Tuple ? Tuple.from([...a, ...b]) : [...a, ...b]
  }
  if (operator === '*') {
    const [what, times] = isNumber(b) ? [a, b] : [b, a]
    if (typeof what === 'string') return what.repeat(repetitions(times, what.length))
    if (Array.isArray(what)) return what.constructor.from(Array.from({ length: repetitions(times, what.length) }, () => [...what]).flat())
  }
  if (!isNumber(a) || !isNumber(b)) throw new TemplateError(`'${operator}' does not go with ${kind(a)} and ${kind(b)}`)
  return number(operator, a, b)
}

function repetitions(times, length) {
  const count = Math.max(0, wholeOf(times))
  if (count * length > MOST_LENGTH) throw new TemplateError('it writes too much')
  return count
}

function number(operator, a, b) {
  const floats = a instanceof Float || b instanceof Float || operator === '/' || (operator === '**' && numberOf(b) < 0)
  const [x, y] = floats ? [numberOf(a), numberOf(b)] : [BigInt(a), BigInt(b)]
  if (['/', '//', '%'].includes(operator) && numberOf(b) === 0) throw new TemplateError('nothing can be divided by 0')
  if (operator === '**' && !floats && y > 4096n) throw new TemplateError('such a power is too large')
  const result = OPERATIONS[operator]?.(x, y)
  if (result === undefined) throw new TemplateError(`the operator '${operator}' is not supported`)
  if (floats && !Number.isFinite(result) && [x, y].every(Number.isFinite)) throw new TemplateError(`${x} ${operator} ${y} is no number`)
  if (!floats && BigInt.asIntN(MOST_BITS, result) !== result) throw new TemplateError('such a number is too large')
  return floats ? new Float(result) : values.integer(result)
}

// For numbers and for bigints, with the signs of Python's division.
const OPERATIONS = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '**': (x, y) => x ** y,
  '/': (x, y) => x / y,
  '//': (x, y) => (typeof x === 'number' ? Math.floor(x / y) : (x - modulo(x, y)) / y),
  '%': modulo,
}

function modulo(x, y) {
  const rest = x % y
  // eslint-disable-next-line eqeqeq
  return rest != 0 && rest < 0 !== y < 0 ? rest + y : rest
}

/** Whether a name is used in a tree. */
function mentions(node, name) {
  if (Array.isArray(node)) return node.some((one) => mentions(one, name))
  if (node instanceof Map) return [...node].some((pair) => mentions(pair, name))
  if (typeof node !== 'object' || node === null) return false
  return (node.type === 'Identifier' && node.value === name) || mentions(Object.values(node), name)
}

module.exports = { Interpreter }
