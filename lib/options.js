'use strict'

// Checks options and packs them into the integer that src/options.rs unpacks. Nothing is accepted and ignored: an option
// that a call does not have is refused by name. `undefined` stands for the default everywhere.

const { typeError, wrongType, wrongValue, unknownOption } = require('./errors.js')

const ADD_SPECIAL_TOKENS = 1
const SPECIAL_TOKENS = { parse: 1 << 1, text: 2 << 1, throw: 3 << 1 }
const LISTED = 4 << 1
const OFFSETS = { byte: 1 << 4, codepoint: 2 << 4, utf16: 3 << 4 }
const OFFSETS_MASK = 3 << 4
const MOST_THREADS = 1024

/** The names of the options of each call. */
const KNOWN = {
  encode: ['addSpecialTokens', 'specialTokens', 'offsets'],
  encodeBatch: ['addSpecialTokens', 'specialTokens', 'offsets', 'signal', 'threads'],
  encodeBatchSync: ['addSpecialTokens', 'specialTokens', 'offsets', 'threads'],
  count: ['addSpecialTokens', 'specialTokens'],
  countBatch: ['addSpecialTokens', 'specialTokens', 'signal', 'threads'],
  decode: ['skipSpecialTokens'],
  decodeBatch: ['skipSpecialTokens', 'signal', 'threads'],
  vocabSize: ['addedTokens'],
  load: ['encoding', 'pattern', 'specialTokens'],
}

/** What no options at all mean: for one text, offsets can be had in UTF-16 units; for a batch they cost, so there are none. */
const ONE_TEXT = ADD_SPECIAL_TOKENS | OFFSETS.utf16
const MANY_TEXTS = ADD_SPECIAL_TOKENS

/** The flags of an encode, count or batch call; `defaults` is ONE_TEXT or MANY_TEXTS. */
function encodeFlags(options, known, defaults) {
  if (options === undefined) return defaults
  checkObject(options)
  let flags = defaults
  for (const name in options) {
    if (!known.includes(name)) throw unknownOption(name, known)
    const value = options[name]
    if (value === undefined) continue
    if (name === 'addSpecialTokens') {
      if (typeof value !== 'boolean') throw wrongType(name, 'a boolean', value)
      flags = value ? flags | ADD_SPECIAL_TOKENS : flags & ~ADD_SPECIAL_TOKENS
    } else if (name === 'specialTokens') {
      flags |= specialTokens(value)
    } else if (name === 'offsets') {
      flags = (flags & ~OFFSETS_MASK) | offsets(value)
    }
  }
  return flags
}

function specialTokens(value) {
  if (Array.isArray(value)) {
    const wrong = value.findIndex((token) => typeof token !== 'string')
    if (wrong !== -1) throw wrongType(`specialTokens[${wrong}]`, 'a string', value[wrong])
    return LISTED
  }
  const expected = "'parse', 'text', 'throw' or an array of special tokens"
  if (typeof value !== 'string') throw wrongType('specialTokens', expected, value)
  if (!Object.hasOwn(SPECIAL_TOKENS, value)) throw wrongValue('specialTokens', expected, value)
  return SPECIAL_TOKENS[value]
}

function offsets(value) {
  if (value === false) return 0
  const expected = "'utf16', 'codepoint', 'byte' or false"
  if (typeof value !== 'string') throw wrongType('offsets', expected, value)
  if (!Object.hasOwn(OFFSETS, value)) throw wrongValue('offsets', expected, value)
  return OFFSETS[value]
}

/** The special tokens listed by the caller, where `flags` say that there is a list. */
function listedTokens(flags, options) {
  return (flags & LISTED) === LISTED ? [...options.specialTokens] : undefined
}

/** Whether the columns of an encoding know offsets. */
const hasOffsets = (flags) => (flags & OFFSETS_MASK) !== 0

/** `threads` and `signal` of a batch. 0 threads: the default. */
function runOptions(options) {
  const { threads = 0, signal } = options ?? {}
  if (typeof threads !== 'number') throw wrongType('threads', 'a number', threads)
  if (options?.threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS)) {
    throw wrongValue('threads', `an integer from 1 to ${MOST_THREADS}`, threads)
  }
  const isSignal =
    typeof signal === 'object' &&
    signal !== null &&
    typeof signal.aborted === 'boolean' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  if (signal !== undefined && !isSignal) throw wrongType('signal', 'an AbortSignal', signal)
  return { threads, signal }
}

/** `skipSpecialTokens` of a decode call. */
function decodeFlag(options, known) {
  if (options === undefined) return false
  checkKnown(options, known)
  return boolean('skipSpecialTokens', options.skipSpecialTokens, false)
}

/** `addedTokens` of vocabSize. */
function addedTokensFlag(options) {
  if (options === undefined) return true
  checkKnown(options, KNOWN.vocabSize)
  return boolean('addedTokens', options.addedTokens, true)
}

/** What a loader is told of a rank file. */
function loadOptions(options) {
  if (options === undefined) return {}
  checkKnown(options, KNOWN.load)
  const { encoding, pattern, specialTokens } = options
  if (encoding !== undefined && typeof encoding !== 'string') throw wrongType('encoding', 'a string', encoding)
  if (pattern !== undefined && typeof pattern !== 'string') throw wrongType('pattern', 'a string', pattern)
  if (encoding !== undefined && (pattern !== undefined || specialTokens !== undefined)) {
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'give an encoding, or a pattern and special tokens, but not both')
  }
  if (specialTokens === undefined) return { encoding, pattern }
  if (pattern === undefined) {
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'specialTokens belong to a pattern, and there is none')
  }
  checkObject(specialTokens, 'specialTokens', 'an object of tokens and their ids')
  for (const [token, id] of Object.entries(specialTokens)) {
    checkId(`specialTokens[${JSON.stringify(token)}]`, id)
  }
  return { pattern, specialTokens: { ...specialTokens } }
}

function checkKnown(options, known) {
  checkObject(options)
  for (const name in options) if (!known.includes(name)) throw unknownOption(name, known)
}

function checkObject(value, name = 'options', expected = 'an object') {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(name, expected, value)
}

function boolean(name, value, byDefault) {
  if (value === undefined) return byDefault
  if (typeof value !== 'boolean') throw wrongType(name, 'a boolean', value)
  return value
}

/** Whether a value can be a token id: an integer from 0 to 2^32 - 1. */
const isId = (value) => typeof value === 'number' && value >>> 0 === value

/** Refuses what is no token id. */
function checkId(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a token id (a number)', value)
  if (!isId(value)) throw wrongValue(name, 'an integer from 0 to 4294967295', value)
}

module.exports = {
  KNOWN,
  ONE_TEXT,
  MANY_TEXTS,
  encodeFlags,
  listedTokens,
  hasOffsets,
  runOptions,
  decodeFlag,
  addedTokensFlag,
  loadOptions,
  checkId,
  isId,
}
