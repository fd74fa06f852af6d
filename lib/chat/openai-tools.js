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

const { entriesOf } = require('@tokenlane/jinja/internal').entries

const { wrongType } = require('../errors.js')

/** `refuse` throws for what OpenAI does not document. */
function countTools(tools, encoding, countOf, refuse) {
  if (tools.length === 0) return 0
  const rule = new ToolRule(countOf, refuse)
  return tools.reduce((sum, tool, i) => sum + PER_FUNCTION[encoding] + rule.tool(tool, `tools[${i}]`), PER_LIST)
}

class ToolRule {
  #countOf
  #refuse

  constructor(countOf, refuse) {
    this.#countOf = countOf
    this.#refuse = refuse
  }

  tool(tool, location) {
    const given = tool?.function
    if (typeof given?.name !== 'string') {
      if (typeof tool !== 'object' || tool === null) throw wrongType(location, 'a tool (an object)', tool)
      throw this.#refuse(`${location} (it is not a function)`)
    }
    const own = `${location}.function`
    const { name, parameters } = given
    const { properties = {} } = this.#object(parameters ?? {}, `${own}.parameters`)
    const entries = entriesOf(this.#object(properties, `${own}.parameters.properties`))
    const head = this.#line([name], given.description, `${own}.description`)
    this.#check(given, FUNCTION_FIELDS, own)
    this.#check(parameters ?? {}, PARAMETER_FIELDS, `${own}.parameters`)
    return entries.reduce(
      (sum, [key, schema]) => sum + this.#property(key, schema, `${own}.parameters.properties.${key}`),
      head + (entries.length > 0 ? PER_PROPERTIES : 0),
    )
  }

  #property(name, schema, location) {
    const { type, description, enum: values } = this.#object(schema, location)
    if (typeof type !== 'string') this.#refuse(`${location}.type`)
    this.#check(schema, PROPERTY_FIELDS, location)
    return (
      PER_PROPERTY +
      this.#line([name, type], description, `${location}.description`) +
      this.#enum(values, `${location}.enum`)
    )
  }

  #enum(values, location) {
    if (values === undefined) return 0
    if (!Array.isArray(values)) throw wrongType(location, 'an array', values)
    return values.reduce((sum, value, i) => {
      if (typeof value !== 'string') this.#refuse(`${location}[${i}] (it is not a string)`)
      return sum + PER_ENUM_VALUE + this.#countOf(value)
    }, PER_ENUM)
  }

  /** `name:type:description` without the full stop at its end. */
  #line(words, description, location) {
    if (description === undefined) this.#refuse(`${location} (it is missing)`)
    if (typeof description !== 'string') throw wrongType(location, 'a string', description)
    return this.#countOf([...words, description.endsWith('.') ? description.slice(0, -1) : description].join(':'))
  }

  #check(schema, known, location) {
    for (const [name, value] of entriesOf(schema))
      if (!known.includes(name) && value !== undefined) this.#refuse(`${location}.${name}`)
  }

  #object(value, location) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw wrongType(location, 'an object', value)
    return value
  }
}

module.exports = { countTools }
