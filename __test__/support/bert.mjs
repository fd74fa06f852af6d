// A complete small BERT tokenizer: WordPiece with the components of bert-base-uncased.

import { addedToken } from './added-token.mjs'

const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789']
const WORDS = [
  ...['the', 'a', 'of', 'in', 'is', 'and', 'to', 'how', 'what', 'which', 'who', 'why', 'do', 'does', 'i', 'my', 'you'],
  ...['paris', 'berlin', 'france', 'germany', 'capital', 'city', 'river', 'seine', 'cat', 'dog', 'sleep', 'bread'],
  ...['bake', 'oven', 'flour', 'sky', 'blue', 'light', 'sun', 'rain', 'train', 'ticket', 'bank', 'money', 'word'],
]
const PIECES = ['##s', '##es', '##ing', '##ed', '##er', '##ly', '##ness', '##n', '##t', '##y']

const vocab = [
  ...new Set([
    ...SPECIAL,
    ...'.,?!\'-":;()',
    ...LETTERS,
    ...LETTERS.map((letter) => `##${letter}`),
    ...PIECES,
    ...WORDS,
  ]),
]
const idOf = (token) => vocab.indexOf(token)
const token = (id, type_id) => ({ SpecialToken: { id, type_id } })
const sequence = (id, type_id) => ({ Sequence: { id, type_id } })

/** The tokenizer.json as an object. */
export const bert = () => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: SPECIAL.map((token) => addedToken(idOf(token), token)),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [token('[CLS]', 0), sequence('A', 0), token('[SEP]', 0)],
    pair: [token('[CLS]', 0), sequence('A', 0), token('[SEP]', 0), sequence('B', 1), token('[SEP]', 1)],
    special_tokens: Object.fromEntries(
      ['[CLS]', '[SEP]'].map((name) => [name, { id: name, ids: [idOf(name)], tokens: [name] }]),
    ),
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(vocab.map((piece, id) => [piece, id])),
  },
})

/** The tokenizer_config.json as an object. */
export const bertConfig = () => ({
  tokenizer_class: 'BertTokenizer',
  cls_token: '[CLS]',
  sep_token: '[SEP]',
  pad_token: '[PAD]',
  unk_token: '[UNK]',
  mask_token: '[MASK]',
  model_max_length: 64,
  clean_up_tokenization_spaces: true,
})
