'use strict'

// Writes functions, given as JSON Schema, as TypeScript declarations for gpt-oss. OpenAI published
// two writers with different results: the chat template of the model (`functionsSection`) and the
// library openai-harmony (`declareFunctions`).

const { output, spend } = require('@tokenlane/jinja/internal').renderCost
const { fromJs } = require('@tokenlane/jinja/internal').convert
const { entriesOf } = require('@tokenlane/jinja/internal').entries
const { toJson } = require('@tokenlane/jinja/internal').json
const { str } = require('@tokenlane/jinja/internal').print

const JSON_STYLE = { ensureAscii: false, indent: null, separators: null, sortKeys: false }
/** Longer types of elements become `any` in the chat template. In code points. */
const MAX_ELEMENT = 50

/** A value as json.dumps of Python writes it with ensure_ascii=False. */
const jsonOf = (value) => toJson(fromJs(value), JSON_STYLE)
/** A value as Python prints it. */
const printed = (value) => str(fromJs(value))
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isFilled = (value) => Array.isArray(value) && value.length > 0
/** The fields of a schema; `true` and other values that are not objects have none. */
const fieldsOf = (schema) => (isObject(schema) ? schema : {})

/** Charges a piece of text and returns it. */
function charged(text) {
  spend(4)
  output(text.length)
  return text
}

// The chat template

/** The section of the developer message with the functions of the option `tools`. */
function functionsSection(tools, refusal) {
  const written = tools.map((tool, i) => {
    const { name, description, parameters } = fieldsOf(tool.function)
    if (typeof name !== 'string') throw refusal(`tools[${i}] must be { type: 'function', function: { name, … } }`)
    if (description !== undefined && typeof description !== 'string')
      throw refusal(`tools[${i}].function.description must be a string`)
    const note = description === undefined ? '' : `// ${description}\n`
    return charged(`${note}type ${name} = ${signature(fieldsOf(parameters))}`)
  })
  return `## functions\n\nnamespace functions {\n\n${written.join('')}} // namespace functions`
}

function signature({ properties, required }) {
  const entries = entriesOf(fieldsOf(properties))
  if (entries.length === 0) return '() => any;\n\n'
  const lines = entries.map(([name, schema]) => {
    const { description } = fieldsOf(schema)
    const note = description ? `// ${printed(description)}\n` : ''
    return `${note}${nameOf(name, required)}: ${typeOf(schema)}${defaultOf(fieldsOf(schema))},\n`
  })
  return `(_: {\n${lines.join('')}}) => any;\n\n`
}

const nameOf = (name, required) => (Array.isArray(required) && required.includes(name) ? name : `${name}?`)

function defaultOf(schema) {
  if (schema.default === undefined) return ''
  if (isFilled(schema.enum)) return `, // default: ${printed(schema.default)}`
  if (isFilled(schema.oneOf)) return `// default: ${printed(schema.default)}`
  return `, // default: ${jsonOf(schema.default)}`
}

const NUMBER_TYPES = ['number', 'integer']

function typeOf(schema) {
  return charged(plainTypeOf(fieldsOf(schema)))
}

function plainTypeOf(schema) {
  const { type, nullable } = schema
  const orNull = nullable ? ' | null' : ''
  if (type === 'array') return `${elementsOf(schema.items)}${orNull}`
  if (isFilled(type)) return type.map(printed).join(' | ')
  if (isFilled(schema.oneOf)) return schema.oneOf.map((one, i, all) => variant(one, i === all.length - 1)).join('')
  if (type === 'string')
    return isFilled(schema.enum) ? `"${schema.enum.map(printed).join('" | "')}"` : `string${orNull}`
  if (NUMBER_TYPES.includes(type)) return 'number'
  if (type === 'boolean') return 'boolean'
  return type === 'object' ? objectOf(schema) : 'any'
}

function elementsOf(items) {
  if (!isObject(items) || Object.keys(items).length === 0) return 'any[]'
  if (items.type === 'string') return 'string[]'
  const element = typeOf(items)
  const isLong = element.length > 2 * MAX_ELEMENT || [...element].length > MAX_ELEMENT
  return element === 'object | object' || isLong ? 'any[]' : `${element}[]`
}

// The indentation and the line breaks below are those that the chat template leaves in its output.

function variant(schema, isLast) {
  const fields = fieldsOf(schema)
  const note = fields.description ? `// ${printed(fields.description)}` : ''
  const initial = fields.default === undefined ? '' : `${' '.repeat(20)}// default: ${jsonOf(fields.default)}`
  return `${typeOf(schema)}${note}${initial}${isLast ? '' : ' | \n'}`
}

function objectOf({ properties, required }) {
  const entries = entriesOf(fieldsOf(properties))
  if (entries.length === 0) return 'object'
  const members = entries.map(([name, schema]) => `${nameOf(name, required)}: \n${' '.repeat(16)}${typeOf(schema)}`)
  return `{\n${members.join(', ')}}`
}

// openai-harmony

/** A tool namespace `{ name, description, tools: [{ name, description, parameters }] }`. */
function declareFunctions(namespace, refusal) {
  const { name, description, tools = [] } = fieldsOf(namespace)
  if (typeof name !== 'string') throw refusal('a tool namespace needs a name')
  if (!Array.isArray(tools)) throw refusal(`the tools of the namespace ${name} must be an array`)
  const lines = [`## ${name}\n`]
  const noted = linesOf(description ?? '')
  lines.push(...(tools.length > 0 ? noted.map((line) => `// ${line}`) : noted))
  if (tools.length > 0) {
    lines.push(`namespace ${name} {\n`)
    for (const tool of tools) {
      const { name: called, description: about, parameters } = fieldsOf(tool)
      if (typeof called !== 'string') throw refusal(`a tool of the namespace ${name} needs a name`)
      lines.push(...linesOf(about ?? '').map((line) => `// ${line}`))
      const given = parameters === undefined || parameters === null ? '' : `_: ${harmonyType(parameters, '')}`
      lines.push(`type ${called} = (${given}) => any;\n`)
    }
    lines.push(`} // namespace ${name}`)
  }
  return charged(lines.join('\n'))
}

/** The lines of a text. A line break at the end starts no line. */
function linesOf(text) {
  const lines = String(text).split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const SIMPLE_TYPES = { string: 'string', number: 'number', integer: 'number', boolean: 'boolean' }

function harmonyType(schema, indent) {
  return charged(plainHarmonyType(fieldsOf(schema), indent))
}

function plainHarmonyType(schema, indent) {
  const { type, oneOf } = schema
  if (Array.isArray(oneOf)) {
    const written = oneOf.map((one) => {
      const notes = []
      if (typeof one?.description === 'string') notes.push(one.description)
      if (one?.default !== undefined) notes.push(`default: ${quotedDefault(one)}`)
      return `\n${indent} | ${nullableType(one, `${indent}   `)}${trailing(notes)}`
    })
    return written.join('')
  }
  if (Array.isArray(type)) {
    const names = type.filter((one) => typeof one === 'string').map((one) => (one === 'integer' ? 'number' : one))
    if (names.length > 0) return names.join(' | ')
  }
  if (type === 'object') return harmonyObject(schema, indent)
  if (type === 'string' && Array.isArray(schema.enum)) {
    const values = schema.enum.filter((one) => typeof one === 'string').map((one) => `"${one}"`)
    return values.length > 0 ? values.join(' | ') : 'string'
  }
  if (type === 'array') return schema.items === undefined ? 'Array<any>' : `${harmonyType(schema.items, indent)}[]`
  return Object.hasOwn(SIMPLE_TYPES, type) ? SIMPLE_TYPES[type] : 'any'
}

const trailing = (notes) => (notes.length === 0 ? '' : ` // ${notes.join(' ')}`)

function nullableType(schema, indent) {
  const written = harmonyType(schema, indent)
  return schema?.nullable === true && !written.includes('null') ? `${written} | null` : written
}

/** A default: strings in quotes that are not escaped, other values as JSON. */
const quotedDefault = (schema) =>
  typeof schema.default === 'string' && !isFilled(schema.enum) ? `"${schema.default}"` : JSON.stringify(schema.default)

/** The same, but a string of an enum has no quotes. */
const shownDefault = (schema) =>
  typeof schema.default === 'string' && isFilled(schema.enum) ? schema.default : quotedDefault(schema)

function harmonyObject({ description, properties, required }, indent) {
  const about = typeof description === 'string' ? `${indent}// ${description}\n` : ''
  const members = entriesOf(fieldsOf(properties)).map(([name, value]) => {
    const schema = fieldsOf(value)
    const key = nameOf(name, required)
    const notes = notesOf(schema, indent)
    if (Array.isArray(schema.oneOf)) return charged(notes + harmonyUnion(key, schema, indent))
    const initial = schema.default === undefined ? '' : ` // default: ${shownDefault(schema)}`
    return charged(`${notes}${indent}${key}: ${nullableType(value, `${indent}    `)},${initial}\n`)
  })
  return `${about}{\n${members.join('')}${indent}}`
}

/** The comments above a property: title, description and examples. */
function notesOf({ title, description, examples, oneOf }, indent) {
  const lines = []
  if (typeof title === 'string') lines.push(`// ${title}`, '//')
  if (typeof description === 'string' && oneOf === undefined) lines.push(`// ${description}`)
  if (isFilled(examples)) {
    lines.push('// Examples:')
    for (const one of examples) if (typeof one === 'string') lines.push(`// - "${one}"`)
  }
  return lines.map((line) => `${indent}${line}\n`).join('')
}

/** A property that has one of several types, each in a line. */
function harmonyUnion(key, schema, indent) {
  const { description, oneOf } = schema
  const isAbove = typeof description === 'string' && !(oneOf.length > 0 && description === oneOf[0]?.description)
  const lines = []
  if (isAbove) lines.push(`${indent}// ${description}`)
  if (schema.default !== undefined) lines.push(`${indent}// default: ${shownDefault(schema)}`)
  lines.push(`${indent}${key}:`)
  oneOf.forEach((one, i) => {
    const notes = []
    const own = one?.description
    if (typeof own === 'string' && own !== description && !(i === 0 && isAbove)) notes.push(own)
    if (one?.default !== undefined) notes.push(`default: ${shownDefault(one)}`)
    lines.push(`${indent} | ${nullableType(one, `${indent}   `)}${trailing(notes)}`)
  })
  return `${lines.join('\n')}\n${indent},\n`
}

module.exports = { declareFunctions, functionsSection, jsonOf }
