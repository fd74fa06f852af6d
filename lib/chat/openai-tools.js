'use strict'

// Counts the tokens of function definitions by the rule in OpenAI's cookbook ("How to count tokens
// with tiktoken", section 7). The rule covers the name and description of a function, and the name,
// type, description and enum of its properties. Anything else in a schema is not documented.

/** Tokens of a function beside its texts, by encoding. The other numbers hold for both. */
const PER_FUNCTION = { cl100k_base: 10, o200k_base: 7 }
const PER_PROPERTIES = 3
const PER_PROPERTY = 3
const PER_ENUM = -3
const PER_ENUM_VALUE = 3
const PER_LIST = 12

/** The fields that the rule covers. Those that are not counted take no tokens of their own. */
const FUNCTION_FIELDS = ['name', 'description', 'parameters', 'strict']
const PARAMETER_FIELDS = ['type', 'properties', 'required', 'additionalProperties', '$schema']
const PROPERTY_FIELDS = ['type', 'description', 'enum']

const { wrongType } = require('../errors.js')
const { entriesOf } = require('./entries.js')

/** `note` throws for what OpenAI does not document, or accepts it as an estimate. */
function countTools(tools, encoding, countOf, note) {
  if (tools.length === 0) return 0
  const rule = new ToolRule(countOf, note)
  return tools.reduce((sum, tool, i) => sum + PER_FUNCTION[encoding] + rule.tool(tool, `tools[${i}]`), PER_LIST)
}

class ToolRule {
  #countOf
  #note

  constructor(countOf, note) {
    this.#countOf = countOf
    this.#note = note
  }

  tool(tool, place) {
    const given = tool?.function
    if (typeof given?.name !== 'string') {
      if (typeof tool !== 'object' || tool === null) throw wrongType(place, 'a tool (an object)', tool)
      return this.#extra(tool, `${place} (it is not a function)`)
    }
    const own = `${place}.function`
    const { name, parameters } = given
    const { properties = {} } = this.#object(parameters ?? {}, `${own}.parameters`)
    const entries = entriesOf(this.#object(properties, `${own}.parameters.properties`))
    const head = this.#line([name], given.description, `${own}.description`)
    const extra =
      this.#rest(given, FUNCTION_FIELDS, own) + this.#rest(parameters ?? {}, PARAMETER_FIELDS, `${own}.parameters`)
    return entries.reduce(
      (sum, [key, schema]) => sum + this.#property(key, schema, `${own}.parameters.properties.${key}`),
      head + extra + (entries.length > 0 ? PER_PROPERTIES : 0),
    )
  }

  #property(name, schema, place) {
    const { type, description, enum: values } = this.#object(schema, place)
    const isPlain = typeof type === 'string'
    const extra = isPlain ? 0 : this.#extra(type ?? null, `${place}.type`)
    const line = this.#line([name, isPlain ? type : ''], description, `${place}.description`)
    return (
      PER_PROPERTY + extra + line + this.#enum(values, `${place}.enum`) + this.#rest(schema, PROPERTY_FIELDS, place)
    )
  }

  #enum(values, place) {
    if (values === undefined) return 0
    if (!Array.isArray(values)) throw wrongType(place, 'an array', values)
    return values.reduce((sum, value, i) => {
      if (typeof value !== 'string') this.#note(`${place}[${i}] (it is not a string)`)
      return sum + PER_ENUM_VALUE + this.#countOf(typeof value === 'string' ? value : JSON.stringify(value))
    }, PER_ENUM)
  }

  /** `name:type:description` without the full stop at its end. */
  #line(words, description, place) {
    if (description === undefined) this.#note(`${place} (it is missing)`)
    else if (typeof description !== 'string') throw wrongType(place, 'a string', description)
    const said = description ?? ''
    return this.#countOf([...words, said.endsWith('.') ? said.slice(0, -1) : said].join(':'))
  }

  #rest(schema, known, place) {
    return entriesOf(schema).reduce(
      (sum, [name, value]) =>
        known.includes(name) || value === undefined ? sum : sum + this.#extra(value, `${place}.${name}`),
      0,
    )
  }

  /** Estimates a value by its JSON. */
  #extra(value, place) {
    this.#note(place)
    return this.#countOf(JSON.stringify(value) ?? '')
  }

  #object(value, place) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(place, 'an object', value)
    return value
  }
}

module.exports = { countTools }
