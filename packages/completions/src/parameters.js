'use strict'

// Arguments in tags are texts. The schema of the tool says which become numbers, lists or objects;
// without one, a text that is JSON is that value.

const { Reader } = require('./reader.js')
const { PYTHON, dialectOf, literal } = require('./values.js')

const PYTHON_DIALECT = dialectOf(PYTHON, (marker) => marker)
const PYTHON_WORDS = { True: 'true', False: 'false', None: 'null' }
const WORDS = { true: 'true', false: 'false', null: 'null', none: 'null' }

/** The types of a parameter by the schema of a tool; undefined if it has none. */
function typeOf(schema, name) {
  const properties = schema?.properties ?? {}
  const parameter = Object.hasOwn(properties, name) ? properties[name] : undefined
  return typeof parameter === 'object' && parameter !== null ? typesOf(parameter) : undefined
}

function typesOf(schema) {
  if (typeof schema?.type === 'string') return [schema.type]
  if (Array.isArray(schema?.type)) return schema.type
  const choices = schema?.anyOf ?? schema?.oneOf
  if (Array.isArray(choices)) {
    const types = choices.map((choice) => typesOf(choice))
    return types.includes(undefined) ? undefined : types.flat()
  }
  if (Array.isArray(schema?.enum))
    return schema.enum.every((value) => typeof value === 'string') ? ['string'] : undefined
  return undefined
}

const isText = (types) => types?.length === 1 && types[0] === 'string'

/** JSON of a text that is a value of one of the types; that of the text if it is none. */
function valueText(text, types) {
  const source = text.trim()
  if (types?.includes('string') && !(types.includes('null') && source === 'null')) {
    if (!types.some((type) => type !== 'string' && type !== 'null' && isOf(type, source))) return JSON.stringify(text)
  }
  if (isJson(source)) return source
  if (types === undefined && Object.hasOwn(PYTHON_WORDS, source)) return PYTHON_WORDS[source]
  if (types !== undefined) {
    const word = source.toLowerCase()
    if (Object.hasOwn(WORDS, word)) return WORDS[word]
    if (types.includes('object') || types.includes('array')) return fromPython(source) ?? JSON.stringify(text)
  }
  return JSON.stringify(text)
}

const isOf = (type, source) =>
  isJson(source) &&
  (type === 'object' ? source[0] === '{' : type === 'array' ? source[0] === '[' : !/^["[{]/.test(source))

function isJson(source) {
  try {
    JSON.parse(source)
    return true
  } catch {
    return false
  }
}

/** JSON of a literal of Python. */
function fromPython(source) {
  const reader = new Reader([])
  reader.feed(source)
  reader.hasEnded = true
  let written = ''
  const { value } = literal(reader, (text) => (written += text), PYTHON_DIALECT).next()
  return value === true && reader.at === source.length ? written : undefined
}

/** Takes the text of a parameter, and writes JSON: texts as they come, other types at the end. */
function parameterText(types, isTrimmed, writeArguments) {
  let [text, isFirst, held] = ['', true, '']
  const streams = isText(types)
  return {
    write(more) {
      let added = more
      if (isFirst && added !== '') {
        if (isTrimmed && added[0] === '\n') added = added.slice(1)
        if (streams) writeArguments('"')
        isFirst = false
      }
      if (!streams) text += added
      else if (added !== '') {
        const whole = held + added
        held = isTrimmed && whole.endsWith('\n') ? '\n' : ''
        writeArguments(JSON.stringify(whole.slice(0, whole.length - held.length)).slice(1, -1))
      }
    },
    end() {
      if (streams) writeArguments(isFirst ? '""' : '"')
      else writeArguments(valueText(isTrimmed ? text.replace(/\n$/, '') : text, types))
    },
  }
}

module.exports = { parameterText, typeOf }
