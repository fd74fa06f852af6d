'use strict'

// The tokenizer that llama.cpp makes of the metadata of a GGUF file: a tokenizer.json for BPE
// (gpt2, gemma4) and WordPiece (bert), a SentencePiece model for SentencePiece's BPE (llama) and
// Unigram (t5).

const { error } = require('../../errors.js')
const { decoders, normalizers, preTokenizers, template } = require('../components.js')
const { Bytes } = require('./bytes.js')
const { broken, utf8 } = require('./metadata.js')
const { GPT2, preTokenizerOf } = require('./patterns.js')

/** The values of `tokenizer.ggml.token_type`, which are those of SentencePiece. */
const [NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE] = [1, 2, 3, 4, 5, 6]

/** Tokens of a file. The largest vocabularies have an eighth of this. */
const MAX_TOKENS = 2 ** 21
/** Tokens that are found in texts before anything else. */
const MAX_ADDED_TOKENS = 2 ** 18

const ENCODER = new TextEncoder()
const SPACE = 0x20
/** The UTF-8 of `▁`, with which tokens of BERT begin that begin a word. */
const META = [0xe2, 0x96, 0x81]
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

/** What stands around a text where the file does not say. */
const EDGES = { llama: [true, false], t5: [false, true] }

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

  /** The kind of a token; a normal one by default. */
  get kinds() {
    const list = this.numbers('tokenizer.ggml.token_type')
    return (id) => (list === undefined ? NORMAL : list.at(id))
  }

  /** Where the bytes of a token are: bytes, start and end. llama.cpp names empty tokens. */
  token(id) {
    const { bytes, starts, ends } = this.tokens
    if (starts[id] < ends[id]) return [bytes, starts[id], ends[id]]
    const name = ENCODER.encode(`[EMPTY_${id}]`)
    return [name, 0, name.length]
  }

  tokenText(id) {
    return this.tokens.text(id) || `[EMPTY_${id}]`
  }

  /** The id of a special token, or undefined; an id that no token has counts as the default. */
  special(name) {
    const byDefault = DEFAULTS[this.model]?.[name]
    const [given] = [this.wholeNumber(SPECIALS[name][0]), byDefault].filter((id) => id >= 0 && id < this.tokens.length)
    return given
  }

  /** The part of a template that is a special token. */
  edge(name) {
    const id = this.special(name)
    if (id === undefined) throw broken(`puts the token ${name} around texts, but has no ${SPECIALS[name][0]}`)
    return [this.tokenText(id), id]
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
    const tokens = named.filter(([, id]) => id !== undefined).map(([name, id]) => [name, this.tokenText(id)])
    const length = this.wholeNumber(`${this.text('general.architecture')}.context_length`)
    return { ...Object.fromEntries(tokens), model_max_length: length }
  }
}

const tooMany = (what, limit) => error('ERR_TOKENLANE_TOO_LARGE', `the GGUF file has more than ${limit} ${what}`)

const isText = (value) => typeof value === 'string'
const isNumbers = (value) => value.bytes instanceof Uint8Array && typeof value.at === 'function'

/**
 * The tokenizer of the metadata of a GGUF file: the bytes of a file that can be loaded, changes of
 * the tokenizer that it makes, what a tokenizer_config.json would say, and the chat templates.
 *
 * @param {Map<string, any>} values
 */
function tokenizerOf(values) {
  const file = new GgufFile(values)
  const build = MODELS[file.model]
  if (build === undefined) {
    const known = Object.keys(MODELS).join(', ')
    const message = `tokenizer.ggml.model: ${short(file.model)} is not supported (supported: ${known})`
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  return { ...build(file), size: file.tokens.length, config: file.config, templates: file.templates }
}

const short = (name) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

/**
 * Tokens that take the spaces beside them, which llama.cpp knows by the names of models: a name of
 * the model, the architecture or the pre-tokenizer, and the side of each token.
 */
const STRIPPING = [
  {
    is: ({ name }) => /phi-?3/.test(name),
    side: (content) => (['<unk>', '<s>', '<|endoftext|>'].includes(content) ? undefined : 'rstrip'),
  },
  {
    is: ({ pre, architecture }) =>
      /jina-v2-(?:de|es|code)/.test(pre) || /nomic-bert-moe|jina-bert-v3/.test(architecture),
    side: (content) => (content === '<mask>' ? 'lstrip' : undefined),
  },
  {
    is: ({ name }) => name.includes('modern-bert'),
    side: (content) => (content === '[MASK]' ? 'lstrip' : undefined),
  },
]

/** Tokens that are found in texts before anything else: control tokens, and those of users. */
function addedTokens(file) {
  const { kinds } = file
  const names = {
    name: (file.text('general.name') ?? '').toLowerCase(),
    pre: file.text('tokenizer.ggml.pre') ?? '',
    architecture: file.text('general.architecture') ?? '',
  }
  const sideOf = STRIPPING.find(({ is }) => is(names))?.side ?? (() => undefined)
  const tokens = []
  for (let id = 0; id < file.tokens.length; id++) {
    const kind = kinds(id)
    if (kind !== CONTROL && kind !== UNKNOWN && kind !== USER_DEFINED) continue
    if (tokens.length === MAX_ADDED_TOKENS) throw tooMany('control tokens', MAX_ADDED_TOKENS)
    const content = file.tokenText(id)
    const side = sideOf(content)
    tokens.push({ id, content, special: kind !== USER_DEFINED, lstrip: side === 'lstrip', rstrip: side === 'rstrip' })
  }
  return tokens
}

const inJson = (token) => ({ ...token, single_word: false, normalized: false })

/** The tokens around a text, which `add_bos_token` and `add_eos_token` choose. */
function edges(file, [addsBos, addsEos]) {
  const bos = file.flag('tokenizer.ggml.add_bos_token', addsBos) ? [file.edge('bos')] : []
  const eos = file.flag('tokenizer.ggml.add_eos_token', addsEos) ? [file.edge('eos')] : []
  if (bos.length + eos.length === 0) return null
  const single = [...bos.map(([token]) => token), '$A', ...eos.map(([token]) => token)]
  const second = single.map((part) => [part === '$A' ? '$B' : part, 1])
  const first = single.map((part) => [part, 0])
  return template(
    /** @type {[string, number][]} */ (first),
    /** @type {[string, number][]} */ ([...first, ...second]),
    new Map([...bos, ...eos]),
  )
}

const NO_PRE = 'split as llama.cpp does by default, because the file has no tokenizer.ggml.pre'

function bpe(file) {
  const name = file.model === 'gemma4' ? 'gemma4' : (file.text('tokenizer.ggml.pre') ?? '')
  const pre = preTokenizerOf(name)
  if (pre === undefined) {
    const message = `tokenizer.ggml.pre: ${short(name)} is not supported: load the tokenizer.json of the model`
    throw error('ERR_TOKENLANE_UNSUPPORTED', message)
  }
  const model = new Bytes()
  const settings = {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: pre.hasSpaces,
    ignore_merges: pre.ignoresMerges,
  }
  model.text(`${JSON.stringify(settings).slice(0, -1)},"vocab":{`)
  for (let id = 0; id < file.tokens.length; id++) {
    if (id > 0) model.ascii(',')
    const [bytes, start, end] = file.token(id)
    model.json(bytes, start, end)
    model.ascii(`:${id}`)
  }
  model.text('},"merges":[')
  writeMerges(model, file)
  model.text(']}')
  // llama.cpp does so whatever the file says.
  const post = edges(file, name === 'gemma4' ? [true, false] : [pre.addsBos, false])
  const spaces = {
    normalizer: normalizers.replace(' ', '▁'),
    pre_tokenizer: preTokenizers.sequence(splits(pre.patterns)),
    decoder: decoders.sequence([decoders.replace('▁', ' '), decoders.byteFallback, decoders.fuse]),
  }
  const byteLevel = {
    normalizer: null,
    pre_tokenizer: preTokenizers.sequence([...splits(pre.patterns), ...byteAlphabet(pre.patterns)]),
    decoder: decoders.byteLevel({}),
  }
  const made = jsonFile(file, { ...(pre.hasSpaces ? spaces : byteLevel), post_processor: post }, model.done())
  return name === '' ? { ...made, note: NO_PRE } : made
}

const splits = (patterns) =>
  patterns.map((one) => (one === GPT2 ? preTokenizers.byteLevel(false) : preTokenizers.splitRegex(one, 'Isolated')))

/** ByteLevel is the last step, once. */
const byteAlphabet = (patterns) =>
  patterns.includes(GPT2) ? [] : [preTokenizers.byteLevel(false, { use_regex: false })]

function writeMerges(model, file) {
  const merges = file.texts('tokenizer.ggml.merges')
  if (merges === undefined) throw broken('has no tokenizer.ggml.merges')
  for (let index = 0; index < merges.length; index++) {
    const [start, end] = [merges.starts[index], merges.ends[index]]
    // A token may start with a space.
    let space = start + 1
    while (space < end && merges.bytes[space] !== SPACE) space += 1
    if (space >= end)
      throw error('ERR_TOKENLANE_MERGE', `tokenizer.ggml.merges[${index}] is not two tokens with a space`)
    model.ascii(index > 0 ? ',[' : '[')
    model.json(merges.bytes, start, space)
    model.ascii(',')
    model.json(merges.bytes, space + 1, end)
    model.ascii(']')
  }
}

/** A tokenizer.json of components and a model, which is written already. */
function jsonFile(file, components, model) {
  const head = JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens(file).map(inJson),
    ...components,
  })
  const json = new Bytes()
  json.text(`${head.slice(0, -1)},"model":`)
  json.bytes(model)
  json.text('}')
  const bytes = json.done()
  checkTexts(file, bytes)
  return { bytes }
}

/** Throws if a file that is made of texts is not UTF-8, and names the text. */
function checkTexts(file, bytes) {
  try {
    utf8(bytes, () => 'a token')
  } catch {
    for (const texts of [file.tokens, file.texts('tokenizer.ggml.merges')])
      for (let index = 0; index < (texts?.length ?? 0); index++) texts.text(index)
    throw broken('has a text that is not UTF-8')
  }
}

/** WordPiece. Tokens that begin a word have a `▁`, and others no `##`. */
function wordPiece(file) {
  const { kinds } = file
  const unknown = file.special('unk')
  if (unknown === undefined) throw broken(`has no ${SPECIALS.unk[0]}`)
  const settings = {
    type: 'WordPiece',
    unk_token: file.tokenText(unknown),
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
  }
  const model = new Bytes()
  model.text(`${JSON.stringify(settings).slice(0, -1)},"vocab":{`)
  for (let id = 0; id < file.tokens.length; id++) {
    if (id > 0) model.ascii(',')
    const [bytes, start, end] = file.token(id)
    const isWhole = kinds(id) === CONTROL || kinds(id) === UNKNOWN || id === unknown
    const isStart = !isWhole && META.every((byte, index) => bytes[start + index] === byte)
    model.json(bytes, isStart ? start + META.length : start, end, isWhole || isStart ? '' : '##')
    model.ascii(`:${id}`)
  }
  model.text('}}')
  const lowercase = file.flag('tokenizer.ggml.normalizer.lowercase', true)
  const first = file.special('bos') === undefined ? 'cls' : 'bos'
  const [cls, sep] = [file.edge(first), file.edge('sep')]
  /** @type {[string, number][]} */
  const single = [
    [cls[0], 0],
    ['$A', 0],
    [sep[0], 0],
  ]
  const components = {
    normalizer: normalizers.bert({
      lowercase,
      strip_accents: file.flag('tokenizer.ggml.normalizer.strip_accents', lowercase),
    }),
    pre_tokenizer: preTokenizers.bert,
    post_processor: template(single, [...single, ['$B', 1], [sep[0], 1]], new Map([cls, sep])),
    decoder: decoders.wordPiece('##'),
  }
  return jsonFile(file, components, model.done())
}

/** A SentencePiece model: pieces with scores and kinds, and what is done with spaces. */
function sentencePiece(file) {
  const isUnigram = file.model === 't5'
  const { kinds } = file
  const scores = file.numbers('tokenizer.ggml.scores')
  if (scores === undefined) throw broken('has no tokenizer.ggml.scores')
  const [model, piece] = [new Bytes(), new Bytes()]
  let [hasBytes, hasUnknown] = [false, false]
  for (let id = 0; id < file.tokens.length; id++) {
    let kind = kinds(id) >= NORMAL && kinds(id) <= BYTE ? kinds(id) : UNUSED
    // A SentencePiece model has one unknown piece.
    if (kind === UNKNOWN && hasUnknown) kind = CONTROL
    hasUnknown ||= kind === UNKNOWN
    hasBytes ||= kind === BYTE
    const [bytes, start, end] = file.token(id)
    piece.clear()
    piece.field(1, bytes.subarray(start, end))
    piece.byte(0x15)
    piece.float(scores.at(id))
    piece.numberField(3, kind)
    model.field(1, piece.done())
  }
  const trainer = new Bytes()
  trainer.numberField(3, isUnigram ? 1 : 2)
  trainer.numberField(35, Number(hasBytes))
  model.field(2, trainer.done())
  const normalizer = new Bytes()
  const charsmap = file.bytes('tokenizer.ggml.precompiled_charsmap')
  if (isUnigram && charsmap !== undefined) normalizer.field(2, charsmap)
  normalizer.numberField(3, Number(file.flag('tokenizer.ggml.add_space_prefix', true)))
  normalizer.numberField(4, Number(isUnigram && file.flag('tokenizer.ggml.remove_extra_whitespaces', false)))
  normalizer.numberField(5, 1)
  model.field(3, normalizer.done())
  const added = addedTokens(file).map(({ id: _, ...token }) => ({ ...token, normalized: false }))
  const post = edges(file, EDGES[file.model])
  return { bytes: model.done(), changes: { addedTokens: added, ...(post !== null && { postProcessor: post }) } }
}

const MODELS = { gpt2: bpe, gemma4: bpe, llama: sentencePiece, t5: sentencePiece, bert: wordPiece }

module.exports = { tokenizerOf }
