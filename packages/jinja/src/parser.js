'use strict'

// Parses the tokens of a template to a tree, by the grammar of jinja2. A node is an object with a
// type. compile.js defines the meaning of the nodes.

const { tokenize } = require('./lexer.js')
const { TokenReader } = require('./token-reader.js')
const { TemplateError } = require('./values.js')

const CONSTANTS = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])
const COMPARISON_SIGNS = ['==', '!=', '<', '<=', '>', '>=']
const NEXT_TO_A_TEST = ['name', 'string', 'number', '(', '[', '{']

/**
 * @typedef {import('./token-reader.js').Node} Node
 *
 * @typedef {object} TupleOptions
 * @property {boolean} [withCondition] whether elements may be `a if b`
 * @property {string} [end] a name that ends the tuple
 * @property {() => Node} [parse] parses one element
 * @property {boolean} [isInBrackets] whether the tuple may be empty
 */

/** Parses a template. Returns the statements of its body, and whether it has blocks. */
function parse(source) {
  return new Parser(tokenize(source)).template()
}

class Parser extends TokenReader {
  /** Number of enclosing loops, in whose parts the name `loop` cannot be set. */
  #loops = 0
  /** Whether statements are in the body of a loop, outside of macros and call blocks in it. */
  #canBreak = false
  #isTarget = false
  /** Number of blocks, and of those that see the variables around them. */
  #blocks = 0
  #scopedBlocks = 0

  template() {
    const body = this.#body([])
    if (this.type !== 'end') throw this.unexpected()
    return { body, hasBlocks: this.#blocks > 0 }
  }

  // Statements

  /**
   * Parses statements up to a block with one of these names, and consumes the start of that block.
   */
  #body(ends) {
    return this.nested(() => {
      const body = []
      for (;;) {
        if (this.type === 'data') {
          body.push(this.node('Data', { text: this.expect('data') }))
        } else if (this.type === 'variable_begin') {
          this.take()
          const value = this.#tuple()
          this.expect('variable_end')
          body.push(this.node('Output', { value }))
        } else if (this.type === 'block_begin') {
          this.take()
          if (this.isName(...ends)) return body
          body.push(...this.#statement())
          this.expect('block_end')
        } else if (ends.length === 0) {
          return body
        } else {
          throw this.unexpected(ends.join(' or '))
        }
      }
    })
  }

  /**
   * Parses the body of a block. Returns it with the name of the block that ends it, which is
   * consumed.
   */
  #block(...ends) {
    return this.#blockOf(ends, this.#canBreak)
  }

  /** The same for a body in which `break` and `continue` are allowed, or not. */
  #blockOf(ends, canBreak) {
    this.skip(':')
    this.expect('block_end')
    const before = this.#canBreak
    this.#canBreak = canBreak
    const body = this.#body(ends)
    this.#canBreak = before
    return [body, this.expect('name')]
  }

  #statement() {
    const name = this.expect('name')
    switch (name) {
      case 'set':
        return [this.#set()]
      case 'if':
        return [this.#if()]
      case 'for':
        return [this.#for()]
      case 'macro':
        return [this.#macro()]
      case 'call':
        return [this.#callBlock()]
      case 'filter': {
        const filters = this.#filters(true)
        return [this.node('FilterBlock', { filters, body: this.#block('endfilter')[0] })]
      }
      case 'with':
        return [this.#with()]
      case 'generation': {
        // In transformers it is a call block.
        const [body] = this.#blockOf(['endgeneration'], false)
        return [this.node('Generation', { body })]
      }
      case 'break':
      case 'continue':
        if (!this.#canBreak) throw new TemplateError(`'${name}' outside of a loop`)
        return [this.node(name === 'break' ? 'Break' : 'Continue', {})]
      case 'print':
        return this.#print()
      case 'block':
        return [this.#namedBlock()]
      case 'autoescape':
        return [this.#autoescape()]
      default:
        throw new TemplateError(`the block '${name.slice(0, 100)}' is not supported`)
    }
  }

  #print() {
    const nodes = []
    while (this.type !== 'block_end') {
      if (nodes.length > 0) this.expect(',')
      nodes.push(this.node('Output', { value: this.#expression() }))
    }
    return nodes
  }

  #namedBlock() {
    this.#blocks++
    const name = this.expect('name')
    const isScoped = this.skip('scoped')
    if (isScoped) this.#scopedBlocks++
    const isRequired = this.skip('required')
    if (this.type === '-') throw new TemplateError(`the name of the block ${name} has a hyphen`)
    const [body] = this.#blockOf(['endblock'], false)
    const isBlank = body.every(({ type, text }) => type === 'Data' && text.trim() === '')
    if (isRequired && !isBlank) throw new TemplateError(`the required block ${name} is not empty`)
    this.skip(name)
    return this.node('Block', { name, body, isScoped, isRequired })
  }

  /** Without autoescape, a template is as it is. */
  #autoescape() {
    const { type, value } = this.#expression()
    if (type !== 'Constant' || value !== false)
      throw new TemplateError("the block 'autoescape' is only supported with the value false")
    return this.node('Scope', { body: this.#block('endautoescape')[0] })
  }

  #set() {
    const target = this.#target({ withNamespace: true })
    if (this.skip('=')) return this.node('Set', { target, value: this.#tuple() })
    const filters = this.#filters(false)
    return this.node('SetBlock', { target, filters, body: this.#block('endset')[0] })
  }

  #if() {
    const branches = []
    for (;;) {
      const test = this.#tuple({ withCondition: false })
      const [body, end] = this.#block('elif', 'else', 'endif')
      branches.push({ test, body })
      if (end === 'endif') return this.node('If', { branches, otherwise: [] })
      if (end === 'else') return this.node('If', { branches, otherwise: this.#block('endif')[0] })
    }
  }

  #for() {
    this.#loops++
    const scopedBlocks = this.#scopedBlocks
    const target = this.#target({ end: 'in' })
    this.expectName('in')
    const iterable = this.#tuple({ withCondition: false, end: 'recursive' })
    const test = this.skip('if') ? this.#expression() : undefined
    const isRecursive = this.skip('recursive')
    const [body, end] = this.#blockOf(['endfor', 'else'], true)
    // jinja2 renders a recursive loop in a function, which `break` in its `else` cannot leave.
    const otherwise = end === 'else' ? this.#blockOf(['endfor'], this.#canBreak && !isRecursive)[0] : []
    this.#loops--
    const hasScopedBlock = this.#scopedBlocks > scopedBlocks
    return this.node('For', { target, iterable, test, isRecursive, hasScopedBlock, body, otherwise })
  }

  #macro() {
    const name = this.expect('name')
    if (CONSTANTS.has(name)) throw new TemplateError(`a macro cannot have the name ${name}`)
    return this.node('Macro', { name, parameters: this.#parameters(), body: this.#blockOf(['endmacro'], false)[0] })
  }

  #parameters() {
    const parameters = []
    const names = new Set()
    this.expect('(')
    while (this.type !== ')') {
      if (parameters.length > 0) this.expect(',')
      const name = this.expect('name')
      if (CONSTANTS.has(name)) throw new TemplateError(`a parameter cannot have the name ${name}`)
      const value = this.skip('=') ? this.#expression() : undefined
      if (value === undefined && parameters.at(-1)?.value !== undefined)
        throw new TemplateError(`the parameter ${name} needs a default`)
      if (names.has(name)) throw new TemplateError(`two parameters ${name}`)
      names.add(name)
      parameters.push({ name, value })
    }
    this.expect(')')
    return parameters
  }

  #callBlock() {
    const parameters = this.type === '(' ? this.#parameters() : []
    const call = this.#expression()
    if (call.type !== 'Call') throw new TemplateError('a call block needs a call')
    if (call.keywords.some(({ name }) => name === 'caller')) throw new TemplateError('two arguments caller')
    return this.node('CallBlock', { call, parameters, body: this.#blockOf(['endcall'], false)[0] })
  }

  #with() {
    const values = []
    while (this.type !== 'block_end') {
      if (values.length > 0) this.expect(',')
      const target = this.#target({ canBeLoop: true })
      this.expect('=')
      values.push({ target, value: this.#expression() })
    }
    return this.node('With', { values, body: this.#block('endwith')[0] })
  }

  /**
   * A target of an assignment: a name, several names, or in `set` an attribute of a namespace.
   *
   * @param {{ end?: string, withNamespace?: boolean, canBeLoop?: boolean }} options `end`: the name
   *   after the target; `canBeLoop`: whether it can be named `loop` inside of loops
   */
  #target({ end, withNamespace = false, canBeLoop = this.#loops === 0 }) {
    this.#isTarget = true
    const target = this.#tuple({ end, parse: () => this.#primary(withNamespace) })
    this.#isTarget = false
    const check = (node) => {
      if (node.type === 'Tuple') node.items.forEach(check)
      if (node.type === 'Tuple' || node.type === 'NamespaceAttribute') return
      if (node.type !== 'Name') throw new TemplateError('only names can be set')
      if (node.name === 'loop' && !canBeLoop) throw new TemplateError("'loop' cannot be set in a loop")
    }
    check(target)
    return target
  }

  // Expressions, from the lowest to the highest precedence of operators

  /**
   * An expression, or a tuple of expressions separated by commas.
   *
   * @param {TupleOptions} [options]
   */
  #tuple({ withCondition = true, end, parse, isInBrackets = false } = {}) {
    const one = parse ?? (() => (withCondition ? this.#expression() : this.#or()))
    const items = []
    let isTuple = false
    for (;;) {
      if (items.length > 0) this.expect(',')
      if (['variable_end', 'block_end', ')'].includes(this.type) || (end !== undefined && this.isName(end))) break
      items.push(one())
      if (this.type !== ',') break
      isTuple = true
    }
    if (!isTuple && items.length === 1) return items[0]
    if (!isTuple && !isInBrackets) throw this.unexpected('an expression')
    return this.node('Tuple', { items }, items)
  }

  #expression() {
    let node = this.#or()
    while (this.skip('if')) {
      const test = this.#or()
      const otherwise = this.skip('else') ? this.nested(() => this.#expression()) : undefined
      node = this.node('Condition', { test, value: node, otherwise }, test, node, otherwise)
    }
    return node
  }

  #or() {
    let node = this.#and()
    while (this.skip('or')) node = this.#pair('Or', {}, node, this.#and())
    return node
  }

  #and() {
    let node = this.#not()
    while (this.skip('and')) node = this.#pair('And', {}, node, this.#not())
    return node
  }

  #pair(type, fields, left, right) {
    return this.node(type, { ...fields, left, right }, left, right)
  }

  #not() {
    if (!this.skip('not')) return this.#comparison()
    const value = this.nested(() => this.#not())
    return this.node('Not', { value }, value)
  }

  #comparison() {
    const first = this.#sum()
    const rest = []
    for (;;) {
      const operator = this.#comparisonOperator()
      if (operator === undefined) break
      rest.push({ operator, value: this.#sum() })
    }
    return rest.length === 0 ? first : this.node('Compare', { first, rest }, first, ...rest.map(({ value }) => value))
  }

  #comparisonOperator() {
    if (COMPARISON_SIGNS.includes(this.type)) return this.take().type
    if (this.skip('in')) return 'in'
    const { next } = this
    if (!this.isName('not') || next?.type !== 'name' || next.value !== 'in') return undefined
    this.take()
    this.take()
    return 'not in'
  }

  #sum() {
    let node = this.#concatenation()
    while (this.type === '+' || this.type === '-')
      node = this.#pair('Binary', { operator: this.expect(this.type) }, node, this.#concatenation())
    return node
  }

  #concatenation() {
    const items = [this.#product()]
    while (this.skip('~')) items.push(this.#product())
    return items.length === 1 ? items[0] : this.node('Concat', { items }, items)
  }

  #product() {
    let node = this.#power()
    while (['*', '/', '//', '%'].includes(this.type))
      node = this.#pair('Binary', { operator: this.expect(this.type) }, node, this.#power())
    return node
  }

  #power() {
    let node = this.#signed(true)
    while (this.skip('**')) node = this.#pair('Binary', { operator: '**' }, node, this.#signed(true))
    return node
  }

  #signed(withFilters) {
    let node
    if (this.type === '-' || this.type === '+') {
      const operator = this.expect(this.type)
      const value = this.nested(() => this.#signed(false))
      node = this.node('Sign', { operator, value }, value)
    } else {
      node = this.#primary(false)
    }
    node = this.#postfix(node)
    return withFilters ? this.#filtersAndTests(node) : node
  }

  #primary(withNamespace) {
    switch (this.type) {
      case 'name':
        return this.#name(this.expect('name'), withNamespace)
      case 'string': {
        const parts = []
        while (this.type === 'string') parts.push(this.expect('string'))
        return this.node('Constant', { value: parts.join('') })
      }
      case 'number':
        return this.node('Constant', { value: this.expect('number') })
      case '(':
        this.take()
        return this.nested(() => {
          const node = this.#tuple({ isInBrackets: true })
          this.expect(')')
          return node
        })
      case '[':
        return this.nested(() => this.#list())
      case '{':
        return this.nested(() => this.#dict())
      default:
        throw this.unexpected()
    }
  }

  #name(name, withNamespace) {
    if (CONSTANTS.has(name)) return this.node('Constant', { value: CONSTANTS.get(name) })
    if (withNamespace && this.skip('.'))
      return this.node('NamespaceAttribute', { name, attribute: this.expect('name') })
    return this.node('Name', { name, isTarget: this.#isTarget })
  }

  #list() {
    const items = []
    this.expect('[')
    while (this.type !== ']') {
      if (items.length > 0) this.expect(',')
      if (this.type === ']') break
      items.push(this.#expression())
    }
    this.expect(']')
    return this.node('List', { items }, items)
  }

  #dict() {
    const entries = []
    this.expect('{')
    while (this.type !== '}') {
      if (entries.length > 0) this.expect(',')
      if (this.type === '}') break
      const key = this.#expression()
      this.expect(':')
      entries.push({ key, value: this.#expression() })
    }
    this.expect('}')
    return this.node(
      'Dict',
      { entries },
      entries.flatMap(({ key, value }) => [key, value]),
    )
  }

  #postfix(start) {
    let node = start
    for (;;) {
      if (this.skip('.')) node = this.#attribute(node)
      else if (this.type === '[') node = this.nested(() => this.#subscript(node))
      else if (this.type === '(') node = this.nested(() => this.#call(node))
      else return node
    }
  }

  #attribute(object) {
    if (this.type === 'name') return this.node('Attribute', { object, name: this.expect('name') }, object)
    if (this.type !== 'number' || typeof this.value === 'object') throw this.unexpected('a name or a number')
    const key = this.node('Constant', { value: this.expect('number') })
    return this.node('Item', { object, key }, object)
  }

  #subscript(object) {
    this.expect('[')
    const keys = []
    while (this.type !== ']') {
      if (keys.length > 0) this.expect(',')
      keys.push(this.#subscripted())
    }
    this.expect(']')
    const [key] = keys
    if (keys.length !== 1) {
      const items = this.node('Tuple', { items: keys }, keys)
      return this.node('Item', { object, key: items }, object, items)
    }
    return this.node(key.type === 'Slice' ? 'SliceOf' : 'Item', { object, key }, object, key)
  }

  #subscripted() {
    const parts = [this.type === ':' ? undefined : this.#expression()]
    if (this.type !== ':') return parts[0]
    while (parts.length < 3 && this.skip(':'))
      parts.push([':', ']', ','].includes(this.type) ? undefined : this.#expression())
    return this.node('Slice', { parts }, parts)
  }

  #call(callee) {
    const given = this.#arguments()
    return this.node('Call', { callee, ...given }, callee, given.all)
  }

  /** The arguments of a call: values, named values, `*list` and `**mapping`. */
  #arguments() {
    const given = { args: [], keywords: [], list: undefined, mapping: undefined, all: [] }
    const names = new Set()
    const check = (isAllowed) => {
      if (!isAllowed) throw new TemplateError('arguments of a call in a wrong order')
    }
    const value = () => {
      const node = this.#expression()
      given.all.push(node)
      return node
    }
    this.expect('(')
    for (let isFirst = true; this.type !== ')'; isFirst = false) {
      if (!isFirst) this.expect(',')
      if (this.type === ')') break
      if (this.skip('*')) {
        check(given.list === undefined && given.mapping === undefined)
        given.list = value()
      } else if (this.skip('**')) {
        check(given.mapping === undefined)
        given.mapping = value()
      } else if (this.type === 'name' && this.next.type === '=') {
        check(given.mapping === undefined)
        const name = this.expect('name')
        this.take()
        if (names.has(name)) throw new TemplateError(`two arguments ${name}`)
        names.add(name)
        given.keywords.push({ name, value: value() })
      } else {
        check(given.list === undefined && given.mapping === undefined && given.keywords.length === 0)
        given.args.push(value())
      }
    }
    this.expect(')')
    return given
  }

  #filtersAndTests(start) {
    let node = start
    for (;;) {
      if (this.skip('|')) node = this.#applied('Filter', node, this.#filter())
      else if (this.skip('is')) node = this.#test(node)
      else if (this.type === '(') node = this.nested(() => this.#call(node))
      else return node
    }
  }

  #applied(type, value, applied) {
    return this.node(type, { value, ...applied }, value, applied.all)
  }

  /** The filters of a block. In a `filter` block, the first one has no `|` before it. */
  #filters(startsInline) {
    const filters = startsInline ? [this.#filter()] : []
    while (this.skip('|')) filters.push(this.#filter())
    return filters
  }

  /** A filter: its name and its arguments. */
  #filter() {
    const name = this.#dottedName()
    return { name, ...(this.type === '(' ? this.nested(() => this.#arguments()) : NO_ARGUMENTS) }
  }

  #dottedName() {
    const names = [this.expect('name')]
    while (this.skip('.')) names.push(this.expect('name'))
    return names.join('.')
  }

  #test(value) {
    const isNegated = this.skip('not')
    const name = this.#dottedName()
    let given = NO_ARGUMENTS
    if (this.type === '(') {
      given = this.nested(() => this.#arguments())
    } else if (NEXT_TO_A_TEST.includes(this.type) && !this.isName('else', 'or', 'and')) {
      if (this.isName('is')) throw new TemplateError('a test of a test: put the first in parentheses')
      const argument = this.#postfix(this.#primary(false))
      given = { ...NO_ARGUMENTS, args: [argument], all: [argument] }
    }
    const node = this.#applied('Test', value, { name, ...given })
    return isNegated ? this.node('Not', { value: node }, node) : node
  }
}

const NO_ARGUMENTS = { args: [], keywords: [], list: undefined, mapping: undefined, all: [] }

module.exports = { parse }
