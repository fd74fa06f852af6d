'use strict'

// Classes of transformers 5 that build a BPE tokenizer from the vocabulary and the merges of a
// tokenizer.json, most of them with ByteLevel. See index.js for the form of a class.

const { languages, whisperNames } = require('../auto-class.js')
const { BERT_TOKENS, META, ROBERTA_TOKENS } = require('../components.js')
const { decoders, normalizers, preTokenizers, roberta } = require('../components.js')

const ENDOFTEXT = '<|endoftext|>'
/** The parts of most classes: the normalizer is removed, and no token is unknown. */
const bytes = (given, { prefixSpace = false } = {}) => ({
  normalizer: null,
  pre_tokenizer: preTokenizers.byteLevel(given.flag('add_prefix_space', prefixSpace)),
  decoder: decoders.byteLevel(),
  model: { unk_token: null, fuse_unk: false, byte_fallback: false },
})

const GPT2 = {
  model: 'BPE',
  tokens: { unk_token: ENDOFTEXT, bos_token: ENDOFTEXT, eos_token: ENDOFTEXT, pad_token: null },
  parts: (given) => bytes(given),
}

const CLIP_PATTERN =
  "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"
const QWEN2_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
const QWEN3_5_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
const NOUGAT_PUNCTUATION = '[\\(\\)\\[\\]\\{\\}]|([!\\"#\\$%\\&\'\\*\\+,\\-\\./:;<=>\\?\\\\\\^_`\\|\\~])\\1*'
/** The text of a timestamp of Whisper, which decoding leaves out. */
const TIMESTAMP = '<\\|(\\d+\\.\\d+)\\|>'

const qwen = (pattern) => ({
  model: 'BPE',
  tokens: { unk_token: ENDOFTEXT, bos_token: null, eos_token: ENDOFTEXT, pad_token: ENDOFTEXT },
  parts: (given) => ({
    normalizer: normalizers.nfc,
    pre_tokenizer: preTokenizers.sequence([
      preTokenizers.splitRegex(pattern, 'Isolated'),
      preTokenizers.byteLevel(given.flag('add_prefix_space', null) ?? false, { use_regex: false }),
    ]),
    decoder: decoders.byteLevel(),
    model: { unk_token: null, fuse_unk: false, byte_fallback: false },
  }),
})

/** Gemma: spaces are a letter of the vocabulary, and unknown characters are bytes. */
const GEMMA = {
  model: 'BPE',
  tokens: { unk_token: '<unk>', bos_token: '<bos>', eos_token: '<eos>', pad_token: '<pad>', mask_token: '<mask>' },
  parts: (given) => ({
    normalizer: normalizers.replace(' ', META),
    pre_tokenizer: preTokenizers.split(' ', 'MergedWithPrevious'),
    decoder: decoders.sequence([decoders.replace(META, ' '), decoders.byteFallback, decoders.fuse]),
    model: { unk_token: given.spelling('unk_token'), fuse_unk: true, byte_fallback: true },
  }),
}

/** Metaspace, and runs of spaces as one. */
const spaces = (given) => ({
  normalizer:
    given.charsmap === undefined
      ? null
      : normalizers.sequence([normalizers.precompiled(given.charsmap), normalizers.replaceRegex(' {2,}', ' ')]),
  pre_tokenizer: preTokenizers.metaspace('always'),
  decoder: decoders.metaspace('always'),
  model: { unk_token: given.spelling('unk_token'), fuse_unk: true, byte_fallback: false },
})

const CODE_LLAMA_TOKENS = {
  prefix_token: `${META}<PRE>`,
  middle_token: `${META}<MID>`,
  suffix_token: `${META}<SUF>`,
  eot_token: `${META}<EOT>`,
  fill_token: '<FILL_ME>',
}

module.exports = {
  GPT2Tokenizer: GPT2,
  CodeGenTokenizer: GPT2,
  RobertaTokenizer: {
    model: 'BPE',
    tokens: ROBERTA_TOKENS,
    parts: (given) => bytes(given),
    post: (given) =>
      roberta(
        given.token('sep_token'),
        given.token('cls_token'),
        given.flag('trim_offsets', true),
        given.flag('add_prefix_space', false),
      ),
  },
  BlenderbotTokenizer: {
    model: 'BPE',
    tokens: ROBERTA_TOKENS,
    wrapped: { mask_token: { lstrip: true, normalized: false } },
    parts: (given) => bytes(given, { prefixSpace: true }),
  },
  DebertaTokenizer: {
    model: 'BPE',
    tokens: { ...BERT_TOKENS, bos_token: '[CLS]', eos_token: '[SEP]' },
    parts: (given) => bytes(given),
    post(given) {
      const [cls, sep] = [given.content('cls_token'), given.content('sep_token')]
      return given.template([cls, '$A', sep], [cls, '$A', sep, sep, '$B', sep])
    },
  },
  GPTNeoXTokenizer: {
    model: 'BPE',
    tokens: { unk_token: ENDOFTEXT, bos_token: ENDOFTEXT, eos_token: ENDOFTEXT, pad_token: '<|padding|>' },
    parts: (given) => ({
      ...bytes(given),
      normalizer: normalizers.nfc,
      pre_tokenizer: preTokenizers.byteLevel(given.flag('add_prefix_space', false), {
        trim_offsets: given.flag('trim_offsets', true),
      }),
    }),
    post: (given) => given.template(['$A'], ['$A', ['$B', 1]]),
  },
  CohereTokenizer: {
    model: 'BPE',
    tokens: {
      unk_token: '<UNK>',
      bos_token: '<BOS_TOKEN>',
      eos_token: '<|END_OF_TURN_TOKEN|>',
      pad_token: '<PAD>',
      cls_token: '<CLS>',
      sep_token: '<SEP>',
      mask_token: '<MASK_TOKEN>',
    },
    again: 'special',
    parts(given) {
      const space = given.flag('add_prefix_space', false)
      return {
        ...bytes(given),
        normalizer: normalizers.nfc,
        pre_tokenizer: preTokenizers.sequence([preTokenizers.digits, preTokenizers.byteLevel(space)]),
        decoder: decoders.byteLevel({ add_prefix_space: space }),
      }
    },
  },
  Qwen2Tokenizer: { ...qwen(QWEN2_PATTERN), again: 'plain' },
  Qwen3_5Tokenizer: qwen(QWEN3_5_PATTERN),
  NougatTokenizer: {
    model: 'BPE',
    tokens: { unk_token: '<unk>', bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>' },
    parts: (given) => ({
      ...bytes(given),
      normalizer: normalizers.nfkc,
      pre_tokenizer: preTokenizers.sequence([
        preTokenizers.split('SPL1T-TH1S-Pl3A5E', 'Removed'),
        preTokenizers.digits,
        // A text, not a pattern, as in transformers.
        preTokenizers.split(NOUGAT_PUNCTUATION, 'Isolated'),
        preTokenizers.split('\n', 'Isolated'),
        preTokenizers.byteLevel(false),
      ]),
    }),
    post: (given) => given.template([given.content('bos_token'), '$A', given.content('eos_token')], ['$A', ['$B', 1]]),
  },
  WhisperTokenizer: {
    model: 'BPE',
    tokens: { unk_token: ENDOFTEXT, bos_token: ENDOFTEXT, eos_token: ENDOFTEXT },
    wrapped: Object.fromEntries(
      ['unk_token', 'bos_token', 'eos_token'].map((name) => [name, { normalized: false, special: true }]),
    ),
    parts: (given) => ({
      ...bytes(given),
      decoder: decoders.sequence([decoders.byteLevel(), decoders.replaceRegex(TIMESTAMP, '')]),
    }),
    post(given) {
      const start = given.id('<|startoftranscript|>')
      const prefixes = [start, ...languageOf(given, start), ...taskOf(given)]
      if (!given.flag('predict_timestamps', false)) prefixes.push(given.id('<|notimestamps|>'))
      const [before, eos] = [prefixes.map((id) => given.spelled(id)), given.content('eos_token')]
      return given.template([...before, '$A', eos], [...before, '$A', ['$B', 1], [eos, 1]])
    },
  },
  CLIPTokenizer: {
    model: 'BPE',
    suffix: '</w>',
    tokens: { unk_token: ENDOFTEXT, bos_token: '<|startoftext|>', eos_token: ENDOFTEXT, pad_token: ENDOFTEXT },
    parts: (given) => ({
      normalizer: normalizers.sequence([normalizers.nfc, normalizers.replaceRegex('\\s+', ' '), normalizers.lowercase]),
      pre_tokenizer: preTokenizers.sequence([
        preTokenizers.splitRegex(CLIP_PATTERN, 'Removed', true),
        preTokenizers.byteLevel(false),
      ]),
      // transformers replaces the ends of words, and strips the text, after its decoder.
      decoder: decoders.sequence([
        decoders.byteLevel(),
        decoders.replace('</w>', ' '),
        decoders.replaceRegex('\\A[\\s\\x1c-\\x1f]+|[\\s\\x1c-\\x1f]+\\z', ''),
      ]),
      model: { unk_token: given.spelling('unk_token'), fuse_unk: false, byte_fallback: false },
    }),
    post: (given) => roberta(given.token('eos_token'), given.token('bos_token'), false, false),
  },
  OpenAIGPTTokenizer: {
    model: 'BPE',
    suffix: '</w>',
    tokens: { unk_token: '<unk>' },
    parts: (given) => ({
      normalizer: normalizers.bert(),
      pre_tokenizer: preTokenizers.bert,
      decoder: decoders.bpe('</w>'),
      model: { unk_token: given.spelling('unk_token'), fuse_unk: false, byte_fallback: false },
    }),
  },
  HerbertTokenizer: {
    model: 'BPE',
    suffix: '</w>',
    tokens: { cls_token: '<s>', unk_token: '<unk>', pad_token: '<pad>', mask_token: '<mask>', sep_token: '</s>' },
    parts: (given) => ({
      normalizer: normalizers.bert({ lowercase: false, strip_accents: false }),
      pre_tokenizer: preTokenizers.bert,
      decoder: decoders.bpe('</w>'),
      model: { unk_token: given.spelling('unk_token'), fuse_unk: false, byte_fallback: false },
    }),
    post: (given) => ({
      type: 'BertProcessing',
      sep: [given.content('sep_token'), 2],
      cls: [given.content('cls_token'), 0],
    }),
  },
  GemmaTokenizer: GEMMA,
  Siglip2Tokenizer: {
    ...GEMMA,
    parts(given) {
      const { normalizer, ...parts } = GEMMA.parts(given)
      return { ...parts, normalizer: normalizers.sequence([normalizers.lowercase, normalizer]) }
    },
  },
  LlamaTokenizer: {
    model: 'BPE',
    tokens: { unk_token: '<unk>', bos_token: '<s>', eos_token: '</s>' },
    parts(given) {
      const space = given.flag('add_prefix_space', null) ?? true
      const scheme = space ? (given.flag('legacy', false) ? 'always' : 'first') : 'never'
      const decoding = [decoders.replace(META, ' '), decoders.byteFallback, decoders.fuse]
      return {
        normalizer: null,
        pre_tokenizer: preTokenizers.metaspace(scheme, false),
        decoder: decoders.sequence(space ? [...decoding, decoders.strip(' ', 1)] : decoding),
        model: { unk_token: null, fuse_unk: true, byte_fallback: true },
      }
    },
  },
  CodeLlamaTokenizer: {
    model: 'BPE',
    tokens: { unk_token: '<unk>', bos_token: '<s>', eos_token: '</s>' },
    named: CODE_LLAMA_TOKENS,
    extra: (_, additional) => [...(additional ?? []), ...Object.values(CODE_LLAMA_TOKENS)],
    parts: (given) => ({
      normalizer: null,
      pre_tokenizer: preTokenizers.metaspace((given.flag('add_prefix_space', true) ?? true) ? 'first' : 'never', false),
      decoder: decoders.sequence([
        decoders.replace(META, ' '),
        decoders.byteFallback,
        decoders.fuse,
        decoders.strip(' ', 1),
      ]),
      model: { unk_token: given.spelling('unk_token'), fuse_unk: true, byte_fallback: true },
    }),
    post: (given) => given.edges(true),
  },
  NllbTokenizer: {
    model: 'BPE',
    tokens: ROBERTA_TOKENS,
    wrapped: { mask_token: { lstrip: true, normalized: true, special: true } },
    extra: (_, additional) => additional ?? languages.Nllb,
    parts: spaces,
    post(given) {
      const [language, eos] = [given.text('src_lang', 'eng_Latn'), given.content('eos_token')]
      return given.flag('legacy_behaviour', false)
        ? given.template(['$A', eos, language], ['$A', '$B', eos, language])
        : given.template([language, '$A', eos], [language, '$A', '$B', eos])
    },
  },
  SeamlessM4TTokenizer: {
    model: 'BPE',
    tokens: { ...ROBERTA_TOKENS, mask_token: undefined },
    parts: (given) => ({
      normalizer: normalizers.sequence([
        normalizers.replaceRegex('[\\n\\r\\t]', ' '),
        normalizers.nfkc,
        normalizers.strip(false, true),
        normalizers.replaceRegex(' +▁', META),
        normalizers.replaceRegex('^▁+$', ''),
        normalizers.replaceRegex(' {2,}', META),
      ]),
      pre_tokenizer: preTokenizers.metaspace('first'),
      decoder: decoders.metaspace('first'),
      model: { unk_token: given.spelling('unk_token'), fuse_unk: true, byte_fallback: false },
    }),
    post(given) {
      const language = given.text('src_lang', 'eng')
      const first = given.known(language.includes('__') ? language : `__${language}__`)
      return given.template([first, '$A', given.content('eos_token')], [first, '$A', '$B', given.content('eos_token')])
    },
  },
  ReformerTokenizer: {
    model: 'BPE',
    tokens: { eos_token: '</s>', unk_token: '<unk>' },
    again: 'special',
    extra: (_, additional) => additional ?? [],
    parts: spaces,
  },
}

/** The id of Whisper's language token, which follows <|startoftranscript|> in the table's order. */
function languageOf(given, start) {
  const name = given.text('language', undefined)?.toLowerCase()
  if (name === undefined) return []
  const code = Object.hasOwn(whisperNames, name) ? whisperNames[name] : name
  const index = languages.Whisper.indexOf(code)
  if (index < 0) throw given.unusable('language', 'is not a language of Whisper')
  return [start + 1 + index]
}

function taskOf(given) {
  const task = given.text('task', undefined)
  if (task === undefined) return []
  if (task !== 'transcribe' && task !== 'translate') throw given.unusable('task', 'must be transcribe or translate')
  return [given.id(`<|${task}|>`)]
}
