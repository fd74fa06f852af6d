'use strict'

// Checks the changes of tokenizer.with(), and converts them to the form of the addon, with
// components as JSON.

const { wrongType, wrongValue } = require('./errors.js')
const {
  boolean,
  checkId,
  checkKnown,
  checkNames,
  checkObject,
  defaultSpecialTokens,
  paddingOption,
  truncationOption,
} = require('./options.js')
const { isArray } = require('./realm.js')

const COMPONENTS = ['normalizer', 'preTokenizer', 'postProcessor', 'decoder']
const CHANGES = ['addedTokens', ...COMPONENTS, 'model', 'specialTokens', 'truncation', 'padding']
const TOKEN = ['content', 'id', 'special', 'singleWord', 'lstrip', 'rstrip', 'normalized']

/** The names of the model's settings in tokenizer.json, with their checks. */
const SETTINGS = {
  dropout: ['dropout', dropout],
  unkToken: ['unk_token', unkToken],
  fuseUnk: ['fuse_unk', boolean],
  byteFallback: ['byte_fallback', boolean],
  ignoreMerges: ['ignore_merges', boolean],
  continuingSubwordPrefix: ['continuing_subword_prefix', text],
  maxInputCharsPerWord: ['max_input_chars_per_word', count],
  unkId: ['unk_id', unkId],
}

/** Converts changes of a tokenizer to the form of the addon. */
function changesOf(changes, tokenizer = undefined) {
  checkKnown(changes, CHANGES)
  const { addedTokens = [], model, truncation, padding } = changes
  if (!isArray(addedTokens)) throw wrongType('addedTokens', 'an array of strings and objects', addedTokens)
  const components = COMPONENTS.map((name) => [name, component(name, changes[name])])
  return {
    addedTokens: Array.from(addedTokens, addedToken),
    ...Object.fromEntries(components),
    model: model === undefined ? undefined : modelSettings(model),
    truncation: truncationOption(truncation ?? undefined),
    noTruncation: truncation === false || truncation === null,
    specialTokens: defaultSpecialTokens(changes.specialTokens),
    padding: paddingOption(padding ?? undefined, tokenizer),
    noPadding: padding === false || padding === null,
  }
}

function addedToken(entry, index) {
  const within = `addedTokens[${index}]`
  if (typeof entry !== 'string') {
    checkObject(entry, within, 'a string or an object')
    checkNames(entry, TOKEN, within)
  }
  const token = typeof entry === 'string' ? { content: entry } : entry
  const { content, id } = token
  if (typeof content !== 'string') throw wrongType(`${within}.content`, 'a string', content)
  if (id !== undefined) checkId(`${within}.id`, id)
  const flag = (name, byDefault) => boolean(`${within}.${name}`, token[name], byDefault)
  const special = flag('special', false)
  return {
    content,
    id,
    special,
    singleWord: flag('singleWord', false),
    lstrip: flag('lstrip', false),
    rstrip: flag('rstrip', false),
    normalized: flag('normalized', !special),
  }
}

/** Converts a component to JSON text. */
function component(name, value) {
  if (value === undefined) return undefined
  if (value !== null) checkObject(value, name, 'a component in the form of tokenizer.json (an object), or null')
  let text
  try {
    text = JSON.stringify(value)
  } catch {
    // A bigint, or a circular object.
  }
  if (text === undefined) throw wrongType(name, 'an object that can be written as JSON', value)
  return text
}

function modelSettings(model) {
  checkObject(model, 'model')
  checkNames(model, Object.keys(SETTINGS), 'model')
  const given = Object.keys(SETTINGS).filter((name) => model[name] !== undefined)
  const settings = given.map((name) => {
    const [key, check] = SETTINGS[name]
    return [key, check(`model.${name}`, model[name])]
  })
  return JSON.stringify(Object.fromEntries(settings))
}

function dropout(name, value) {
  if (value === null) return value
  if (typeof value !== 'number') throw wrongType(name, 'a number or null', value)
  if (!(value >= 0 && value <= 1)) throw wrongValue(name, 'a number from 0 to 1', value)
  return value
}

function unkToken(name, value) {
  if (value !== null && typeof value !== 'string') throw wrongType(name, 'a string or null', value)
  return value
}

function text(name, value) {
  if (typeof value !== 'string') throw wrongType(name, 'a string', value)
  return value
}

function count(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!Number.isSafeInteger(value) || value < 0) throw wrongValue(name, 'a whole number', value)
  return value
}

function unkId(name, value) {
  if (value !== null) checkId(name, value)
  return value
}

module.exports = { changesOf }
