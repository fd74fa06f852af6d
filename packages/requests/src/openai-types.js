'use strict'

// Writes functions, given as JSON Schema, in the form of TypeScript declarations for which OpenAI's
// models are billed. OpenAI does not publish that form. The one below has the number of tokens
// that the API reports, to within one token per request, for the requests in
// __test__/testdata/chat/usage.json.

const {
  entriesOf,
  renderCost: { checkDepth, output, spend },
} = require('tokenlane/internal/requests.js')

const { jsonText } = require('./json-text.js')
const { fieldsOf, isObject } = require('./values.js')

/** What separates the parts of a declaration. The models of o200k_base get a shorter form. */
const STYLES = {
  cl100k_base: { colon: ': ', comma: ',', union: ' | ', next: '\n' },
  o200k_base: { colon: ':', comma: '', union: '|', next: ' ' },
}
const HEADING = '# Tools\n\n'

/** Charges a piece of text and returns it. */
function charged(text) {
  spend(4)
  output(text.length)
  return text
}

/**
 * The declarations of functions `{ name, description, parameters }`. A reference is written as its
 * name or, with `inline`, as the type that it refers to.
 */
function declarations(functions, encoding, inline = false) {
  const style = STYLES[encoding]
  const written = functions.map(({ name, description, parameters }) => {
    const members = new Declaration(style, inline ? parameters : undefined).members(fieldsOf(parameters), 0)
    const type = members === '' ? '() => any;' : `(_: {\n${comment(parameters.title)}${members}}) => any;`
    return `${comment(description)}type ${name} = ${type}`
  })
  return `## functions\n\nnamespace functions {\n\n${written.join(style.next)}\n\n} // namespace functions`
}

/** The lines of a description as comments. Space at their ends takes no tokens. */
function comment(description) {
  if (typeof description !== 'string' || description === '') return ''
  const lines = description.split('\n').map((line) => `// ${line.trim()}`.trimEnd())
  return charged(`${lines.join('\n')}\n`)
}

class Declaration {
  #style
  /** The schema that references refer to; undefined if they stay names. */
  #root
  /** The references that are being written: a type may contain itself. */
  #open = new Set()

  constructor(style, root) {
    this.#style = style
    this.#root = root
  }

  members({ properties, required }, depth) {
    checkDepth(depth, 'types')
    const { colon, comma } = this.#style
    const isRequired = new Set(Array.isArray(required) ? required : [])
    const written = entriesOf(fieldsOf(properties)).map(([name, value]) => {
      const schema = fieldsOf(value)
      const note = comment(schema.title) + comment(schema.description)
      const initial =
        schema.default === undefined ? '' : ` // default: ${jsonText(schema.default, `the default of ${name}`)}`
      const type =
        schema.const === undefined ? this.#type(schema, depth + 1) : jsonText(schema.const, `the const of ${name}`)
      return charged(`${note}${name}${isRequired.has(name) ? '' : '?'}${colon}${type}${comma}${initial}\n`)
    })
    return written.join('')
  }

  #type(schema, depth) {
    checkDepth(depth, 'types')
    const { $ref: reference, enum: values, type, properties, items, anyOf, oneOf, allOf } = fieldsOf(schema)
    if (typeof reference === 'string') return this.#reference(reference, depth)
    if (Array.isArray(values)) return values.map((value) => jsonText(value, 'an enum')).join(this.#style.union)
    const variants = [anyOf, oneOf, allOf].find(Array.isArray)
    if (variants !== undefined) return this.#union(variants, depth)
    if (Array.isArray(type))
      return this.#union(
        type.map((one) => ({ ...schema, type: one })),
        depth,
      )
    if (type === 'integer') return 'number'
    if (type === 'array') return isObject(items) ? `${this.#type(items, depth + 1)}[]` : 'any[]'
    if (type === 'object')
      return isObject(properties) ? `{\n${comment(schema.title)}${this.members(schema, depth)}}` : 'object'
    return charged(typeof type === 'string' ? type : 'any')
  }

  #union(variants, depth) {
    return variants.map((one) => this.#type(one, depth + 1)).join(this.#style.union)
  }

  /** A reference has the form `#/$defs/Name`. */
  #reference(reference, depth) {
    const path = reference.split('/')
    const target = path[0] === '#' ? path.slice(1).reduce((value, key) => value?.[key], this.#root) : undefined
    if (!isObject(target) || this.#open.has(reference)) return charged(path.at(-1))
    this.#open.add(reference)
    const written = this.#type(target, depth + 1)
    this.#open.delete(reference)
    return written
  }
}

module.exports = { HEADING, declarations }
