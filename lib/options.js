'use strict'

// Checks options, and packs them into the integer that crates/calls/src/options.rs defines. No
// option is accepted and ignored: an unknown option is an error that names it. `undefined` selects
// the default everywhere.

const { BOUNDARIES, CORE_BOUNDARIES, OFFSET_UNITS, SPECIAL_TOKEN_MODES, listed } = require('./choices.js')
const { typeError, wrongType, wrongValue, unknownOption } = require('./errors.js')
const native = require('./native.js')
const { isArray, isRevoked } = require('./realm.js')

const BITS = native.flagBits()
const ADD_SPECIAL_TOKENS = BITS.addSpecialTokens
const SPECIAL_TOKEN_BITS = {
  parse: BITS.parseSpecialTokens,
  text: BITS.specialTokensAsText,
  throw: BITS.throwOnSpecialTokens,
}
const ONLY_LISTED = BITS.onlyListedSpecialTokens
const OFFSET_BITS = { utf16: BITS.utf16Offsets, codepoint: BITS.codepointOffsets, byte: BITS.byteOffsets }
const OFFSETS_MASK = BITS.offsets
const NO_TRUNCATION = BITS.noTruncation
const NO_PADDING = BITS.noPadding
const OVERFLOW = BITS.overflow
const WORDS = BITS.words
/** The pair of a call has the bounds of the ranges of its text in which no added token is found. */
const LITERAL = BITS.literal
/** The text of a call is only the start of one. */
const PART = BITS.part
/** The names of the columns, by their indices in the addon. */
const COLUMN_NAMES = native.columnNames()
const COLUMN_BITS = Object.fromEntries(COLUMN_NAMES.slice(1).map((name, index) => [name, BITS.firstColumn << index]))
const STRATEGIES = ['longest_first', 'only_first', 'only_second']
const DIRECTIONS = ['left', 'right']
const COUNT_KINDS = ['typed', 'array']
const MAX_THREADS = 256

const BATCH_OPTIONS = [
  'addSpecialTokens',
  'specialTokens',
  'offsets',
  'columns',
  'pairs',
  'pretokenized',
  'truncation',
  'padding',
  'overflow',
  'threads',
]

const MARKDOWN_OPTIONS = ['repeatTableHeaders', 'headings', 'join']
const SPLIT_OPTIONS = [
  'maxTokens',
  'overlap',
  'boundary',
  'offsets',
  ...MARKDOWN_OPTIONS,
  'addSpecialTokens',
  'specialTokens',
]

/** The names of the options of each call. */
const KNOWN = {
  encode: ['addSpecialTokens', 'specialTokens', 'offsets', 'pair', 'pretokenized', 'truncation', 'padding'],
  encodeBatch: [...BATCH_OPTIONS, 'signal'],
  encodeBatchSync: BATCH_OPTIONS,
  count: ['addSpecialTokens', 'specialTokens'],
  truncate: ['addSpecialTokens', 'specialTokens', 'direction'],
  split: SPLIT_OPTIONS,
  splitAsync: [...SPLIT_OPTIONS, 'signal'],
  encodeChunks: ['addSpecialTokens', 'specialTokens', 'signal'],
  decodeStream: ['skipSpecialTokens', 'signal'],
  stopStream: ['stop', 'stopIds', 'maxTokens', 'includeStop', 'skipSpecialTokens'],
  encodeStream: [...BATCH_OPTIONS.filter((name) => name !== 'pairs'), 'signal', 'batchSize'],
  countBatch: ['addSpecialTokens', 'specialTokens', 'as', 'signal', 'threads'],
  countStream: ['addSpecialTokens', 'specialTokens', 'as', 'signal', 'threads', 'batchSize'],
  countBatchSync: ['addSpecialTokens', 'specialTokens', 'as', 'threads'],
  decode: ['skipSpecialTokens'],
  decodeBatch: ['skipSpecialTokens', 'signal', 'threads'],
  vocabSize: ['addedTokens'],
  load: ['encoding', 'pattern', 'specialTokens', 'chatTemplate', 'config'],
  loadEncoding: ['signal', 'specialTokens'],
  loadEncodingSync: ['specialTokens'],
  loadFolder: ['encoding', 'pattern', 'specialTokens', 'chatTemplate', 'config', 'configs'],
  truncation: ['maxLength', 'stride', 'strategy', 'direction'],
  padding: ['to', 'multipleOf', 'direction', 'padId', 'padTypeId', 'padToken'],
}

/**
 * Flags of a call without options. Offsets are available for one text, where they are computed on
 * first access, but not for a batch, where they cost time and memory.
 */
const ONE_TEXT = ADD_SPECIAL_TOKENS | OFFSET_BITS.utf16
const MANY_TEXTS = ADD_SPECIAL_TOKENS

/** The flags of an encode, count or batch call; `defaults` is ONE_TEXT or MANY_TEXTS. */
function encodeFlags(options, known, defaults) {
  if (options === undefined) return defaults
  checkObject(options)
  let flags = defaults
  for (const name in options) {
    if (!known.includes(name)) {
      if (!Object.hasOwn(options, name)) continue
      throw unknownOption(name, known)
    }
    const value = options[name]
    if (value === undefined) continue
    if (name === 'addSpecialTokens') {
      if (typeof value !== 'boolean') throw wrongType(name, 'a boolean', value)
      flags = value ? flags | ADD_SPECIAL_TOKENS : flags & ~ADD_SPECIAL_TOKENS
    } else if (name === 'specialTokens') {
      flags |= specialTokens(value)
    } else if (name === 'offsets') {
      flags = (flags & ~OFFSETS_MASK) | offsets(value)
    } else if (name === 'pretokenized') {
      if (boolean(name, value)) flags |= WORDS
    } else if (name === 'overflow') {
      if (boolean(name, value)) flags |= OVERFLOW
    } else if (name === 'columns') {
      flags |= columns(value)
    } else if (name === 'truncation') {
      if (value === false) flags |= NO_TRUNCATION
    } else if (name === 'padding') {
      if (value === false) flags |= NO_PADDING
    }
  }
  return flags
}

function specialTokens(value) {
  if (isArray(value)) {
    listOf(value)
    return ONLY_LISTED
  }
  const expected = `${SPECIAL_TOKEN_MODES.map((mode) => `'${mode}'`).join(', ')} or an array of special tokens`
  if (typeof value !== 'string') throw wrongType('specialTokens', expected, value)
  if (!Object.hasOwn(SPECIAL_TOKEN_BITS, value)) throw wrongValue('specialTokens', expected, value)
  return SPECIAL_TOKEN_BITS[value]
}

function offsets(value) {
  if (value === false) return 0
  const expected = `${OFFSET_UNITS.map((unit) => `'${unit}'`).join(', ')} or false`
  if (typeof value !== 'string') throw wrongType('offsets', expected, value)
  if (!Object.hasOwn(OFFSET_BITS, value)) throw wrongValue('offsets', expected, value)
  return OFFSET_BITS[value]
}

function columns(value) {
  const known = Object.keys(COLUMN_BITS)
  const expected = `an array of ${known.map((name) => `'${name}'`).join(', ')}`
  if (!isArray(value)) throw wrongType('columns', expected, value)
  let flags = 0
  for (let index = 0; index < value.length; index++) {
    const name = value[index]
    if (!known.includes(name)) throw wrongValue('columns', expected, name)
    flags |= COLUMN_BITS[name]
  }
  return flags
}

/**
 * Options that do not fit into the flags: listed special tokens, truncation and padding. Returns
 * undefined if there are none, as in most calls. `tokenizer` has the padding that `true` stands
 * for.
 */
function extraOptions(flags, options, tokenizer = undefined) {
  if (options === undefined) return undefined
  const listed = (flags & ONLY_LISTED) === ONLY_LISTED ? listOf(options.specialTokens) : undefined
  const truncation = truncationOption(options.truncation)
  const padding = paddingOption(options.padding, tokenizer)
  if (listed === undefined && truncation === undefined && padding === undefined) return undefined
  return { listed, truncation, padding }
}

/** A copy of listed special tokens. A getter can return other values than those checked before. */
function listOf(value) {
  if (!isArray(value)) throw wrongType('specialTokens', 'an array of special tokens', value)
  const tokens = []
  for (let index = 0; index < value.length; index++) {
    const token = value[index]
    if (typeof token !== 'string') throw wrongType(`specialTokens[${index}]`, 'a string', token)
    tokens[index] = token
  }
  return tokens
}

function truncationOption(value) {
  if (value === undefined || value === false) return undefined
  checkObject(value, 'truncation', 'an object or false')
  checkNames(value, KNOWN.truncation, 'truncation')
  const { maxLength, stride = 0, strategy = 'longest_first', direction = 'right' } = value
  if (maxLength === undefined) throw wrongType('truncation.maxLength', 'a number', maxLength)
  count('truncation.maxLength', maxLength)
  count('truncation.stride', stride)
  oneOf('truncation.strategy', strategy, STRATEGIES)
  oneOf('truncation.direction', direction, DIRECTIONS)
  return { maxLength, stride, strategy: STRATEGIES.indexOf(strategy), left: direction === 'left' }
}

function paddingOption(given, tokenizer = undefined) {
  if (given === undefined || given === false) return undefined
  const value = given === true && tokenizer !== undefined ? ownPadding(tokenizer) : given
  checkObject(value, 'padding', 'true, an object ({} pads to the longest text) or false')
  checkNames(value, KNOWN.padding, 'padding')
  const { to = 'longest', multipleOf = 1, direction = 'right', padId = 0, padTypeId = 0, padToken = '[PAD]' } = value
  if (typeof to !== 'number') oneOf('padding.to', to, ['longest'], "'longest' or a number of tokens")
  else count('padding.to', to)
  count('padding.multipleOf', multipleOf)
  oneOf('padding.direction', direction, DIRECTIONS)
  checkId('padding.padId', padId)
  checkId('padding.padTypeId', padTypeId)
  if (typeof padToken !== 'string') throw wrongType('padding.padToken', 'a string', padToken)
  const length = to === 'longest' ? undefined : to
  return { length, multipleOf, left: direction === 'left', padId, padTypeId, padToken }
}

/** The padding that `padding: true` stands for. */
const ownPadding = (tokenizer) => require('./facts.js').ownPadding(tokenizer)

/**
 * Checks the options of a split. Returns the limits in the form of crates/calls/src/split.rs, and
 * the flags and the extra options with which pieces are counted.
 */
function splitOptions(options, known = KNOWN.split) {
  if (options === undefined) throw wrongType('options', 'an object with maxTokens', options)
  checkObject(options)
  const { maxTokens, overlap = 0, boundary = 'token' } = options
  const unit = offsetUnit(options)
  // The core counts UTF-16 units in any case.
  const flags = (encodeFlags(options, known, ONE_TEXT) & ~OFFSETS_MASK) | OFFSET_BITS.utf16
  count('maxTokens', maxTokens)
  if (maxTokens === 0) throw wrongValue('maxTokens', 'at least 1', maxTokens)
  count('overlap', overlap)
  if (overlap >= maxTokens) throw wrongValue('overlap', `less than maxTokens (${maxTokens})`, overlap)
  oneOf('boundary', boundary, CORE_BOUNDARIES, listed(BOUNDARIES))
  checkMarkdownOnly(options)
  const limits = { maxTokens, overlap, boundary: CORE_BOUNDARIES.indexOf(boundary) }
  return { limits, unit, flags, extra: extraOptions(flags, options), signal: signalOption(options.signal) }
}

/** The unit of the offsets of pieces. */
function offsetUnit({ offsets: unit = 'utf16' }) {
  oneOf('offsets', unit, OFFSET_UNITS)
  return unit
}

/** Throws if other boundaries than blocks of Markdown have an option that only these have. */
function checkMarkdownOnly(options) {
  const name = MARKDOWN_OPTIONS.find((one) => options[one] !== undefined)
  if (name !== undefined) throw wrongValue(name, "absent without boundary: 'markdown'", options[name])
}

/** How special tokens in a text are treated by default. */
function defaultSpecialTokens(value) {
  if (value !== undefined) oneOf('specialTokens', value, SPECIAL_TOKEN_MODES)
  return value
}

/** A number of tokens. */
function count(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value)
  if (!isId(value)) throw wrongValue(name, 'an integer from 0 to 4294967295', value)
}

function oneOf(name, value, known, expected = listed(known)) {
  if (typeof value !== 'string') throw wrongType(name, expected, value)
  if (!known.includes(value)) throw wrongValue(name, expected, value)
}

/** Whether the encoding has offsets. */
const hasOffsets = (flags) => (flags & OFFSETS_MASK) !== 0

/** Whether texts are arrays of words. */
const hasWords = (flags) => (flags & WORDS) !== 0

/** The flags, with overflowing parts. */
const withOverflow = (flags) => flags | OVERFLOW

/**
 * The flags for the tokens of the text only, without special tokens, truncation and padding of the
 * file.
 */
const bare = (flags) => (flags & ~ADD_SPECIAL_TOKENS) | NO_TRUNCATION | NO_PADDING

/** `threads` and `signal` of a batch. 0 threads select the default. */
function runOptions(options) {
  const { threads = 0, signal } = options ?? {}
  if (typeof threads !== 'number') throw wrongType('threads', 'a number', threads)
  if (options?.threads !== undefined && !(Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS)) {
    throw wrongValue('threads', `an integer from 1 to ${MAX_THREADS}`, threads)
  }
  return { threads, signal: signalOption(signal) }
}

/** What turns the counts of a batch into the result that `as` names. */
function countsAs(options) {
  const { as = 'typed' } = options ?? {}
  oneOf('as', as, COUNT_KINDS)
  return as === 'array' ? (counts) => Array.from(new Uint32Array(counts)) : (counts) => new Uint32Array(counts)
}

/** Checks an AbortSignal. Signals of another realm or package are accepted. */
function signalOption(signal) {
  const isSignal =
    typeof signal === 'object' &&
    signal !== null &&
    typeof signal.aborted === 'boolean' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  if (signal !== undefined && !isSignal) throw wrongType('signal', 'an AbortSignal', signal)
  return signal
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

/** Checks the options of a loader. Returns those for rank files. */
function loadOptions(options, known = KNOWN.load) {
  if (options === undefined) return {}
  checkKnown(options, known)
  const { encoding, pattern } = options
  // A string is the default of all calls, which does not concern the file.
  const isDefault = typeof options.specialTokens === 'string'
  const specialTokens = isDefault ? undefined : options.specialTokens
  if (isDefault) defaultSpecialTokens(options.specialTokens)
  if (encoding !== undefined && typeof encoding !== 'string') throw wrongType('encoding', 'a string', encoding)
  if (pattern !== undefined && typeof pattern !== 'string') throw wrongType('pattern', 'a string', pattern)
  if (encoding !== undefined && (pattern !== undefined || specialTokens !== undefined)) {
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', 'give an encoding, or a pattern and special tokens, but not both')
  }
  if (specialTokens === undefined) return { encoding, pattern }
  if (pattern === undefined) {
    const message =
      "specialTokens belong to a pattern, but none is given; the default of all calls is 'parse', 'text' or 'throw'"
    throw typeError('ERR_TOKENLANE_ARGUMENT_TYPE', message)
  }
  checkObject(specialTokens, 'specialTokens', 'an object of tokens and their ids')
  const entries = Object.entries(specialTokens)
  for (const [token, id] of entries) checkId(`specialTokens[${JSON.stringify(token)}]`, id)
  // The addon reads all names that an object has, also those of its prototype.
  return { pattern, specialTokens: Object.assign(Object.create(null), Object.fromEntries(entries)) }
}

function checkKnown(options, known) {
  checkObject(options)
  checkNames(options, known)
}

/** A name that a program added to Object.prototype is no option of the call. */
function checkNames(options, known, within) {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) throw unknownOption(unknown, known, within)
}

function checkObject(value, name = 'options', expected = 'an object') {
  if (typeof value !== 'object' || value === null || isRevoked(value) || Array.isArray(value)) {
    // Array.prototype.map and forEach hand the index to their callback.
    const hint =
      name === 'options' && typeof value === 'number'
        ? ' (a callback of map() gets an index: write (text) => tokenizer.count(text))'
        : ''
    throw wrongType(name, expected + hint, value)
  }
}

function boolean(name, value, byDefault) {
  if (value === undefined) return byDefault
  if (typeof value !== 'boolean') throw wrongType(name, 'a boolean', value)
  return value
}

/** Whether a value can be a token id: an integer from 0 to 2^32 - 1. */
const isId = (value) => typeof value === 'number' && value >>> 0 === value

/** Throws if a value is not a token id. */
function checkId(name, value) {
  if (typeof value !== 'number') throw wrongType(name, 'a token id (a number)', value)
  if (!isId(value)) throw wrongValue(name, 'an integer from 0 to 4294967295', value)
}

module.exports = {
  COLUMN_NAMES,
  KNOWN,
  ONE_TEXT,
  LITERAL,
  PART,
  MANY_TEXTS,
  checkKnown,
  countsAs,
  encodeFlags,
  extraOptions,
  hasOffsets,
  hasWords,
  withOverflow,
  runOptions,
  offsetUnit,
  signalOption,
  decodeFlag,
  addedTokensFlag,
  loadOptions,
  bare,
  splitOptions,
  checkCount: count,
  checkMarkdownOnly,
  defaultSpecialTokens,
  truncationOption,
  paddingOption,
  checkNames,
  checkObject,
  boolean,
  checkId,
  isId,
}
