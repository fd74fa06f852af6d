'use strict'

// What a tokenizer says about itself: its special tokens, and which of them begin, end and fill
// texts.

const { wrongValue } = require('./errors.js')
const native = require('./native.js')

/**
 * The special tokens that are known by their names where no tokenizer_config.json says which they
 * are. The first one counts that is a special token.
 */
const USUAL = {
  bos: ['<s>', '<bos>', '<|begin_of_text|>', '<|startoftext|>', '<｜begin▁of▁sentence｜>'],
  eos: ['</s>', '<eos>', '<|end_of_text|>', '<|endoftext|>', '<｜end▁of▁sentence｜>'],
  pad: ['<pad>', '[PAD]', '<|pad|>'],
}

/** Configs have a huge number for "no limit". */
const MAX_LENGTH = 2 ** 31

/**
 * @typedef {object} Facts
 * @property {Map<string, number>} specialTokens
 * @property {number} [bosId]
 * @property {number} [eosId]
 * @property {number} [padId]
 * @property {number} [unkId]
 * @property {number} [modelMaxLength]
 * @property {'left' | 'right'} paddingSide
 */

/** @type {WeakMap<object, Facts>} */
const FACTS = new WeakMap()

/**
 * The facts of a tokenizer, which are found once.
 *
 * @param {object} tokenizer
 * @param {any} handle
 * @param {Record<string, any>} [config] the tokenizer_config.json
 */
function factsOf(tokenizer, handle, config) {
  let facts = FACTS.get(tokenizer)
  if (facts === undefined) FACTS.set(tokenizer, (facts = findFacts(handle, config)))
  return facts
}

/** @returns {Facts} */
function findFacts(handle, config = {}) {
  const { specialTokens: contents, specialIds, unkId, padToken } = native.facts(handle)
  const specialTokens = new Map(contents.map((content, index) => [content, specialIds[index]]))
  const idOf = (token) => (typeof token === 'string' ? (native.tokenToId(handle, token) ?? undefined) : undefined)
  // A config that names any token names all that the tokenizer has.
  const isNamed = Object.keys(config).some((name) => /^(?:bos|eos|pad|unk|cls|sep|mask)_token$/.test(name))
  const named = (kind) => idOf(config[`${kind}_token`]?.content ?? config[`${kind}_token`])
  const usual = (kind) => USUAL[kind].map((token) => specialTokens.get(token)).find((id) => id !== undefined)
  const id = (kind) => (isNamed ? named(kind) : usual(kind))
  const length = config.model_max_length
  return {
    specialTokens,
    bosId: id('bos'),
    eosId: id('eos'),
    padId: isNamed ? named('pad') : (idOf(padToken) ?? usual('pad')),
    unkId: named('unk') ?? unkId ?? undefined,
    modelMaxLength: typeof length === 'number' && length >= 1 && length < MAX_LENGTH ? Math.trunc(length) : undefined,
    paddingSide: config.padding_side === 'left' ? 'left' : 'right',
  }
}

/** The padding that `padding: true` stands for. */
function ownPadding(tokenizer) {
  const { padId } = tokenizer
  if (padId === undefined) {
    const expected = 'an object with padId (this tokenizer does not say which token fills up texts)'
    throw wrongValue('padding', expected, true)
  }
  return { padId, padToken: tokenizer.idToToken(padId), direction: FACTS.get(tokenizer)?.paddingSide }
}

/** Yields each id with its token, in the order of the ids. */
function* tokensOf(tokenizer, maxId) {
  let rest = tokenizer.vocabSize()
  for (let id = 0; id <= maxId && rest > 0; id++) {
    const token = tokenizer.idToToken(id)
    if (token === undefined) continue
    rest--
    yield [id, token]
  }
}

module.exports = { factsOf, ownPadding, tokensOf }
