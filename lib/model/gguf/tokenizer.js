'use strict'

// The tokenizer that llama.cpp makes of the metadata of a GGUF file, packed for the addon
// (crates/core/src/load/gguf.rs): a header of JSON with settings and components, then the lists of
// tokens and merges as the file has them. A text of the file is never written as JSON, which can be
// six times as long, except for the few tokens that stand around texts.

const { byteLevelAlphabet } = require('../../byte-level.js')
const { error } = require('../../errors.js')
const { TURN, inTurns } = require('../../steps.js')
const { decoders, normalizers, preTokenizers, template } = require('../components.js')
const { broken } = require('./metadata.js')
const { GPT2, preTokenizerOf } = require('./patterns.js')
const { flagsOf } = require('./tokens.js')

/** Tokens of a file. The largest vocabularies have an eighth of this. */
const MAX_TOKENS = 2 ** 21
/** Bytes of a token that stands around texts, or that chat templates name. */
const MAX_SPECIAL_BYTES = 1024

/** The first bytes of a packed file. */
const ENCODER = new TextEncoder()
const PACKED = ENCODER.encode('\0tl-gguf')
const NONE = new Uint8Array(0)
const TEMPLATE = 'tokenizer.chat_template'

/** The ids of special tokens: the key, the name in a tokenizer_config.json. */
const SPECIALS = {
  bos: ['tokenizer.ggml.bos_token_id', 'bos_token'],
  eos: ['tokenizer.ggml.eos_token_id', 'eos_token'],
  unk: ['tokenizer.ggml.unknown_token_id', 'unk_token'],
  sep: ['tokenizer.ggml.seperator_token_id', 'sep_token'],
  pad: ['tokenizer.ggml.padding_token_id', 'pad_token'],
  cls: ['tokenizer.ggml.cls_token_id', 'cls_token'],
  mask: ['tokenizer.ggml.mask_token_id', 'mask_token'],
}

/** The special tokens that a model has where the file does not say. */
const DEFAULTS = {
  llama: { bos: 1, eos: 2, unk: 0 },
  t5: { eos: 1, unk: 2, pad: 0 },
  bert: { cls: 101, sep: 102, unk: 100, pad: 0, mask: 103 },
}

/** What stands around texts of BPE if the file asks for it without naming the token. */
const BPE_EDGE = 11
/** What stands at the start of texts of BERT if the file does not say. */
const BERT_START = 101

class GgufFile {
  #values
  /** `tokenizer.ggml.model`. */
  model
  tokens

  constructor(values) {
    this.#values = values
    this.model = this.#value('tokenizer.ggml.model', isText, 'a text')
    if (this.model === undefined) {
      const message =
        'the GGUF file has no tokenizer (tokenizer.ggml.model): it has weights only, or is a part of a model'
      throw error('ERR_TOKENLANE_UNSUPPORTED', message)
    }
    this.tokens = this.texts('tokenizer.ggml.tokens')
    if (this.tokens === undefined || this.tokens.length === 0) throw broken('has no tokenizer.ggml.tokens')
    if (this.tokens.length > MAX_TOKENS) throw tooMany('tokens', MAX_TOKENS)
  }

  #value(key, check, what) {
    const value = this.#values.get(key)
    if (value !== undefined && !check(value)) throw broken(`must have ${what} as ${key}`)
    return value
  }

  text(key) {
    return this.#value(key, isText, 'a text')
  }

  texts(key) {
    return this.#value(key, (value) => typeof value.text === 'function', 'a list of texts')
  }

  flag(key, byDefault) {
    return this.#value(key, (value) => typeof value === 'boolean', 'true or false') ?? byDefault
  }

  wholeNumber(key) {
    return this.#value(key, Number.isInteger, 'a whole number')
  }

  /** A list of numbers, of which there is one for each token. */
  numbers(key) {
    const list = this.#value(key, isNumbers, 'a list of numbers')
    if (list !== undefined && list.length < this.tokens.length)
      throw broken(`has ${this.tokens.length} tokens, but only ${list.length} values of ${key}`)
    return list
  }

  bytes(key) {
    return this.#value(key, isNumbers, 'a list of bytes')?.bytes
  }

  /** The text of a token. llama.cpp names empty tokens. */
  tokenText(id) {
    return this.tokens.text(id) || `[EMPTY_${id}]`
  }

  /** The id that a key has; undefined for one that no token has, which counts as none. */
  idOf(key) {
    const id = this.wholeNumber(key)
    return id !== undefined && id >= 0 && id < this.tokens.length ? id : undefined
  }

  /** The id of a special token, or undefined. */
  special(name) {
    const byDefault = DEFAULTS[this.model]?.[name]
    return this.idOf(SPECIALS[name][0]) ?? (byDefault < this.tokens.length ? byDefault : undefined)
  }

  /** The text of a special token. */
  specialText(id) {
    const { starts, ends } = this.tokens
    if (ends[id] - starts[id] <= MAX_SPECIAL_BYTES) return this.tokenText(id)
    const message = `a special token of the GGUF file, ${id}, has more than ${MAX_SPECIAL_BYTES} bytes`
    throw error('ERR_TOKENLANE_TOO_LARGE', message)
  }

  /** The part of a template that is a special token, which `id` is if the file does not say. */
  edge(name, id = undefined) {
    const edge = this.special(name) ?? (id !== undefined && id < this.tokens.length ? id : undefined)
    if (edge === undefined) throw broken(`puts the token ${name} around texts, but has no ${SPECIALS[name][0]}`)
    return [this.specialText(edge), edge]
  }

  /** The chat templates: one, or several by name. */
  get templates() {
    const one = this.text(TEMPLATE)
    const names = [...this.#values.keys()].filter((key) => key.startsWith(`${TEMPLATE}.`))
    if (names.length === 0) return one
    const named = names.map((key) => [key.slice(TEMPLATE.length + 1), this.text(key)])
    return Object.fromEntries(one === undefined ? named : [['default', one], ...named])
  }

  /** What a tokenizer_config.json would say. */
  get config() {
    const named = Object.keys(SPECIALS).map((name) => [SPECIALS[name][1], this.special(name)])
    const tokens = named.filter(([, id]) => id !== undefined).map(([name, id]) => [name, this.specialText(id)])
    const length = this.wholeNumber(`${this.text('general.architecture')}.context_length`)
    return { ...Object.fromEntries(tokens), model_max_length: length }
  }
}

const tooMany = (what, limit) => error('ERR_TOKENLANE_TOO_LARGE', `the GGUF file has more than ${limit} ${what}`)

const isText = (value) => typeof value === 'string'
const isNumbers = (value) => value.bytes instanceof Uint8Array && typeof value.at === 'function'

/**
 * The tokenizer of the metadata of a GGUF file: the bytes that the addon loads, what a
 * tokenizer_config.json would say, and the chat templates. This is work of lib/steps.js.
 *
 * @param {{ values: Map<string, any>, isLittle: boolean }} metadata
 */
function* tokenizerOf({ values, isLittle }) {
  const file = new GgufFile(values)
  const build = MODELS[file.model]
  if (build === undefined) {
    const known = Object.keys(MODELS).join(', ')
    const message = `tokenizer.ggml.model: ${short(file.model)} is not supported (supported: ${known})`
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  const { config, templates } = file
  const { note, ...settings } = build(file)
  const bytes = yield* packed(file, { kind: file.model, little: isLittle, ...settings })
  return { bytes, note, config, templates }
}

const short = (name) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

/** The header of a packed file with the lists behind it. */
function* packed(file, { scores = undefined, merges = undefined, charsmap = undefined, ...settings }) {
  const { tokens } = file
  const rawScores = new Uint8Array(4 * tokens.length)
  const view = new DataView(rawScores.buffer)
  if (scores !== undefined) yield* inTurns(tokens.length, (id) => view.setFloat32(4 * id, scores.at(id), true))
  const lists = [tokens.raw, yield* flagsOf(file), rawScores, merges?.raw ?? NONE, charsmap ?? NONE]
  const header = ENCODER.encode(
    JSON.stringify({
      unknown: file.special('unk') ?? null,
      whole: [],
      ignore_merges: false,
      byte_fallback: false,
      add_space_prefix: false,
      remove_extra_whitespaces: false,
      normalizer: null,
      pre_tokenizer: null,
      post_processor: null,
      decoder: null,
      ...settings,
      tokens: tokens.length,
      token_bytes: tokens.raw.length,
      merges: merges?.length ?? 0,
      merge_bytes: merges?.raw.length ?? 0,
      charsmap_bytes: charsmap?.length ?? 0,
    }),
  )
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, header.length, true)
  return yield* concat([PACKED, length, header, ...lists])
}

/** Bytes that are copied before the event loop has its turn. */
const BLOCK = 4 * 2 ** 20

function* concat(parts) {
  const bytes = new Uint8Array(parts.reduce((total, { length }) => total + length, 0))
  let at = 0
  for (const part of parts) {
    for (let from = 0; from < part.length; from += BLOCK) {
      bytes.set(part.subarray(from, from + BLOCK), at + from)
      if (from + BLOCK < part.length) yield TURN
    }
    at += part.length
  }
  return bytes
}

/**
 * The tokens around a text, and around the parts of a pair: those that each part would have alone,
 * or with `add_sep_token` that token between the parts.
 */
function edges(file, { bos, eos, sep = false, byDefault = undefined }) {
  const starts = bos ? [file.edge('bos', byDefault)] : []
  const ends = eos ? [file.edge('eos', byDefault)] : []
  const between = sep && file.special('sep') !== undefined ? [file.edge('sep')] : []
  if (starts.length + ends.length + between.length === 0) return null
  const around = (part, first, last, type) => [...first, [part], ...last].map(([token]) => [token, type])
  const second = around('$B', between.length > 0 ? between : starts, ends, 1)
  const first = around('$A', starts, ends, 0)
  return template(
    /** @type {[string, number][]} */ (first),
    /** @type {[string, number][]} */ ([...first, ...second]),
    new Map([...starts, ...ends, ...between]),
  )
}

/** What stands around texts where the file has no flag for it. */
function edgesOf(file, { bos, eos, sep = false, ...given }) {
  return edges(file, {
    bos: file.flag('tokenizer.ggml.add_bos_token', bos),
    eos: file.flag('tokenizer.ggml.add_eos_token', eos),
    sep: file.flag('tokenizer.ggml.add_sep_token', sep),
    ...given,
  })
}

const NO_PRE = 'split as llama.cpp does by default, because the file has no tokenizer.ggml.pre'

function bpe(file) {
  const name = file.model === 'gemma4' ? 'gemma4' : (file.text('tokenizer.ggml.pre') ?? '')
  const pre = preTokenizerOf(name)
  if (pre === undefined) {
    const message = `tokenizer.ggml.pre: ${short(name)} is not supported: load the tokenizer.json of the model`
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  const merges = file.texts('tokenizer.ggml.merges')
  if (merges === undefined) throw broken('has no tokenizer.ggml.merges')
  const bos = pre.forcesBos || file.flag('tokenizer.ggml.add_bos_token', pre.addsBos)
  const post = edges(file, {
    bos,
    eos: file.flag('tokenizer.ggml.add_eos_token', false),
    sep: file.flag('tokenizer.ggml.add_sep_token', pre.addsSep),
    byDefault: pre.hasBos && file.model === 'gpt2' ? BPE_EDGE : undefined,
  })
  const spaces = {
    normalizer: normalizers.replace(' ', '▁'),
    pre_tokenizer: preTokenizers.sequence(splits(pre.patterns)),
    decoder: decoders.sequence([decoders.replace('▁', ' '), decoders.byteFallback, decoders.fuse]),
  }
  const byteLevel = {
    pre_tokenizer: preTokenizers.sequence([
      ...splits(pre.patterns),
      ...byteAlphabet(pre.patterns),
      ...withoutBytes(missingBytes(file.tokens)),
    ]),
    decoder: decoders.byteLevel({}),
  }
  return {
    kind: 'bpe',
    merges,
    unknown: null,
    byte_fallback: pre.hasSpaces,
    ignore_merges: pre.ignoresMerges,
    post_processor: post,
    ...(pre.hasSpaces ? spaces : byteLevel),
    note: name === '' ? NO_PRE : undefined,
  }
}

const splits = (patterns) =>
  patterns.map((one) => (one === GPT2 ? preTokenizers.byteLevel(false) : preTokenizers.splitRegex(one, 'Isolated')))

/** ByteLevel is the last step, once. */
const byteAlphabet = (patterns) =>
  patterns.includes(GPT2) ? [] : [preTokenizers.byteLevel(false, { use_regex: false })]

/** What ByteLevel maps the bytes of UTF-8 to: all but 0xc0, 0xc1 and the bytes from 0xf5 on. */
const BYTES = byteLevelAlphabet().filter((_, byte) => byte < 0xf5 && byte !== 0xc0 && byte !== 0xc1)

/** Which of BYTES are no tokens. */
function missingBytes(tokens) {
  const missing = new Set(BYTES)
  for (let id = 0; id < tokens.length && missing.size > 0; id++)
    if (tokens.ends[id] - tokens.starts[id] <= 2) missing.delete(tokens.text(id))
  return [...missing]
}

/**
 * llama.cpp leaves out a byte that is no token, and merges nothing across it. tokenizers would
 * merge what is left.
 */
function withoutBytes(missing) {
  const characters = missing.map((byte) => `\\x{${byte.charCodeAt(0).toString(16)}}`).join('')
  return missing.length === 0 ? [] : [preTokenizers.splitRegex(`[${characters}]`, 'Removed')]
}

/** The first of the Hangul syllables, and how many start with the same consonant. */
const [SYLLABLES, SYLLABLES_EACH, CONSONANTS, FIRST_CONSONANT] = [0xac00, 588, 19, 0x1100]

/**
 * Characters without their marks: llama.cpp keeps the first character of each decomposition, so
 * only the first consonant of a Hangul syllable, and removes all marks.
 */
const withoutMarks = () => [
  ...Array.from({ length: CONSONANTS }, (_, index) => {
    const start = SYLLABLES + index * SYLLABLES_EACH
    const [first, last] = [start, start + SYLLABLES_EACH - 1].map((code) => String.fromCodePoint(code))
    return normalizers.replaceRegex(`[${first}-${last}]`, String.fromCodePoint(FIRST_CONSONANT + index))
  }),
  normalizers.nfd,
  normalizers.replaceRegex(String.raw`\p{M}`, ''),
]

/** What llama.cpp does with text before WordPiece. */
function wordPieceNormalizer(file) {
  const lowercase = file.flag('tokenizer.ggml.normalizer.lowercase', true)
  return normalizers.sequence([
    // White space of these categories ends a word.
    normalizers.replaceRegex(String.raw`[\p{Cc}\p{Cf}\p{Co}\x{FFFD}&&[^\s]]`, ''),
    ...(file.flag('tokenizer.ggml.normalizer.strip_accents', lowercase) ? withoutMarks() : []),
    // The only letter with two in lower case, of which the first stays.
    ...(lowercase ? [normalizers.replace('İ', 'i'), normalizers.lowercase] : []),
    normalizers.bert({ clean_text: false, strip_accents: false, lowercase: false }),
  ])
}

function wordPiece(file) {
  if (file.special('unk') === undefined) throw broken(`has no ${SPECIALS.unk[0]}`)
  // llama.cpp does not read cls_token_id.
  const start = file.special('bos') ?? (BERT_START < file.tokens.length ? BERT_START : file.special('cls'))
  const [cls, sep] = [file.edge('bos', start), file.edge('sep')]
  /** @type {[string, number][]} */
  const single = [
    [cls[0], 0],
    ['$A', 0],
    [sep[0], 0],
  ]
  return {
    kind: 'wordpiece',
    whole: [cls[1], sep[1]],
    normalizer: wordPieceNormalizer(file),
    // BertPreTokenizer has the punctuation of an older Unicode.
    pre_tokenizer: preTokenizers.sequence([
      preTokenizers.splitRegex(String.raw`[\p{P}$+<=>^\x60|~]`, 'Isolated'),
      preTokenizers.whitespaceSplit,
    ]),
    post_processor: template(single, [...single, ['$B', 1], [sep[0], 1]], new Map([cls, sep])),
    decoder: decoders.wordPiece('##'),
  }
}

const scoresOf = (file) => file.numbers('tokenizer.ggml.scores')

/** BPE of SentencePiece. */
const scored = (file) => ({
  scores: scoresOf(file),
  add_space_prefix: file.flag('tokenizer.ggml.add_space_prefix', true),
  post_processor: edgesOf(file, { bos: true, eos: false }),
})

const unigram = (file) => ({
  scores: scoresOf(file),
  charsmap: file.bytes('tokenizer.ggml.precompiled_charsmap'),
  add_space_prefix: file.flag('tokenizer.ggml.add_space_prefix', false),
  remove_extra_whitespaces: file.flag('tokenizer.ggml.remove_extra_whitespaces', false),
  post_processor: edgesOf(file, { bos: false, eos: true }),
})

const MODELS = { gpt2: bpe, gemma4: bpe, llama: scored, t5: unigram, bert: wordPiece }

module.exports = { tokenizerOf }
