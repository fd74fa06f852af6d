'use strict'

// The added tokens that the configs of a folder declare, by the rules of transformers 5.

const { error } = require('../errors.js')

/** The special tokens of transformers in the order in which they are added. */
const SPECIAL_TOKEN_FIELDS = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
]

/** Added tokens of all configs together, with their other fields. */
const MAX_ADDED_TOKENS = 200_000

const shape = (message) => error('ERR_TOKENLANE_SHAPE', message)

/**
 * The fields of tokenizer_config.json, and of special_tokens_map.json if it has no
 * added_tokens_decoder, with
 *
 * - added: the added tokens with ids, as { id, token }. Without an added_tokens_decoder, those of
 *   added_tokens.json and then those of the tokenizer.json (`fileTokens`)
 * - defined: the same by content, with those whose ids were given to later ones
 * - named: special tokens with other names, such as image_token
 * - extra: further special tokens, or undefined if no config has a list of them
 * - additional: additional_special_tokens, which only some classes read
 */
function configOf(configs, fileTokens = []) {
  checkCounts(configs)
  const config = { ...configs['tokenizer_config.json'] }
  if (config.additional_special_tokens !== undefined && isEmpty(config.extra_special_tokens)) {
    config.extra_special_tokens = config.additional_special_tokens
    delete config.additional_special_tokens
  }
  const isText = (token) => typeof token === 'string'
  const isToken = (token) => isText(token) || isObject(token)
  const named = { ...takeNamedTokens(config, isText), ...takeNamedExtras(config) }
  const complete = (list) => ({
    ...config,
    named: { ...takeNamedTokens(config, isToken), ...named },
    added: [...new Map(list.map((one) => [one.id, one])).values()].sort((a, b) => a.id - b.id),
    defined: new Map(list.map(({ token }) => [token.content, token])),
    ...listsOf(config),
  })
  if (config.added_tokens_decoder !== undefined) return complete(decoderTokens(config.added_tokens_decoder))
  for (const [name, value] of Object.entries(configs['special_tokens_map.json'])) {
    const isList = name === 'extra_special_tokens' && Array.isArray(value)
    config[name] = isList ? merged(config.extra_special_tokens ?? [], value) : asSpecial(value)
  }
  Object.assign(named, takeNamedExtras(config))
  return complete(legacyTokens(config, configs['added_tokens.json'], fileTokens))
}

/** The tokens of added_tokens.json, and then those of the tokenizer.json, which count for an id. */
function legacyTokens(config, addedTokens, fileTokens) {
  // transformers does not find the objects of tokenizer_config.json here, which have a `__type`.
  const found = [...SPECIAL_TOKEN_FIELDS.map((name) => config[name]), ...asList(config.extra_special_tokens ?? [])]
  const specials = new Set(found.filter((token) => token?.__type === undefined).map(contentOf))
  const tokens = Object.entries(addedTokens).map(([content, id]) => {
    if (!Number.isInteger(id))
      throw shape(`added_tokens.json: the id of ${JSON.stringify(content)} is not a whole number`)
    const special = specials.has(content)
    return { id, token: tokenOf({ content, special, normalized: !special }) }
  })
  return [...tokens, ...fileTokens.map(({ id, ...token }) => ({ id, token: tokenOf(token) }))]
}

function merged(before, list) {
  const all = [...asList(before)]
  const known = new Set(all.map((token) => JSON.stringify(token)))
  for (const token of list.map(asSpecial)) if (!known.has(JSON.stringify(token))) all.push(token)
  return all
}

/** Fails if the configs have so many added tokens that their objects would fill V8's heap. */
function checkCounts(configs) {
  const [config, map] = [configs['tokenizer_config.json'], configs['special_tokens_map.json']]
  const lists = [config, map].flatMap((one) => [one, one?.extra_special_tokens, one?.additional_special_tokens])
  const all = [...lists, config?.added_tokens_decoder, configs['added_tokens.json']]
  const sizes = all.map((one) => (typeof one === 'object' && one !== null ? Object.keys(one).length : 0))
  const count = sizes.reduce((sum, size) => sum + size, 0)
  if (count > MAX_ADDED_TOKENS)
    throw error(
      'ERR_TOKENLANE_TOO_LARGE',
      `the configs have ${count} added tokens and other fields, at most ${MAX_ADDED_TOKENS}`,
    )
}

/**
 * The special tokens whose names only some models have, such as `image_token`, by name. They are
 * removed from the config.
 */
function takeNamedTokens(config, isWanted) {
  const isNamed = ([name, value]) => name.endsWith('_token') && !SPECIAL_TOKEN_FIELDS.includes(name) && isWanted(value)
  const named = Object.fromEntries(Object.entries(config).filter(isNamed))
  for (const name of Object.keys(named)) delete config[name]
  return named
}

/** The extra special tokens, if they have names. They are removed from the config. */
function takeNamedExtras(config) {
  if (!isObject(config.extra_special_tokens)) return {}
  const named = config.extra_special_tokens
  delete config.extra_special_tokens
  return named
}

function decoderTokens(decoder) {
  if (typeof decoder !== 'object' || decoder === null)
    throw shape('tokenizer_config.json: added_tokens_decoder must be an object')
  return Object.entries(decoder).map(([id, token]) => ({ id: Number(id), token: tokenOf(token) }))
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const asSpecial = (token) => (isObject(token) ? { ...token, special: true, __type: undefined } : token)
const isEmpty = (value) => value === undefined || value === null || Object.keys(value).length === 0

const contentOf = (token) => (typeof token === 'object' && token !== null ? token.content : token)

function asList(value) {
  if (!Array.isArray(value)) throw shape('tokenizer_config.json: extra_special_tokens must be a list or an object')
  return value
}

function listsOf({ extra_special_tokens: extra, additional_special_tokens: additional }) {
  const list = (value) => (value === undefined || value === null ? undefined : asList(value))
  // The list is empty if it is null.
  return { extra: extra === null ? [] : list(extra), additional: list(additional) }
}

/**
 * An added token with all its fields; `normalized` is undefined unless the config has it. A string
 * is a special token.
 */
function tokenOf(token) {
  const {
    content,
    special = false,
    ...flags
  } = typeof token === 'string' ? { content: token, special: true } : (token ?? {})
  if (typeof content !== 'string')
    throw shape('tokenizer_config.json: an added token must be a string, or an object with content')
  const flag = (name, byDefault) => (typeof flags[name] === 'boolean' ? flags[name] : byDefault)
  return {
    content,
    single_word: flag('single_word', false),
    lstrip: flag('lstrip', false),
    rstrip: flag('rstrip', false),
    normalized: flag('normalized', undefined),
    special: special === true,
  }
}

/**
 * The special tokens by name. `tokens` are those of the class by default, and `wrapped` the flags
 * that it gives to those that are text.
 */
function specialTokens({ tokens, wrapped = {} }, config) {
  /** @type {Record<string, any>} */
  const specials = {}
  for (const name of SPECIAL_TOKEN_FIELDS) {
    const value = config[name] === undefined ? tokens[name] : config[name]
    if (value === undefined || value === null) continue
    const defined = config[name] === undefined ? undefined : config.defined.get(contentOf(value))
    const isWrapped = typeof value === 'string' && wrapped[name] !== undefined
    specials[name] = defined ?? tokenOf(isWrapped ? { ...wrapped[name], content: value } : value)
  }
  return specials
}

/** The texts of special tokens by name, as templates use them: of a class, and of a config. */
const textsOf = (specials, named) =>
  Object.fromEntries(Object.entries({ ...named, ...specials }).map(([name, token]) => [name, contentOf(token)]))

/**
 * All added tokens in the order in which they are added: those with ids, and further ones that
 * neither these nor `known` (contents) have.
 */
function addedTokens(config, specials, known = new Set()) {
  const tokens = config.added.map(({ token }) => token)
  const contents = new Set([...known, ...tokens.map(({ content }) => content)])
  const named = [...Object.values(specials), ...Object.values(config.named).map(tokenOf)]
  const others = [...named, ...(config.extra ?? config.additional ?? []).map(tokenOf)]
  // Tokens with the same content and different flags are all added, as in transformers: the last
  // one counts, but a normalized form stays.
  const distinct = new Map(others.map((token) => [JSON.stringify(token), token]))
  for (const token of distinct.values()) if (!contents.has(token.content)) tokens.push(token)
  const names = new Set(named.map(({ content }) => content))
  return tokens.map((token) => withFlags(token, token.special || names.has(token.content)))
}

/** A token in the form of tokenizer.json. Special tokens are not normalized unless they say so. */
const withFlags = (token, special) => ({ id: 0, ...token, normalized: token.normalized ?? !special, special })

module.exports = { SPECIAL_TOKEN_FIELDS, addedTokens, configOf, specialTokens, textsOf, tokenOf, withFlags }
