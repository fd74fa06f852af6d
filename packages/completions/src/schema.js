'use strict'

// Checks arguments against the keywords of JSON Schema that descriptions of tools use. Others are
// not checked.

const MAX_DEPTH = 100

const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** What is wrong with a value, with its place: `['city is missing']`. */
function problemsOf(value, schema, place = 'arguments', depth = 0) {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return []
  const types = [schema.type ?? []].flat().filter((type) => Object.hasOwn(TYPES, type))
  if (types.length > 0 && !types.some((type) => TYPES[type](value)))
    return [`${place} is not of type ${types.join(' or ')}`]
  const problems = []
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => same(choice, value)))
    problems.push(`${place} is none of the values that are allowed`)
  if ('const' in schema && !same(schema.const, value)) problems.push(`${place} is not the value that is allowed`)
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices) && !choices.some((choice) => problemsOf(value, choice, place, depth + 1).length === 0))
    problems.push(`${place} matches none of the schemas that are allowed`)
  if (TYPES.array(value) && schema.items !== undefined)
    problems.push(...value.flatMap((item, i) => problemsOf(item, schema.items, `${place}[${i}]`, depth + 1)))
  if (TYPES.object(value)) problems.push(...membersOf(value, schema, place, depth))
  return problems
}

function membersOf(value, schema, place, depth) {
  const properties = schema.properties ?? {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const problems = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${place}.${name} is missing`)
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(properties, name))
      problems.push(...problemsOf(member, properties[name], `${place}.${name}`, depth + 1))
    else if (schema.additionalProperties === false) problems.push(`${place}.${name} is not known`)
  }
  return problems
}

module.exports = { problemsOf }
