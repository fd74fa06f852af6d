'use strict'

// A tokenizer.json from vocab.txt, or from vocab.json with merges.txt, as these classes of
// transformers 5 build it: BertTokenizer, GPT2Tokenizer, OpenAIGPTTokenizer, RobertaTokenizer and
// CLIPTokenizer.

const { error } = require('../errors.js')
const { classes } = require('./classes/index.js')
const { utf8Of } = require('./config-json.js')
const { addedTokens, configOf, specialTokens, textsOf } = require('./config-tokens.js')
const { Given } = require('./given.js')

/**
 * The class of each kind of vocabulary, and the special tokens that its vocabulary must have: the
 * unknown token, and those around a text.
 */
const KINDS = {
  Bert: { name: 'BertTokenizer', required: ['cls_token', 'sep_token', 'unk_token'] },
  Gpt2: { name: 'GPT2Tokenizer', required: [] },
  Roberta: { name: 'RobertaTokenizer', required: ['sep_token', 'cls_token'] },
  OpenAiGpt: { name: 'OpenAIGPTTokenizer', required: [] },
  Clip: { name: 'CLIPTokenizer', required: ['eos_token', 'bos_token', 'unk_token'] },
}

/**
 * The bytes of a tokenizer.json, the class that it is built as, and the texts of its special tokens
 * by name. `kind` is a key of KINDS;
 * without it, the vocabulary decides. `files` are bytes and `configs` objects, by name.
 */
function tokenizerJson(kind, files, configs) {
  const vocabulary =
    files['vocab.txt'] === undefined || kind !== 'Bert'
      ? jsonVocabulary(files['vocab.json'])
      : textVocabulary(files['vocab.txt'])
  const chosen = kind ?? kindOf(vocabulary.find)
  const config = configOf(configs)
  const { name, required } = KINDS[chosen]
  const found = classes[name]
  const specials = specialTokens(found, config)
  for (const one of required) idOf(vocabulary, specials, one)
  const { find } = vocabulary
  const tokens = { idOf: find, tokenOf: () => undefined, vocabularyIdOf: find }
  const given = new Given(config, specials, tokens)
  const { model, normalizer, pre_tokenizer, decoder } = found.parts(given)
  const head = JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens(config, specials),
    normalizer,
    pre_tokenizer,
    post_processor:
      found.post === undefined || chosen === 'Gpt2' ? edges(vocabulary, given, specials) : found.post(given),
    decoder,
  })
  const settings = JSON.stringify({ type: found.model, ...(found.model === 'BPE' && bpe(found.suffix)), ...model })
  const merges = found.model === 'BPE' ? `,"merges":${mergesOf(files['merges.txt'])}` : ''
  // The vocabulary is text already.
  const json = `${head.slice(0, -1)},"model":${settings.slice(0, -1)},"vocab":${vocabulary.json}${merges}}}`
  return { bytes: Buffer.from(json), class: name, specials: textsOf(specials, config.named) }
}

/**
 * The class of a vocab.json without a config: CLIP marks ends of words, and RoBERTa starts with its
 * special tokens.
 */
function kindOf(find) {
  const hasAll = (...tokens) => tokens.every((token) => find(token) !== undefined)
  if (hasAll('<|startoftext|>', 'a</w>')) return 'Clip'
  return hasAll('<s>', '</s>', '<mask>') ? 'Roberta' : 'Gpt2'
}

const shape = (message) => error('ERR_TOKENLANE_SHAPE', message)

/**
 * One token per line. As in the reference, white space at the end of a line is removed, and the
 * last of equal tokens counts.
 */
function textVocabulary(bytes) {
  const ids = new Map()
  let id = 0
  for (const line of linesOf('vocab.txt', bytes)) ids.set(withoutSpaceAtEnd(line), id++)
  if (ids.size === 0) throw error('ERR_TOKENLANE_EMPTY_FILE', 'vocab.txt: the file is empty')
  const entries = new JsonEntries()
  for (const [token, id] of ids) entries.push(`${JSON.stringify(token)}:${id}`)
  return { name: 'vocab.txt', find: (token) => ids.get(token), json: `{${entries.text()}}` }
}

/** A regular expression for a run at the end would search from each character of it. */
function withoutSpaceAtEnd(line) {
  let end = line.length
  while (end > 0 && /\p{White_Space}/u.test(line[end - 1])) end -= 1
  return line.slice(0, end)
}

/** Yields the lines of a file. A list of all lines could exceed the longest array of V8. */
function* linesOf(name, bytes) {
  const text = decoded(name, bytes)
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    yield text.slice(start, end < 0 ? text.length : end)
    start = end < 0 ? text.length : end + 1
  }
}

/** Entries of a JSON list or object, joined in blocks, which take less memory than single ones. */
class JsonEntries {
  #blocks = []
  #entries = []

  push(entry) {
    this.#entries.push(entry)
    if (this.#entries.length === 4096) this.#end()
  }

  #end() {
    if (this.#entries.length > 0) this.#blocks.push(this.#entries.join(','))
    this.#entries = []
  }

  text() {
    this.#end()
    return this.#blocks.join(',')
  }
}

function jsonVocabulary(bytes) {
  const text = decoded('vocab.json', bytes)
  let vocab
  try {
    vocab = JSON.parse(text)
  } catch (cause) {
    throw error('ERR_TOKENLANE_JSON', `vocab.json: the JSON does not parse: ${cause.message}`, { cause })
  }
  if (typeof vocab !== 'object' || vocab === null || Array.isArray(vocab))
    throw shape('vocab.json: a map from tokens to ids is expected here')
  for (const token in vocab) {
    if (!Object.hasOwn(vocab, token)) continue
    const id = vocab[token]
    if (!Number.isInteger(id) || id < 0 || id > 0xffff_ffff)
      throw shape(`vocab.json: the id of ${JSON.stringify(token)} is not a whole number below 2^32`)
  }
  return {
    name: 'vocab.json',
    find: (token) => (Object.hasOwn(vocab, token) ? vocab[token] : undefined),
    json: text,
  }
}

function decoded(name, bytes) {
  try {
    return utf8Of(bytes)
  } catch (cause) {
    throw error('ERR_TOKENLANE_UNKNOWN_FORMAT', `${name}: ${cause.message}`, { cause })
  }
}

/**
 * The JSON of the merges. Two parts per line; a line that starts with #version is left out.
 */
function mergesOf(bytes) {
  const merges = new JsonEntries()
  let number = 0
  for (const line of linesOf('merges.txt', bytes)) {
    number += 1
    if (line.startsWith('#version')) continue
    const parts = line.replace(/\r$/, '').split(' ')
    if (parts.length !== 2)
      throw error('ERR_TOKENLANE_MERGE', `merges.txt: line ${number} is not two parts with one space between them`)
    merges.push(JSON.stringify(parts))
  }
  return `[${merges.text()}]`
}

/** The id of a special token, which the vocabulary must have. */
function idOf(vocabulary, specials, name) {
  const content = specials[name]?.content
  if (content === undefined) throw shape(`tokenizer_config.json: ${name} is missing`)
  const id = vocabulary.find(content)
  if (id === undefined)
    throw shape(
      `${vocabulary.name}: it has no ${JSON.stringify(content)}, the ${name}: is it the vocabulary of another model, or cut?`,
    )
  return id
}

/** The post-processor of GPT and GPT-2, whose configs can add a first and a last token. */
function edges(vocabulary, given, specials) {
  const token = (option, name) => {
    if (!given.flag(option, false)) return []
    idOf(vocabulary, specials, name)
    return [given.content(name)]
  }
  const [bos, eos] = [token('add_bos_token', 'bos_token'), token('add_eos_token', 'eos_token')]
  const typed = (parts) => parts.map((part) => [part, 1])
  const single = [...bos, '$A', ...eos]
  return given.template(single, [...single, ...typed([...bos, '$B', ...eos])])
}

const bpe = (suffix = '') => ({
  dropout: null,
  continuing_subword_prefix: '',
  end_of_word_suffix: suffix,
  ignore_merges: false,
})

module.exports = { tokenizerJson }
