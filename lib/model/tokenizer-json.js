'use strict'

// A tokenizer.json from vocab.txt, or from vocab.json with merges.txt, as these classes of
// transformers 5 build it: BertTokenizer, GPT2Tokenizer, RobertaTokenizer and CLIPTokenizer.

const { error } = require('../errors.js')

/**
 * The special tokens of transformers in the order in which they are added, with their defaults by
 * class.
 */
const SPECIAL_TOKEN_FIELDS = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
]
const DEFAULTS = {
  Bert: { unk_token: '[UNK]', sep_token: '[SEP]', pad_token: '[PAD]', cls_token: '[CLS]', mask_token: '[MASK]' },
  Gpt2: { unk_token: '<|endoftext|>', bos_token: '<|endoftext|>', eos_token: '<|endoftext|>' },
  Roberta: {
    bos_token: '<s>',
    eos_token: '</s>',
    sep_token: '</s>',
    cls_token: '<s>',
    unk_token: '<unk>',
    pad_token: '<pad>',
    mask_token: '<mask>',
  },
  Clip: {
    unk_token: '<|endoftext|>',
    bos_token: '<|startoftext|>',
    eos_token: '<|endoftext|>',
    pad_token: '<|endoftext|>',
  },
}

/** Added tokens of all configs together, with their other fields. */
const MAX_ADDED_TOKENS = 200_000

const CLIP_PATTERN =
  "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"

/**
 * The bytes of a tokenizer.json. `kind` is a key of DEFAULTS; without it, the vocabulary decides.
 * `files` are bytes and `configs` objects, by name.
 */
function tokenizerJson(kind, files, configs) {
  const vocabulary =
    files['vocab.txt'] === undefined || kind !== 'Bert'
      ? jsonVocabulary(files['vocab.json'])
      : textVocabulary(files['vocab.txt'])
  const chosen = kind ?? kindOf(vocabulary.find)
  const config = configOf(configs)
  const specials = specialTokens(chosen, config)
  const source = { vocabulary, config, specials, merges: chosen === 'Bert' ? undefined : mergesOf(files['merges.txt']) }
  const { model, ...parts } = BUILDERS[chosen](source)
  const head = JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens(config, specials),
    normalizer: null,
    ...parts,
  })
  // The vocabulary is text already.
  return Buffer.from(
    `${head.slice(0, -1)},"model":${JSON.stringify(model).slice(0, -1)},"vocab":${vocabulary.json}${mergesJson(source)}}}`,
  )
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
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw error('ERR_TOKENLANE_UNKNOWN_FORMAT', `${name}: it is not UTF-8`, { cause })
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

const mergesJson = ({ merges }) => (merges === undefined ? '' : `,"merges":${merges}`)

/**
 * tokenizer_config.json; if it has no added_tokens_decoder, also special_tokens_map.json and
 * added_tokens.json.
 */
function configOf(configs) {
  checkCounts(configs)
  const config = { ...configs['tokenizer_config.json'] }
  if (config.additional_special_tokens !== undefined && isEmpty(config.extra_special_tokens)) {
    config.extra_special_tokens = config.additional_special_tokens
  }
  const isText = (token) => typeof token === 'string'
  const isToken = (token) => isText(token) || isObject(token)
  const named = { ...takeNamedTokens(config, isText), ...takeNamedExtras(config) }
  const withNamed = (added) => ({ ...config, named: { ...takeNamedTokens(config, isToken), ...named }, added })
  if (config.added_tokens_decoder !== undefined) return withNamed(decoderTokens(config.added_tokens_decoder))
  for (const [name, value] of Object.entries(configs['special_tokens_map.json'])) {
    const isList = name === 'extra_special_tokens' && Array.isArray(value)
    config[name] = isList ? [...extraTokens(config), ...value.map(asSpecial)] : asSpecial(value)
  }
  Object.assign(named, takeNamedExtras(config))
  // transformers does not find the objects of tokenizer_config.json here, which have a `__type`.
  const found = [...SPECIAL_TOKEN_FIELDS.map((name) => config[name]), ...extraTokens(config)]
  const specials = new Set(found.filter((token) => token?.__type === undefined).map(contentOf))
  const added = Object.entries(configs['added_tokens.json']).map(([content, id]) => {
    if (!Number.isInteger(id))
      throw shape(`added_tokens.json: the id of ${JSON.stringify(content)} is not a whole number`)
    return { id, token: tokenOf({ content, special: specials.has(content), normalized: !specials.has(content) }) }
  })
  return withNamed(added.sort((a, b) => a.id - b.id))
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
  const added = Object.entries(decoder).map(([id, token]) => ({ id: Number(id), token: tokenOf(token) }))
  return added.sort((a, b) => a.id - b.id)
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const asSpecial = (token) => (isObject(token) ? { ...token, special: true, __type: undefined } : token)
const isEmpty = (value) => value === undefined || value === null || Object.keys(value).length === 0

const contentOf = (token) => (typeof token === 'object' && token !== null ? token.content : token)

function extraTokens({ extra_special_tokens: extra, additional_special_tokens: additional }) {
  const list = extra ?? additional ?? []
  if (!Array.isArray(list)) throw shape('tokenizer_config.json: extra_special_tokens must be a list or an object')
  return list
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

/** The special tokens by name. */
function specialTokens(kind, config) {
  const known = new Map(config.added.map(({ token }) => [token.content, token]))
  const specials = {}
  for (const name of SPECIAL_TOKEN_FIELDS) {
    const value = config[name] === undefined ? DEFAULTS[kind][name] : config[name]
    if (value === undefined || value === null) continue
    specials[name] = known.get(contentOf(value)) ?? tokenOf(value)
  }
  return specials
}

function addedTokens(config, specials) {
  const tokens = config.added.map(({ token }) => token)
  const known = new Set(tokens.map(({ content }) => content))
  const named = [...Object.values(specials), ...Object.values(config.named).map(tokenOf)]
  const others = [...named, ...extraTokens(config).map(tokenOf)]
  // Of tokens with the same content and different flags, the last one counts, as in transformers.
  const distinct = new Map(others.map((token) => [JSON.stringify(token), token]))
  const last = new Map([...distinct.values()].map((token) => [token.content, token]))
  for (const [content, token] of last) if (!known.has(content)) tokens.push(token)
  const names = new Set(named.map(({ content }) => content))
  return tokens.map((token) => {
    const isSpecial = token.special || names.has(token.content)
    return { id: 0, ...token, normalized: token.normalized ?? !isSpecial, special: isSpecial }
  })
}

/** A special token that the tokenizer puts around text: [content, id]. */
function required({ vocabulary, specials }, name) {
  const content = specials[name]?.content
  if (content === undefined) throw shape(`tokenizer_config.json: ${name} is missing`)
  const id = vocabulary.find(content)
  if (id === undefined)
    throw shape(
      `${vocabulary.name}: it has no ${JSON.stringify(content)}, the ${name}: is it the vocabulary of another model, or cut?`,
    )
  return [content, id]
}

function flagOf(config, name, byDefault) {
  const value = config[name] ?? byDefault
  if (value !== null && typeof value !== 'boolean') throw shape(`tokenizer_config.json: ${name} must be true or false`)
  return value
}

const special = (token, typeId) => ({ SpecialToken: { id: token[0], type_id: typeId } })
const sequence = (id, typeId) => ({ Sequence: { id, type_id: typeId } })

function template(single, pair, tokens) {
  const entries = tokens.map(([content, id]) => [content, { id: content, ids: [id], tokens: [content] }])
  return { type: 'TemplateProcessing', single, pair, special_tokens: Object.fromEntries(entries) }
}

const byteLevel = (addPrefixSpace) => ({
  type: 'ByteLevel',
  add_prefix_space: addPrefixSpace,
  trim_offsets: true,
  use_regex: true,
})
const bpe = (suffix, unknown) => ({
  type: 'BPE',
  dropout: null,
  unk_token: unknown,
  continuing_subword_prefix: '',
  end_of_word_suffix: suffix,
  fuse_unk: false,
  byte_fallback: false,
  ignore_merges: false,
})
const BYTES_TO_TEXT = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }

const BUILDERS = {
  Bert(source) {
    const { config } = source
    const [cls, sep, [unknown]] = ['cls_token', 'sep_token', 'unk_token'].map((name) => required(source, name))
    const around = [special(cls, 0), sequence('A', 0), special(sep, 0)]
    return {
      normalizer: {
        type: 'BertNormalizer',
        clean_text: true,
        handle_chinese_chars: flagOf(config, 'tokenize_chinese_chars', true),
        strip_accents: flagOf(config, 'strip_accents', null),
        lowercase: flagOf(config, 'do_lower_case', true),
      },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      post_processor: template(around, [...around, sequence('B', 1), special(sep, 1)], [cls, sep]),
      decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
      model: { type: 'WordPiece', unk_token: unknown, continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
    }
  },

  Gpt2(source) {
    const { config } = source
    const bos = flagOf(config, 'add_bos_token', false) ? [required(source, 'bos_token')] : []
    const eos = flagOf(config, 'add_eos_token', false) ? [required(source, 'eos_token')] : []
    const part = (name, typeId) => [
      ...bos.map((token) => special(token, typeId)),
      sequence(name, typeId),
      ...eos.map((token) => special(token, typeId)),
    ]
    return {
      pre_tokenizer: byteLevel(flagOf(config, 'add_prefix_space', false)),
      post_processor: template(part('A', 0), [...part('A', 0), ...part('B', 1)], [...bos, ...eos]),
      decoder: BYTES_TO_TEXT,
      model: bpe('', null),
    }
  },

  Roberta(source) {
    const { config } = source
    const addPrefixSpace = flagOf(config, 'add_prefix_space', false)
    return {
      pre_tokenizer: byteLevel(addPrefixSpace),
      post_processor: {
        type: 'RobertaProcessing',
        sep: required(source, 'sep_token'),
        cls: required(source, 'cls_token'),
        trim_offsets: flagOf(config, 'trim_offsets', true),
        add_prefix_space: addPrefixSpace,
      },
      decoder: BYTES_TO_TEXT,
      model: bpe('', null),
    }
  },

  Clip(source) {
    return {
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'NFC' },
          { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
          { type: 'Lowercase' },
        ],
      },
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [
          { type: 'Split', pattern: { Regex: CLIP_PATTERN }, behavior: 'Removed', invert: true },
          byteLevel(false),
        ],
      },
      post_processor: {
        type: 'RobertaProcessing',
        sep: required(source, 'eos_token'),
        cls: required(source, 'bos_token'),
        trim_offsets: false,
        add_prefix_space: false,
      },
      // transformers replaces the ends of words, and strips the text, after its decoder.
      decoder: {
        type: 'Sequence',
        decoders: [
          BYTES_TO_TEXT,
          { type: 'Replace', pattern: { String: '</w>' }, content: ' ' },
          { type: 'Replace', pattern: { Regex: '\\A[\\s\\x1c-\\x1f]+|[\\s\\x1c-\\x1f]+\\z' }, content: '' },
        ],
      },
      model: bpe('</w>', required(source, 'unk_token')[0]),
    }
  },
}

module.exports = { tokenizerJson }
