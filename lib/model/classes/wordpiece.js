'use strict'

// Classes of transformers 5 that build a WordPiece tokenizer from the vocabulary of a
// tokenizer.json. See index.js for the form of a class.

const { BERT_TOKENS, ROBERTA_TOKENS } = require('../components.js')
const { decoders, normalizers, preTokenizers, roberta } = require('../components.js')

/** The parts of BERT. `prefix` is only that of the decoder. */
const parts = (given, { cleanText = true, prefix = '##' } = {}) => ({
  normalizer: normalizers.bert({
    clean_text: cleanText,
    handle_chinese_chars: given.flag('tokenize_chinese_chars', true),
    strip_accents: given.flag('strip_accents', null),
    lowercase: given.flag('do_lower_case', true),
  }),
  pre_tokenizer: preTokenizers.bert,
  decoder: decoders.wordPiece(prefix),
  model: {
    unk_token: given.spelling('unk_token'),
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
  },
})

const BERT = {
  model: 'WordPiece',
  tokens: BERT_TOKENS,
  parts: (given) => parts(given),
  post(given) {
    const known = [given.token('cls_token', 2), given.token('sep_token', 3)]
    const [cls, sep] = known.map(([content]) => content)
    return given.template([cls, '$A', sep], [cls, '$A', sep, ['$B', 1], [sep, 1]], known)
  },
}
/** `do_lower_case` is an argument that this class does not pass on. */
const DPR = { ...BERT, parts: (given) => parts(given.without('do_lower_case')) }

module.exports = {
  BertTokenizer: BERT,
  DistilBertTokenizer: BERT,
  ConvBertTokenizer: { ...BERT, usesFile: true },
  DPRContextEncoderTokenizerFast: { ...BERT, usesFile: true },
  DPRQuestionEncoderTokenizerFast: { ...BERT, usesFile: true },
  DPRReaderTokenizerFast: { ...BERT, usesFile: true },
  DPRContextEncoderTokenizer: DPR,
  DPRQuestionEncoderTokenizer: DPR,
  DPRReaderTokenizer: DPR,
  FunnelTokenizer: {
    model: 'WordPiece',
    tokens: { ...ROBERTA_TOKENS, sep_token: '<sep>', cls_token: '<cls>' },
    parts: (given) =>
      parts(given, {
        cleanText: given.flag('clean_text', true),
        prefix: given.text('wordpieces_prefix', '##'),
      }),
    post(given) {
      const [cls, sep] = [given.content('cls_token'), given.content('sep_token')]
      return given.template([[cls, 2], '$A', sep], [[cls, 2], '$A', sep, ['$B', 1], [sep, 1]])
    },
  },
  MPNetTokenizer: {
    model: 'WordPiece',
    tokens: { ...ROBERTA_TOKENS, unk_token: '[UNK]' },
    wrapped: {
      ...Object.fromEntries(['bos', 'eos', 'sep', 'cls', 'unk', 'pad'].map((name) => [`${name}_token`, {}])),
      mask_token: { lstrip: true },
    },
    parts: (given) => parts(given),
    post: (given) => roberta(given.token('sep_token', 2), given.token('cls_token', 0), true, false),
  },
  SplinterTokenizer: {
    model: 'WordPiece',
    tokens: BERT_TOKENS,
    named: { question_token: '[QUESTION]' },
    parts: (given) => parts(given),
    post(given) {
      const [cls, sep, question] = ['cls_token', 'sep_token', 'question_token'].map((name) => given.content(name))
      const dot = given.known('.')
      const pair = given.isPaddedLeft
        ? [cls, '$A', sep, ['$B', 1], question, dot, [sep, 1]]
        : [cls, '$A', question, dot, sep, ['$B', 1], [sep, 1]]
      return given.template([cls, '$A', sep], pair)
    },
  },
}
