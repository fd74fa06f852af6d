'use strict'

// The tokens of a template with the current position of the parser, and the creation of nodes.

const { LimitError, allocate, checkDepth } = require('./render-cost.js')
const { TemplateError } = require('./values.js')

/** Maximum nesting of blocks and brackets. Each level recurses through all operator levels. */
const MAX_NESTING = 100

/**
 * A node of the tree. `children` are the nodes in an expression. Other fields depend on the type.
 *
 * @typedef {Record<string, any> & NodeShape} Node
 *
 * @typedef {{ type: string, children: Node[], depth: number, size: number }} NodeShape
 */

class TokenReader {
  #tokens
  #at = 0
  #nesting = 0

  constructor(tokens) {
    this.#tokens = tokens
  }

  /** Consumes the current token, and returns it. */
  take() {
    return this.#tokens[this.#at++]
  }

  /** The token after the current one, or undefined. */
  get next() {
    return this.#tokens[this.#at + 1]
  }

  get type() {
    return this.#tokens[this.#at].type
  }

  get value() {
    return this.#tokens[this.#at].value
  }

  isName(...names) {
    return this.type === 'name' && names.includes(this.value)
  }

  /** Skips the current token if it is this operator or name. Returns whether it was. */
  skip(word) {
    const token = this.#tokens[this.#at]
    const isIt = token.value === word && (token.type === word || token.type === 'name')
    if (isIt) this.take()
    return isIt
  }

  /** Consumes a token of this type, and returns its value. */
  expect(type) {
    if (this.type !== type) throw this.unexpected(type)
    return this.take().value
  }

  expectName(name) {
    if (!this.isName(name)) throw this.unexpected(name)
    this.take()
  }

  unexpected(expected) {
    const { type, value } = this.#tokens[this.#at]
    const found =
      type === 'end'
        ? 'the end'
        : typeof value === 'string' && value !== ''
          ? `'${value.slice(0, 100)}'`
          : type.replace('_', ' ')
    return new TemplateError(
      `${found} ${expected === undefined ? 'is unexpected' : `where ${expected.replace('_', ' ')} is expected`}`,
    )
  }

  /**
   * Creates a node with its children, the depth of its subtree and the number of nodes in it.
   *
   * @returns {Node}
   */
  node(type, fields, ...parts) {
    allocate(100)
    let depth = 0
    let size = 1
    const children = parts.flat().filter((part) => part !== undefined)
    for (const child of children) {
      depth = Math.max(depth, child.depth)
      size += child.size
    }
    checkDepth(depth, 'expressions')
    return { type, ...fields, children, depth: depth + 1, size }
  }

  /** Parses the content of brackets or of a block. */
  nested(parse) {
    if (++this.#nesting > MAX_NESTING)
      throw new LimitError(undefined, 'levels of nested brackets and blocks', MAX_NESTING)
    const result = parse()
    this.#nesting--
    return result
  }
}

module.exports = { TokenReader }
