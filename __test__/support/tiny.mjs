// A complete small tokenizer.json: byte-level BPE with a begin and an end token.

import { addedToken } from './added-token.mjs'

const vocab = { h: 0, e: 1, l: 2, o: 3, Ġ: 4, w: 5, r: 6, d: 7, he: 8, ll: 9, hell: 10, hello: 11, Ġw: 12, or: 13 }
const merges = ['h e', 'l l', 'he ll', 'hell o', 'Ġ w', 'o r']

/** The file as an object; tests change parts of it. */
export const tiny = () => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [addedToken(14, '<s>'), addedToken(15, '</s>')],
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '<s>', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '</s>', type_id: 0 } },
    ],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: {
      '<s>': { id: '<s>', ids: [14], tokens: ['<s>'] },
      '</s>': { id: '</s>', ids: [15], tokens: ['</s>'] },
    },
  },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: { ...vocab },
    merges: [...merges],
  },
})

/** The bytes of a file. */
export const bytesOf = (value) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
