'use strict'

// The encoding of each model of OpenAI, for the API, the command line and the drop-ins. models.json
// has the models of OpenAI's tiktoken (tiktoken/model.py, with its rules for families of names) and
// the text models that gpt-tokenizer and the npm package tiktoken list.

const { withCode, wrongType, nearestOf } = require('./errors.js')
const { encodings, others, prefixes } = require('./models.json')

/** The tokens of GPT-2 and r50k_base are the same, with the same ids. */
const ALIASES = { gpt2: 'r50k_base' }

/** A date at the end of a name, as in gpt-4o-2024-05-13 and gpt-4-0613. */
const DATE = /-(\d{4}-\d{2}-\d{2}|\d{4})$/
const MAX_NAME = 200

const table = new Map(Object.entries(encodings).flatMap(([encoding, names]) => names.map((name) => [name, encoding])))

/** The base of a fine-tuned model, which has a name like `ft:gpt-4o:organization::id`. */
const baseOf = (name) => (name.startsWith('ft:') ? name.split(':')[1] : name)

/** The entry of a map for a model, or for its name without a date. */
function entryOf(map, name) {
  const model = baseOf(name)
  return map.get(model) ?? map.get(model.replace(DATE, ''))
}

/** The bundled encoding of a model, or undefined. */
function findEncoding(name) {
  if (name.length > MAX_NAME) return undefined
  const encoding = entryOf(table, name) ?? ofFamily(baseOf(name))
  return ALIASES[encoding] ?? encoding
}

/** The encoding of the family whose prefix is the longest one that the name starts with. */
function ofFamily(model) {
  const found = Object.keys(prefixes).filter((prefix) => model.startsWith(prefix))
  return prefixes[found.sort((a, b) => b.length - a.length)[0]]
}

/** The name of the bundled encoding of a model. */
function encodingForModel(name) {
  if (typeof name !== 'string') throw wrongType('name', 'the name of a model (a string)', name)
  const encoding = findEncoding(name)
  if (encoding !== undefined) return encoding
  throw withCode(
    new RangeError(`there is no model ${shown(name)} of OpenAI in the list${hintFor(name)}`),
    'ERR_TOKENLANE_UNKNOWN_MODEL',
  )
}

function hintFor(name) {
  const [, ofGateway] = /^(?:openai|azure|openrouter\/openai)\/(.+)$/.exec(name) ?? []
  if (ofGateway !== undefined && findEncoding(ofGateway) !== undefined)
    return `; without the prefix of a gateway: Tokenizer.forModel('${ofGateway}')`
  const provider = hintForProvider(name)
  if (provider !== undefined) return provider
  const other = hintForOther(name)
  if (other !== undefined) return other
  const near = nearestOf(name, [...table.keys()])
  return near === undefined ? '; Tokenizer.fromEncoding takes the name of its encoding' : `; did you mean '${near}'?`
}

/**
 * What can be loaded for a model of another provider, by its name at an API. models.json has the
 * start of such names and a repository of the Hub with the tokenizer, or null if it is not public.
 */
function hintForProvider(name) {
  if (name.length > MAX_NAME) return undefined
  const own = name.slice(name.lastIndexOf('/') + 1)
  const found = others.find(([start]) => new RegExp(`^${start}(?![a-z])`, 'i').test(own))
  // A name with its repository is one of the Hub, except that of a gateway such as google/gemini.
  if (found === undefined || (name.includes('/') && /[A-Z]/.test(own))) return undefined
  const [, repository, provider] = found
  const family = own[0].toUpperCase() + own.split('-')[0].slice(1)
  return repository === null
    ? `; the tokenizers of ${family} are not public: its counts come from the API of ${provider}`
    : `; its tokenizer is one of the Hugging Face Hub: Tokenizer.fromPretrained('${repository}')`
}

/** How to load what a name of something else than a model of OpenAI means, or undefined. */
function hintForOther(name) {
  if (/^[\w.-]+\/[\w.-]+$/.test(name))
    return `; load a model of the Hugging Face Hub with Tokenizer.fromPretrained('${name}')`
  return Object.hasOwn(encodings, name) ? `; it is an encoding: Tokenizer.fromEncoding('${name}')` : undefined
}

const shown = (name) => (name.length > MAX_NAME ? `'${name.slice(0, MAX_NAME)}…'` : `'${name}'`)

module.exports = { encodingForModel, entryOf, findEncoding, hintForOther, encodings }
