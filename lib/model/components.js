'use strict'

// The components of a tokenizer.json, with the defaults of Hugging Face tokenizers.

const META = '▁'

/** The special tokens of RoBERTa and of models after it, by name. */
const ROBERTA_TOKENS = {
  bos_token: '<s>',
  eos_token: '</s>',
  sep_token: '</s>',
  cls_token: '<s>',
  unk_token: '<unk>',
  pad_token: '<pad>',
  mask_token: '<mask>',
}
/** Those of BERT. */
const BERT_TOKENS = {
  unk_token: '[UNK]',
  sep_token: '[SEP]',
  pad_token: '[PAD]',
  cls_token: '[CLS]',
  mask_token: '[MASK]',
}

/** A tokenizer.json without components; one with a model can be loaded. */
const EMPTY_FILE = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
}

const sequence = (name, parts) => ({ type: 'Sequence', [name]: parts })
const replace = (pattern, content) => ({ type: 'Replace', pattern, content })
const regex = (Regex) => ({ Regex })
const string = (String) => ({ String })

const normalizers = {
  sequence: (parts) => sequence('normalizers', parts),
  nfc: { type: 'NFC' },
  nfd: { type: 'NFD' },
  nfkd: { type: 'NFKD' },
  nfkc: { type: 'NFKC' },
  stripAccents: { type: 'StripAccents' },
  lowercase: { type: 'Lowercase' },
  strip: (left, right) => ({ type: 'Strip', strip_left: left, strip_right: right }),
  precompiled: (charsmap) => ({ type: 'Precompiled', precompiled_charsmap: charsmap }),
  replace: (text, content) => replace(string(text), content),
  replaceRegex: (pattern, content) => replace(regex(pattern), content),
  bert: (options) => ({
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
    ...options,
  }),
}

const byteLevel = (options) => ({
  type: 'ByteLevel',
  add_prefix_space: true,
  trim_offsets: true,
  use_regex: true,
  ...options,
})

const metaspace = (scheme, split = true) => ({
  type: 'Metaspace',
  replacement: META,
  prepend_scheme: scheme,
  split,
})

const preTokenizers = {
  sequence: (parts) => sequence('pretokenizers', parts),
  byteLevel: (addPrefixSpace, options) => byteLevel({ add_prefix_space: addPrefixSpace, ...options }),
  metaspace,
  whitespaceSplit: { type: 'WhitespaceSplit' },
  bert: { type: 'BertPreTokenizer' },
  digits: { type: 'Digits', individual_digits: true },
  punctuation: { type: 'Punctuation', behavior: 'Isolated' },
  split: (text, behavior) => ({ type: 'Split', pattern: string(text), behavior, invert: false }),
  splitRegex: (pattern, behavior, invert = false) => ({ type: 'Split', pattern: regex(pattern), behavior, invert }),
}

const decoders = {
  sequence: (parts) => sequence('decoders', parts),
  byteLevel: (options) => byteLevel(options),
  metaspace,
  wordPiece: (prefix) => ({ type: 'WordPiece', prefix, cleanup: true }),
  /** Tokens with spaces between them, as without a decoder. No token starts with this prefix. */
  joined: { type: 'WordPiece', prefix: '\u0000\uffff', cleanup: false },
  bpe: (suffix) => ({ type: 'BPEDecoder', suffix }),
  byteFallback: { type: 'ByteFallback' },
  fuse: { type: 'Fuse' },
  strip: (content, start) => ({ type: 'Strip', content, start, stop: 0 }),
  replace: (text, content) => replace(string(text), content),
  replaceRegex: (pattern, content) => replace(regex(pattern), content),
}

/**
 * A TemplateProcessing. The parts are '$A', '$B' or special tokens, each as [part, typeId].
 *
 * @param {[string, number][]} single
 * @param {[string, number][]} pair
 * @param {Map<string, number>} ids of the special tokens
 */
function template(single, pair, ids) {
  const part = ([name, type]) =>
    name === '$A' || name === '$B'
      ? { Sequence: { id: name[1], type_id: type } }
      : { SpecialToken: { id: name, type_id: type } }
  const entries = [...ids].map(([token, id]) => [token, { id: token, ids: [id], tokens: [token] }])
  return {
    type: 'TemplateProcessing',
    single: single.map(part),
    pair: pair.map(part),
    special_tokens: Object.fromEntries(entries),
  }
}

/** RobertaProcessing; a token is [content, id]. */
const roberta = (sep, cls, trimOffsets, addPrefixSpace) => ({
  type: 'RobertaProcessing',
  sep,
  cls,
  trim_offsets: trimOffsets,
  add_prefix_space: addPrefixSpace,
})

module.exports = {
  BERT_TOKENS,
  EMPTY_FILE,
  META,
  ROBERTA_TOKENS,
  decoders,
  normalizers,
  preTokenizers,
  roberta,
  template,
}
