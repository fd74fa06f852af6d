'use strict'

// Classes of transformers 5 that build a Unigram tokenizer from the vocabulary of a tokenizer.json.
// See index.js for the form of a class.

const { languages } = require('../auto-class.js')
const { BERT_TOKENS, META, ROBERTA_TOKENS } = require('../components.js')
const { decoders, normalizers, preTokenizers, template } = require('../components.js')

const ALBERT = { ...BERT_TOKENS, bos_token: '[CLS]', eos_token: '[SEP]', unk_token: '<unk>', pad_token: '<pad>' }
const MASK = { mask_token: { lstrip: true } }

const quotes = [normalizers.replace('``', '"'), normalizers.replace("''", '"')]
const withoutAccents = [normalizers.nfkd, normalizers.stripAccents]
const spaces = normalizers.replaceRegex(' {2,}', ' ')
const charsmap = (given) => (given.charsmap === undefined ? [] : [normalizers.precompiled(given.charsmap)])
const onlyCharsmap = (given) => charsmap(given)[0] ?? null

/** Metaspace as pre-tokenizer and decoder, after a split at white space unless `isWhole`. */
function metaspace(scheme, isWhole = false) {
  const step = preTokenizers.metaspace(scheme)
  return {
    pre_tokenizer: isWhole ? step : preTokenizers.sequence([preTokenizers.whitespaceSplit, step]),
    decoder: decoders.metaspace(scheme),
  }
}
const prefixed = (given) => (given.flag('add_prefix_space', true) ? 'always' : 'never')
const unknown = (id) => ({ unk_id: id, byte_fallback: false })

/** [CLS] A [SEP] B [SEP] with type ids. */
function bertPost(given, missing = undefined) {
  const known = ['cls_token', 'sep_token'].map((name) => given.token(name, missing))
  const [cls, sep] = known.map(([content]) => content)
  return given.template([cls, '$A', sep], [cls, '$A', sep, ['$B', 1], [sep, 1]], known)
}

/** <s> A </s></s> B </s> */
function robertaPost(given, first = 'bos_token', last = 'eos_token') {
  const [start, end] = [given.content(first), given.content(last)]
  return given.template([start, '$A', end], [start, '$A', end, end, '$B', end])
}

/** The names of T5's sentinels, which are added if the config lists no special tokens. */
function sentinels(given, additional) {
  const count = given.count('extra_ids', 100)
  const all = Array.from({ length: count }, (_, index) => `<extra_id_${index}>`)
  if (additional === undefined) return all
  const listed = additional.filter((token) => String(token?.content ?? token).includes('<extra_id_'))
  if (listed.length === 0) return [...additional, ...all]
  if (count > 0 && count !== listed.length) throw given.unusable('extra_ids', 'is not the number of listed sentinels')
  return additional
}

const ALBERT_CLASS = {
  model: 'Unigram',
  tokens: ALBERT,
  parts: (given) => ({
    normalizer: normalizers.sequence([
      ...quotes,
      ...(given.flag('keep_accents', false) ? [] : withoutAccents),
      ...(given.flag('do_lower_case', true) ? [normalizers.lowercase] : []),
      ...charsmap(given),
    ]),
    ...metaspace(prefixed(given)),
    model: unknown(1),
  }),
  keepsPost: true,
  // The template names [CLS] and [SEP] whatever the tokens are called.
  post(given) {
    const [cls, sep] = [given.inVocabulary('cls_token'), given.inVocabulary('sep_token')]
    /** @type {Map<string, number>} */
    const ids = new Map([
      ['[CLS]', cls],
      ['[SEP]', sep],
    ])
    /** @type {[string, number][]} */
    const parts = [
      ['[CLS]', 0],
      ['$A', 0],
      ['[SEP]', 0],
    ]
    return template(parts, [...parts, ['$B', 1], ['[SEP]', 1]], ids)
  },
}

module.exports = {
  AlbertTokenizer: ALBERT_CLASS,
  FNetTokenizer: { model: 'Unigram', tokens: ALBERT, usesFile: true },
  BarthezTokenizer: {
    model: 'Unigram',
    tokens: ROBERTA_TOKENS,
    wrapped: MASK,
    parts: (given) => ({
      normalizer: normalizers.sequence([
        normalizers.replaceRegex('\\s{2,}|[\\n\\r\\t]', ' '),
        normalizers.nfc,
        normalizers.strip(false, true),
      ]),
      ...metaspace(prefixed(given), true),
      model: unknown(3),
    }),
  },
  BigBirdTokenizer: {
    model: 'Unigram',
    tokens: { ...ROBERTA_TOKENS, sep_token: '[SEP]', mask_token: '[MASK]', cls_token: '[CLS]' },
    wrapped: {
      ...Object.fromEntries(['unk', 'bos', 'eos', 'pad', 'sep', 'cls'].map((name) => [`${name}_token`, {}])),
      ...MASK,
    },
    parts: (given) => ({
      normalizer: normalizers.sequence([normalizers.strip(false, false), normalizers.replaceRegex(' {2,}', META)]),
      ...metaspace(prefixed(given), true),
      model: unknown(given.unknownId() ?? 100),
    }),
    post: (given) => bertPost(given),
  },
  CamembertTokenizer: {
    model: 'Unigram',
    tokens: ROBERTA_TOKENS,
    wrapped: { mask_token: { lstrip: true, special: true } },
    extra: (_, additional) => additional ?? ['<s>NOTUSED', '</s>NOTUSED', '<unk>NOTUSED'],
    parts: (given) => ({
      normalizer: onlyCharsmap(given),
      ...metaspace(prefixed(given)),
      model: unknown(given.vocabularyId('unk_token') ?? 0),
    }),
    post: (given) => robertaPost(given),
  },
  DebertaV2Tokenizer: {
    model: 'Unigram',
    tokens: { ...BERT_TOKENS, bos_token: '[CLS]', eos_token: '[SEP]' },
    parts(given) {
      const scheme = given.flag('add_prefix_space', true) ? 'always' : 'first'
      const step = preTokenizers.metaspace(scheme)
      return {
        normalizer: normalizers.sequence([
          ...(given.flag('do_lower_case', false) ? [normalizers.lowercase] : []),
          normalizers.replaceRegex('\\s{2,}|[\\n\\r\\t]', ' '),
          normalizers.nfc,
          normalizers.strip(false, true),
        ]),
        pre_tokenizer: preTokenizers.sequence(
          given.flag('split_by_punct', false) ? [preTokenizers.punctuation, step] : [step],
        ),
        decoder: decoders.metaspace(scheme),
        model: unknown(given.unknownId() ?? given.count('unk_id', 1)),
      }
    },
    post: (given) => bertPost(given, 0),
  },
  MBartTokenizer: {
    model: 'Unigram',
    tokens: ROBERTA_TOKENS,
    wrapped: MASK,
    extra: (_, additional) => [
      ...languages.MBart,
      ...(additional ?? []).filter((token) => !languages.MBart.includes(token)),
    ],
    parts: () => ({ normalizer: null, ...metaspace('always'), model: unknown(3) }),
    post(given) {
      const after = [given.content('eos_token'), given.known(given.text('src_lang', 'en_XX'))]
      return given.template(['$A', ...after], ['$A', '$B', ...after])
    },
  },
  MBart50Tokenizer: {
    model: 'Unigram',
    tokens: { ...ROBERTA_TOKENS, bos_token: undefined },
    wrapped: MASK,
    needs: languages.MBart50,
    extra: (_, additional) => [...(additional ?? []), ...languages.MBart50],
    parts: (given) => ({
      normalizer: normalizers.sequence([...charsmap(given), spaces]),
      ...metaspace('always', true),
      model: unknown(3),
    }),
    post(given) {
      const [language, eos] = [given.known(given.text('src_lang', 'en_XX')), given.content('eos_token')]
      return given.template([language, '$A', eos], [language, '$A', '$B', eos])
    },
  },
  PegasusTokenizer: {
    model: 'Unigram',
    tokens: { pad_token: '<pad>', eos_token: '</s>', unk_token: '<unk>', mask_token: '<mask_2>' },
    extra(given, additional) {
      const sentence = given.text('mask_token_sent', '<mask_1>')
      const isListed = additional?.includes(sentence) === true
      const count = Math.max(given.count('offset', 103) - 2, 0)
      const unused = Array.from({ length: count }, (_, index) => `<unk_${index + 2}>`)
      return sentence === undefined || isListed ? unused : [sentence, ...unused]
    },
    parts: (given) => ({
      normalizer: normalizers.sequence([
        ...(given.charsmap === undefined ? [normalizers.replaceRegex('\\n', ' ')] : charsmap(given)),
        spaces,
      ]),
      ...metaspace('always', true),
      model: unknown(given.inVocabulary('unk_token')),
    }),
    post(given) {
      const eos = given.content('eos_token')
      return given.template(['$A', eos], ['$A', '$B', eos])
    },
  },
  RemBertTokenizer: {
    model: 'Unigram',
    tokens: ALBERT,
    again: 'special',
    parts: (given) => ({
      normalizer: normalizers.sequence([
        ...quotes,
        spaces,
        ...(given.flag('keep_accents', true) ? [] : withoutAccents),
        ...(given.flag('do_lower_case', false) ? [normalizers.lowercase] : []),
        ...charsmap(given),
      ]),
      ...metaspace(prefixed(given), true),
      model: unknown(2),
    }),
    // Without a post-processor in the file, transformers removes that of the class again.
    post: (given) => (given.fileHasPost ? bertPost(given) : given.edges()),
  },
  T5Tokenizer: {
    model: 'Unigram',
    tokens: { eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' },
    extra: sentinels,
    parts: (given) => ({ normalizer: onlyCharsmap(given), ...metaspace('always'), model: unknown(2) }),
    // The template names </s> whatever the token is called.
    post(given) {
      const ids = new Map([['</s>', given.token('eos_token')[1]]])
      return template(
        [
          ['$A', 0],
          ['</s>', 0],
        ],
        [
          ['$A', 0],
          ['</s>', 0],
          ['$B', 0],
          ['</s>', 0],
        ],
        ids,
      )
    },
  },
  XGLMTokenizer: {
    model: 'Unigram',
    tokens: { ...ROBERTA_TOKENS, mask_token: undefined },
    extra(_, additional) {
      const unused = Array.from({ length: 7 }, (_, index) => `<madeupword${index}>`)
      return [...(additional ?? []), ...unused.filter((word) => !(additional ?? []).includes(word))]
    },
    parts: (given) => ({
      normalizer: normalizers.sequence([...charsmap(given), spaces]),
      ...metaspace(prefixed(given), true),
      model: unknown(3),
    }),
    post(given) {
      const eos = given.content('eos_token')
      return given.template([eos, '$A'], [eos, '$A', eos, eos, '$B'])
    },
  },
  XLMRobertaTokenizer: {
    model: 'Unigram',
    tokens: ROBERTA_TOKENS,
    parts: (given) => ({ normalizer: onlyCharsmap(given), ...metaspace(prefixed(given)), model: unknown(3) }),
    post: (given) => robertaPost(given),
  },
  XLNetTokenizer: {
    model: 'Unigram',
    tokens: { ...ROBERTA_TOKENS, sep_token: '<sep>', cls_token: '<cls>' },
    wrapped: MASK,
    extra: (_, additional) => additional ?? ['<eop>', '<eod>'],
    parts: (given) => ({
      normalizer: normalizers.sequence([
        ...quotes,
        ...withoutAccents,
        ...(given.flag('do_lower_case', false) ? [normalizers.lowercase] : []),
        ...charsmap(given),
      ]),
      ...metaspace('always'),
      model: unknown(given.count('unk_id', 0)),
    }),
    post(given) {
      const [sep, cls] = [given.content('sep_token'), given.content('cls_token')]
      return given.template(['$A', sep, [cls, 2]], ['$A', sep, ['$B', 1], [sep, 1], [cls, 2]])
    },
  },
}
