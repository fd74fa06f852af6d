'use strict'

// Checks arguments against the keywords of JSON Schema that descriptions of tools use. Others are
// not checked.

const MAX_DEPTH = 100
/** The maximum number of problems that are reported of a call. */
const MAX_PROBLEMS = 100

const TYPES = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Whether two JSON values are equal; without recursion, since a model can nest at any depth. */
function same(first, second) {
  const pairs = [[first, second]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    const keys = Object.keys(a)
    if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false
      pairs.push([a[key], b[key]])
    }
  }
  return true
}

/** What is wrong with a value, with its place: `['arguments.city is missing']`. */
function problemsOf(value, schema) {
  const problems = []
  check(value, schema, { place: 'arguments', depth: 0, problems, limit: MAX_PROBLEMS })
  return problems
}

/** Adds the problems of a value, up to the limit. */
function check(value, schema, at) {
  const { place, depth, problems, limit } = at
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH || problems.length >= limit) return
  const add = (what) => {
    if (problems.length < limit) problems.push(`${place} ${what}`)
  }
  const types = [schema.type ?? []].flat().filter((type) => Object.hasOwn(TYPES, type))
  if (types.length > 0 && !types.some((type) => TYPES[type](value))) return add(`is not of type ${types.join(' or ')}`)
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => same(choice, value)))
    add('is none of the values that are allowed')
  if ('const' in schema && !same(schema.const, value)) add('is not the value that is allowed')
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices) && !choices.some((choice) => matches(value, choice, at)))
    add('matches none of the schemas that are allowed')
  if (TYPES.array(value) && schema.items !== undefined)
    for (let i = 0; i < value.length && problems.length < limit; i++)
      check(value[i], schema.items, { ...at, place: `${place}[${i}]`, depth: depth + 1 })
  if (TYPES.object(value)) checkMembers(value, schema, at)
}

function matches(value, schema, { place, depth }) {
  const problems = []
  check(value, schema, { place, depth: depth + 1, problems, limit: 1 })
  return problems.length === 0
}

function checkMembers(value, schema, at) {
  const { place, depth, problems, limit } = at
  const properties = schema.properties ?? {}
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (problems.length >= limit) return
    if (!Object.hasOwn(value, name)) problems.push(`${place}.${name} is missing`)
  }
  for (const [name, member] of Object.entries(value)) {
    if (problems.length >= limit) return
    if (Object.hasOwn(properties, name))
      check(member, properties[name], { ...at, place: `${place}.${name}`, depth: depth + 1 })
    else if (schema.additionalProperties === false) problems.push(`${place}.${name} is not known`)
  }
}

module.exports = { problemsOf }
