'use strict'

// What chats need of a tokenizer: the calls of apply.js.

const { encodeOne } = require('../encoding.js')
const { checkInput } = require('../limits.js')
const native = require('../native.js')
const { KNOWN, LITERAL, ONE_TEXT, encodeFlags } = require('../options.js')
const { withControlSymbols } = require('./control-symbols.js')

// The rendered text of a chat already has all special tokens.
const COUNT = { addSpecialTokens: false }
const ENCODE = { ...COUNT, truncation: false, padding: false }

/** By tokenizer, the one that reads the texts of templates. */
const readers = new WeakMap()

/** This tokenizer, or one that finds the control symbols of a SentencePiece model. */
function readerOf(tokenizer, { handle }) {
  if (native.fileFormat(handle) !== 'sentencepiece') return tokenizer
  if (!readers.has(tokenizer)) readers.set(tokenizer, withControlSymbols(tokenizer))
  return readers.get(tokenizer)
}

/** Encodes a text in which no added token is found in ranges with these bounds. */
function encodeLiteral({ handle }, text, bounds) {
  checkInput(text)
  const flags = encodeFlags({ ...ENCODE, specialTokens: 'parse' }, KNOWN.encode, ONE_TEXT) | LITERAL
  return encodeOne(handle, text, bounds, flags, undefined)
}

/**
 * @param {any} tokenizer
 * @param {(tokenizer: any) => import('../loaders.js').Parts} partsOf
 */
function chatCalls(tokenizer, partsOf) {
  const parts = partsOf(tokenizer)
  const reader = readerOf(tokenizer, parts)
  const splits = parts.source.splitsSpecialTokens === true
  const specialTokens = splits ? 'text' : 'parse'
  const literal = (text, bounds) => encodeLiteral(partsOf(reader), text, bounds)
  return {
    splits,
    encode: (text, bounds) =>
      bounds === undefined ? reader.encode(text, { ...ENCODE, specialTokens }) : literal(text, bounds),
    count: (text, bounds) =>
      bounds === undefined ? reader.count(text, { ...COUNT, specialTokens }) : literal(text, bounds).length,
    refuse: (text) => reader.count(text, { ...COUNT, specialTokens: 'throw' }),
    idOf: (token) => reader.tokenToId(token),
    isSpecial: (id) => reader.decode([id], { skipSpecialTokens: true }) === '' && reader.decode([id]) !== '',
  }
}

module.exports = { chatCalls }
