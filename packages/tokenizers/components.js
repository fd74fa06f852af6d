'use strict'

// The components of a tokenizer. Each object holds its JSON form of tokenizer.json; the functions
// below create it. index.js exports all that this module exports.

const { bounded, boundedArray, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const probe = require('./probe.js')

class Component {
  /** The component in the form of tokenizer.json. */
  #json

  constructor(json) {
    this.#json = json
  }

  get json() {
    return this.#json
  }
}

class Normalizer extends Component {
  normalizeString(sequence) {
    return probe.normalize(this.json, text(sequence))
  }
}

class PreTokenizer extends Component {
  preTokenizeString(sequence) {
    return probe.preTokenize(this.json, text(sequence))
  }
}

class Decoder extends Component {
  decode(tokens) {
    return probe.decode(this.json, tokens)
  }
}

class Processor extends Component {}

class Model extends Component {}

function text(value) {
  if (typeof value !== 'string') throw typeError('the sequence must be a string')
  return value
}

/** @param {any} bytes an array of bytes or a typed array */
function base64(bytes) {
  if (!Array.isArray(bytes) && !ArrayBuffer.isView(bytes)) throw typeError('the charsmap must be bytes')
  const list = Array.isArray(bytes) ? bounded(bytes).map((byte) => primitive(byte, 'a byte')) : bytes
  return Buffer.from(/** @type {any} */ (list)).toString('base64')
}

const camel = { removed: 'Removed', isolated: 'Isolated', mergedWithPrevious: 'MergedWithPrevious' }
Object.assign(camel, { mergedWithNext: 'MergedWithNext', contiguous: 'Contiguous' })

function behaviorOf(name) {
  if (typeof name !== 'string') throw typeError('behavior must be a string')
  const behavior = Object.hasOwn(camel, name) ? camel[name] : name
  if (!Object.values(camel).includes(behavior)) throw error('ARGUMENT_VALUE', `"${name}" is not a valid split behavior`)
  return behavior
}

const normalizer = (type, rest) => new Normalizer({ type, ...rest })
const preTokenizer = (type, rest) => new PreTokenizer({ type, ...rest })
const processor = (type, rest) => new Processor({ type, ...rest })
const decoder = (type, rest) => new Decoder({ type, ...rest })
const jsonOf = (components) =>
  boundedArray(components, 'the components').map((component) => {
    if (!(component instanceof Component)) throw typeError('each component must be one of this module')
    return component.json
  })

const metaspace = (replacement = '▁', prepend_scheme = 'always', split = true) => ({
  replacement: replacement ?? '▁',
  prepend_scheme: prepend_scheme ?? 'always',
  split: split ?? true,
})

/** Checks an argument `[token, id]` of a processor. */
function tokenAndId(pair) {
  if (!Array.isArray(pair)) throw typeError('Failed to get Array length: expected [token, id]')
  if (pair.length < 2) throw typeError('Array length < 2: expected [token, id]')
  if (typeof pair[1] !== 'number') {
    throw typeError('Failed to convert napi value String into rust type `u32`: the id must be a number')
  }
  return [String(primitive(pair[0], 'the token')), pair[1]]
}

/** Parses a template such as `[CLS] $A [SEP]:1` to the pieces of a TemplateProcessing. */
function pieces(template) {
  return text(template)
    .split(/\s+/)
    .filter(Boolean)
    .map((piece) => {
      const [, name, type] = piece.match(/^(.*?)(?::(\d+))?$/s)
      if (!name.startsWith('$')) return { SpecialToken: { id: name, type_id: Number(type ?? 0) } }
      const sequence = name.slice(1)
      if (/^\d+$/.test(sequence)) return { Sequence: { id: 'A', type_id: Number(sequence) } }
      const id = { '': 'A', a: 'A', b: 'B' }[sequence.toLowerCase()]
      if (id === undefined) throw error('TEMPLATE', `Cannot parse the template piece ${piece}`)
      return { Sequence: { id, type_id: Number(type ?? 0) } }
    })
}

function templateProcessing(single, pair = undefined, specialTokens = []) {
  const templates = [pieces(single), pieces(pair ?? '$A:0 $B:1')]
  const special_tokens = Object.fromEntries(
    boundedArray(specialTokens ?? [], 'the special tokens')
      .map(tokenAndId)
      .map(([token, id]) => [token, { id: token, ids: [id], tokens: [token] }]),
  )
  const used = templates.flat().flatMap((piece) => (piece.SpecialToken ? [piece.SpecialToken.id] : []))
  const missing = [...new Set(used.filter((token) => !Object.hasOwn(special_tokens, token)))]
  if (missing.length > 0) throw error('TEMPLATE', `Missing SpecialToken(s) with id(s) \`${missing.join(', ')}\``)
  return processor('TemplateProcessing', { single: templates[0], pair: templates[1], special_tokens })
}

exports.Decoder = Decoder
exports.Model = Model
exports.Normalizer = Normalizer
exports.PreTokenizer = PreTokenizer
exports.Processor = Processor

exports.bertNormalizer = (/** @type {import('./index.js').BertNormalizerOptions | null | undefined} */ options) =>
  normalizer('BertNormalizer', {
    clean_text: options?.cleanText ?? true,
    handle_chinese_chars: options?.handleChineseChars ?? true,
    strip_accents: options?.stripAccents ?? null,
    lowercase: options?.lowercase ?? true,
  })
exports.nfcNormalizer = () => normalizer('NFC')
exports.nfdNormalizer = () => normalizer('NFD')
exports.nfkcNormalizer = () => normalizer('NFKC')
exports.nfkdNormalizer = () => normalizer('NFKD')
exports.stripNormalizer = (left, right) => normalizer('Strip', { strip_left: left ?? true, strip_right: right ?? true })
exports.prependNormalizer = (prepend) => normalizer('Prepend', { prepend: text(prepend) })
exports.stripAccentsNormalizer = () => normalizer('StripAccents')
exports.lowercase = () => normalizer('Lowercase')
exports.nmt = () => normalizer('Nmt')
exports.replace = (pattern, content) =>
  normalizer('Replace', { pattern: { String: text(pattern) }, content: text(content) })
exports.precompiled = (bytes) => normalizer('Precompiled', { precompiled_charsmap: base64(bytes) })
exports.sequenceNormalizer = (normalizers) => normalizer('Sequence', { normalizers: jsonOf(normalizers) })

exports.bertPreTokenizer = () => preTokenizer('BertPreTokenizer')
exports.byteLevelPreTokenizer = (addPrefixSpace, useRegex) =>
  preTokenizer('ByteLevel', {
    add_prefix_space: addPrefixSpace ?? true,
    trim_offsets: true,
    use_regex: useRegex ?? true,
  })
exports.charDelimiterSplit = (delimiter) => preTokenizer('CharDelimiterSplit', { delimiter: text(delimiter) })
exports.digitsPreTokenizer = (individualDigits) =>
  preTokenizer('Digits', { individual_digits: individualDigits ?? false })
exports.metaspacePreTokenizer = (...options) => preTokenizer('Metaspace', metaspace(...options))
exports.punctuationPreTokenizer = (behavior) =>
  preTokenizer('Punctuation', { behavior: behaviorOf(behavior ?? 'isolated') })
exports.sequencePreTokenizer = (all) => preTokenizer('Sequence', { pretokenizers: jsonOf(all) })
exports.splitPreTokenizer = (pattern, behavior, invert) =>
  preTokenizer('Split', {
    pattern: { String: text(pattern) },
    behavior: behaviorOf(behavior),
    invert: invert ?? false,
  })
exports.whitespacePreTokenizer = () => preTokenizer('Whitespace')
exports.whitespaceSplitPreTokenizer = () => preTokenizer('WhitespaceSplit')

exports.bertProcessing = (sep, cls) => processor('BertProcessing', { sep: tokenAndId(sep), cls: tokenAndId(cls) })
exports.byteLevelProcessing = (trimOffsets) =>
  processor('ByteLevel', { add_prefix_space: true, trim_offsets: trimOffsets ?? true, use_regex: true })
exports.robertaProcessing = (sep, cls, trimOffsets, addPrefixSpace) =>
  processor('RobertaProcessing', {
    sep: tokenAndId(sep),
    cls: tokenAndId(cls),
    trim_offsets: trimOffsets ?? true,
    add_prefix_space: addPrefixSpace ?? true,
  })
exports.sequenceProcessing = (processors) => processor('Sequence', { processors: jsonOf(processors) })
exports.templateProcessing = templateProcessing

exports.bpeDecoder = (suffix) => decoder('BPEDecoder', { suffix: suffix ?? '</w>' })
exports.byteFallbackDecoder = () => decoder('ByteFallback')
exports.ctcDecoder = (padToken, wordDelimiterToken, cleanup) =>
  decoder('CTC', {
    pad_token: padToken ?? '<pad>',
    word_delimiter_token: wordDelimiterToken ?? '|',
    cleanup: cleanup ?? true,
  })
exports.fuseDecoder = () => decoder('Fuse')
exports.metaspaceDecoder = (...options) => decoder('Metaspace', metaspace(...options))
exports.replaceDecoder = (pattern, content) =>
  decoder('Replace', { pattern: { String: text(pattern) }, content: text(content) })
exports.sequenceDecoder = (decoders) => decoder('Sequence', { decoders: jsonOf(decoders) })
exports.stripDecoder = (content, left, right) => decoder('Strip', { content: text(content), start: left, stop: right })
exports.wordPieceDecoder = (prefix, cleanup) =>
  decoder('WordPiece', { prefix: prefix ?? '##', cleanup: cleanup ?? true })
