'use strict'

// The folder of a model: which of its files hold the tokenizer, in the order of transformers.
// tokenizer.json comes first; the other files depend on the class that the configs name.

const fs = require('node:fs')
const path = require('node:path')

const { error } = require('../errors.js')
const { isAbsence, readRegular, readRegularSync } = require('../regular-file.js')
const { step } = require('../steps.js')
const { BACKEND, autoClass, classOfModel } = require('./auto-class.js')
const { classes } = require('./classes/index.js')
const { parseConfig, utf8Of } = require('./config-json.js')
const { configOf, specialTokens, textsOf } = require('./config-tokens.js')
const { RANK_FILES } = require('./rank-files.js')
const { modelFileOf, sentencePieceJson } = require('./sentencepiece.js')
const { tokenizerJson } = require('./tokenizer-json.js')

/**
 * Bytes of all files of a tokenizer that are read here, and of each config among them. Their values
 * take up to 100 times as much memory in V8's heap, and V8 ends the process when it is full.
 */
const MAX_FOLDER_BYTES = 32 * 2 ** 20
const MAX_CONFIG_BYTES = 4 * 2 ** 20

/** Files that are whole tokenizers; SentencePiece models have the names that transformers uses. */
const JSON_TOKENIZERS = ['tokenizer.json', 'tekken.json']
const SENTENCEPIECE = ['tokenizer.model', 'spiece.model', 'sentencepiece.bpe.model', 'sentencepiece.model', 'spm.model']
/** Files of tokenizers that only some classes use. */
const PART_OF_OTHERS = /\.(?:spm|model|bpe|codes)$|^(?:vocab|merges|dict)\b/
/** Files that need others. */
const VOCABULARIES = ['vocab.json', 'vocab.txt']
const CONFIGS = ['tokenizer_config.json', 'special_tokens_map.json', 'added_tokens.json', 'config.json']
const RANKS = Object.keys(RANK_FILES)
const LOOKED_FOR = [...JSON_TOKENIZERS, ...SENTENCEPIECE, 'vocab.json with merges.txt', 'vocab.txt', ...RANKS]

/** The builders of tokenizer-json.js by class, and by `model_type` of config.json. */
const CLASSES = {
  Bert: /^(?:Bert|DistilBert|Electra|MobileBert|SqueezeBert|ConvBert|LayoutLM|Retribert|DPR\w+)Tokenizer$/,
  Gpt2: /^GPT2Tokenizer$/,
  Roberta: /^(?:Roberta|Longformer|Bart)Tokenizer$/,
  Clip: /^CLIPTokenizer$/,
  OpenAiGpt: /^OpenAIGPTTokenizer$/,
  /** Classes whose code is in the repository, beside a rank file. */
  Ranks: new RegExp(
    `^(?:${Object.values(RANK_FILES)
      .map((one) => one.class)
      .join('|')})$`,
  ),
  /** Classes whose ids are those of the SentencePiece model. */
  SentencePiece: /^(?:Llama|CodeLlama|Gemma|T5|MT5|Albert|XLNet|DebertaV2|Reformer|BigBird|RemBert|FNet)Tokenizer$/,
}
const MODEL_TYPES = {
  Bert: [
    'bert',
    'distilbert',
    'electra',
    'mobilebert',
    'squeezebert',
    'convbert',
    'layoutlm',
    'megatron-bert',
    'nomic_bert',
  ],
  Gpt2: ['gpt2', 'gpt_neo', 'gptj', 'opt', 'codegen', 'starcoder2'],
  Roberta: ['roberta', 'roberta-prelayernorm', 'bart', 'longformer', 'ibert', 'data2vec-text'],
  OpenAiGpt: ['openai-gpt'],
  Clip: ['clip', 'clipseg', 'owlvit', 'owlv2', 'xclip', 'groupvit'],
}

/** What a tokenizer is whose file transformers converts, and changes by the configs. */
const ALONE = 'the file alone: transformers converts it and uses the configs'
const builtAs = (name) => `built as ${name}`

/** Whether a file failed to load because it is a folder, or needs other files of its folder. */
function needsFolder(file, { code }) {
  const name = path.basename(file)
  if (code === 'ERR_TOKENLANE_NOT_A_FILE') return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  if (RANKS.includes(name)) return code === 'ERR_TOKENLANE_PATTERN_MISSING'
  const isPart = VOCABULARIES.includes(name) || name === 'merges.txt'
  return isPart && ['ERR_TOKENLANE_UNKNOWN_FORMAT', 'ERR_TOKENLANE_SHAPE', 'ERR_TOKENLANE_EMPTY_FILE'].includes(code)
}

/**
 * The tokenizer of a folder, or of a vocabulary in it, as work of lib/steps.js: { file, bytes,
 * specials, configs, failure, source }. Without `bytes` the file is the tokenizer; `configs` are
 * those beside a tokenizer.json, or `failure` why they cannot be used. `source` has the class and
 * the note of any other tokenizer, `specials` the special tokens of one that is built from a
 * vocabulary. `ranks` are the name and the config of a rank file. `usesConfigs` says whether to
 * read the configs.
 */
function* modelOf(place, usesConfigs = true) {
  const folder = folderOf(place)
  let names
  try {
    names = yield step(
      () => fs.readdirSync(folder),
      () => fs.promises.readdir(folder),
    )
  } catch (failure) {
    throw cannotList(failure)
  }
  const plan = planOf(place, names, usesConfigs)
  for (const wanted of plan.reads()) {
    const { file, limit } = wanted
    try {
      wanted.bytes = yield step(
        () => readRegularSync(file, limit),
        () => readRegular(file, limit),
      )
    } catch (failure) {
      plan.notRead(wanted, failure)
    }
    plan.left -= wanted.bytes?.length ?? 0
  }
  return plan.model()
}

const cannotRead = (file, cause) => error('ERR_TOKENLANE_FILE', `cannot read ${file}: ${cause.message}`, { cause })
const cannotList = (cause) => error('ERR_TOKENLANE_FILE', `cannot read the folder: ${cause.message}`, { cause })

const isVocabulary = (place) => [...VOCABULARIES, ...RANKS, 'merges.txt'].includes(path.basename(place))
const folderOf = (place) => (isVocabulary(place) ? path.dirname(place) : place)

function planOf(place, names, usesConfigs) {
  const folder = folderOf(place)
  const wanted = isVocabulary(place) ? path.basename(place).replace('merges.txt', 'vocab.json') : undefined
  return new Plan(folder, new Set(names), wanted, usesConfigs)
}

const kindOfClass = (name) => Object.keys(CLASSES).find((kind) => CLASSES[kind].test(name)) ?? 'Other'

function unsupportedClass(name) {
  const short = name.length > 100 ? `${name.slice(0, 100)}…` : name
  const message = `tokenizer_class: ${short} is not supported without a tokenizer.json: save the tokenizer once with transformers, which writes one`
  return error('ERR_TOKENLANE_UNSUPPORTED', message)
}

function patternMissing(file) {
  const message = `${file}: this is a rank file, which does not say how text is split, and no tokenizer_config.json beside it names its class: name its encoding, or give its pattern and special tokens`
  return error('ERR_TOKENLANE_PATTERN_MISSING', message)
}

/** Determines which files of a folder to read, and builds the tokenizer from them. */
class Plan {
  /** The number of bytes that the remaining files may have. */
  left = MAX_FOLDER_BYTES
  #folder
  #names
  #wanted
  #usesConfigs
  #texts = new Map()
  #configs = new Map()
  /** Why the configs beside a tokenizer.json cannot be used. */
  #failure

  constructor(folder, names, wanted, usesConfigs) {
    this.#folder = folder
    this.#names = names
    this.#wanted = wanted
    this.#usesConfigs = usesConfigs
  }

  /** Yields the files to read as { file, limit }, the limit in bytes; the caller sets `bytes`. */
  *reads() {
    const whole = this.#jsonTokenizer()
    if (whole !== undefined && (whole !== JSON_TOKENIZERS[0] || !this.#usesConfigs)) return
    for (const name of CONFIGS) yield* this.#read(name)
    if (whole !== undefined) return
    const sentencePiece = this.#classModel()
    if (sentencePiece !== undefined) yield* this.#read(sentencePiece)
    const vocabulary = this.#vocabulary()
    if (vocabulary === undefined) return
    yield* this.#read(vocabulary)
    if (vocabulary === 'vocab.json') yield* this.#read('merges.txt')
  }

  *#read(name) {
    if (!this.#names.has(name)) return
    const limit = CONFIGS.includes(name) ? Math.min(this.left, MAX_CONFIG_BYTES) : this.left
    const wanted = { file: path.join(this.#folder, name), limit, bytes: undefined }
    yield wanted
    if (wanted.bytes !== undefined) this.#texts.set(name, wanted.bytes)
  }

  /** A missing file is no failure. A config that cannot be read does not stop a tokenizer.json. */
  notRead({ file }, failure) {
    if (isAbsence(failure)) return
    // The addon reads larger models, without the class.
    if (SENTENCEPIECE.includes(path.basename(file)) && failure.code === 'ERR_TOKENLANE_TOO_LARGE') return
    if (this.#jsonTokenizer() === undefined) throw failure
    this.#failure ??= failure.code?.startsWith('ERR_TOKENLANE') ? failure : cannotRead(file, failure)
  }

  #jsonTokenizer() {
    return this.#wanted === undefined ? JSON_TOKENIZERS.find((name) => this.#names.has(name)) : undefined
  }

  /** The vocabulary from which to build the tokenizer, unless another file is a whole tokenizer. */
  #vocabulary() {
    const kind = this.#kind()
    if (this.#ranks(kind) !== undefined) return undefined
    if (this.#wanted === undefined && this.#sentencePiece(kind) !== undefined) return undefined
    const names = this.#wanted !== undefined ? [this.#wanted] : kind === 'Bert' ? ['vocab.txt'] : VOCABULARIES
    return names.find((name) => this.#names.has(name) && (name !== 'vocab.json' || this.#names.has('merges.txt')))
  }

  /** The rank file, if the configs name its class; the name of Qwen's is enough. */
  #ranks(kind) {
    if (kind !== 'Ranks' && kind !== undefined) return undefined
    const named = RANKS.find((name) => RANK_FILES[name].class === this.#className())
    const name = named ?? (kind === undefined ? 'qwen.tiktoken' : undefined)
    if (this.#wanted !== undefined && this.#wanted !== name) return undefined
    return name !== undefined && this.#names.has(name) ? name : undefined
  }

  #sentencePiece(kind) {
    return kind === undefined || kind === 'SentencePiece' || kind === 'Other'
      ? SENTENCEPIECE.find((name) => this.#names.has(name))
      : undefined
  }

  /** The SentencePiece model of the folder's class, if that is built from it. */
  #classModel() {
    if (!this.#usesConfigs || this.#wanted !== undefined) return undefined
    const file = modelFileOf(this.#chosenClass().class)
    return file !== undefined && this.#names.has(file) ? file : undefined
  }

  /** The class that is built from a SentencePiece model, or undefined. */
  #ofSentencePiece() {
    const file = this.#classModel()
    const bytes = file && this.#texts.get(file)
    if (bytes === undefined) return undefined
    const { class: name } = this.#chosenClass()
    const configs = this.#allConfigs()
    const json = sentencePieceJson(bytes, name, configOf(configs))
    return json && { file, bytes: json.bytes, configs: { ...configs, sentencePiece: { ...json.config, class: name } } }
  }

  model() {
    const built = this.#jsonTokenizer() === undefined ? this.#ofSentencePiece() : undefined
    if (built !== undefined) return { ...built, file: path.join(this.#folder, built.file), source: {} }
    const { file, bytes, source, ranks, specials } = this.#found()
    const place = { file: path.join(this.#folder, file), bytes, ranks, specials, ...(this.#usesConfigs && { source }) }
    if (file !== JSON_TOKENIZERS[0] || !this.#usesConfigs) return place
    if (this.#failure !== undefined) return { ...place, failure: this.#failure }
    try {
      return { ...place, configs: this.#allConfigs() }
    } catch (failure) {
      return { ...place, failure }
    }
  }

  #allConfigs() {
    return Object.fromEntries(CONFIGS.map((name) => [name, this.#json(name)]))
  }

  #found() {
    const whole = this.#jsonTokenizer()
    if (whole !== undefined) return { file: whole, source: whole === JSON_TOKENIZERS[0] ? {} : { note: ALONE } }
    const kind = this.#kind()
    const vocabulary = this.#vocabulary()
    const file = this.#wanted === undefined ? this.#sentencePiece(kind) : undefined
    const name = this.#className() ?? classOfModel(this.#json('config.json').model_type)
    const rankFile = this.#ranks(kind)
    if (rankFile !== undefined) {
      const ranks = { name: rankFile, config: this.#json('tokenizer_config.json') }
      const { class: name, note } = RANK_FILES[rankFile]
      return { file: rankFile, source: { class: name, ...(note !== undefined && { note }) }, ranks }
    }
    if (RANKS.includes(this.#wanted)) throw patternMissing(path.join(this.#folder, this.#wanted))
    const isOther = name !== undefined && name !== BACKEND && kindOfClass(name) === 'Other'
    if (file === undefined && vocabulary === undefined) {
      if (isOther && [...this.#names].some((one) => PART_OF_OTHERS.test(one))) throw unsupportedClass(name)
      const what = this.#wanted === 'vocab.json' ? 'vocab.json with merges.txt' : LOOKED_FOR.join(', ')
      throw error(
        'ERR_TOKENLANE_FILE_NOT_FOUND',
        `there is no tokenizer in the folder ${this.#folder}: looked for ${what}${ggufHint(this.#folder, this.#names)}`,
      )
    }
    if (kind === 'Other') throw unsupportedClass(name)
    if (file !== undefined)
      return { file, source: { ...this.#chosenClass(), note: ALONE }, specials: this.#specials(name) }
    const files = Object.fromEntries(this.#texts)
    const configs = this.#allConfigs()
    const built = tokenizerJson(kind ?? (vocabulary === 'vocab.txt' ? 'Bert' : undefined), files, configs)
    const source = this.#chosenClass()
    const differs = source.class !== undefined && source.class !== built.class
    return {
      file: vocabulary,
      bytes: built.bytes,
      specials: built.specials,
      source: differs ? { ...source, note: builtAs(built.class) } : source,
    }
  }

  /** The special tokens by name of a class whose file is loaded alone. */
  #specials(name) {
    const config = configOf(this.#allConfigs())
    return textsOf(specialTokens(classes[name] ?? { tokens: {} }, config), config.named)
  }

  /** The class of transformers, if the configs name one. */
  #chosenClass() {
    const [tokenizer, model] = [this.#json('tokenizer_config.json'), this.#json('config.json')]
    if (this.#className() === undefined && classOfModel(model.model_type) === undefined) return {}
    return { class: autoClass({ tokenizer, model, hasByteLevel: () => false }).name }
  }

  /** The class that the configs name, without "Fast". */
  #className() {
    const name = this.#json('tokenizer_config.json').tokenizer_class ?? this.#json('config.json').tokenizer_class
    if (typeof name !== 'string' || /^PreTrainedTokenizer(?:Fast)?$|^TokenizersBackend$/.test(name)) return undefined
    return name.replace(/Fast$/, '')
  }

  /** A key of CLASSES, 'Other' for any other class, or undefined if the configs name none. */
  #kind() {
    const name = this.#className()
    if (name !== undefined) return kindOfClass(name)
    const type = this.#json('config.json').model_type
    return Object.keys(MODEL_TYPES).find((kind) => MODEL_TYPES[kind].includes(type))
  }

  #json(name) {
    if (!this.#configs.has(name)) this.#configs.set(name, this.#parsed(name))
    return this.#configs.get(name)
  }

  #parsed(name) {
    const bytes = this.#texts.get(name)
    if (bytes === undefined) return {}
    let value
    try {
      value = parseConfig(utf8Of(bytes))
    } catch (cause) {
      throw error('ERR_TOKENLANE_JSON', `${path.join(this.#folder, name)}: the JSON does not parse: ${cause.message}`, {
        cause,
      })
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw error('ERR_TOKENLANE_SHAPE', `${path.join(this.#folder, name)}: an object is expected here`)
    }
    return value
  }
}

/** A folder of GGUF files has several tokenizers, or parts of one: none is chosen. */
function ggufHint(folder, names) {
  const file = [...names].find((name) => name.endsWith('.gguf'))
  return file === undefined ? '' : `; name a GGUF file itself, such as ${path.join(folder, file)}`
}

module.exports = {
  CONFIGS,
  JSON_TOKENIZERS,
  RANKS,
  SENTENCEPIECE,
  VOCABULARIES,
  ggufHint,
  needsFolder,
  modelOf,
}
