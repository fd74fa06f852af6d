// A tokenizer.json as an object.

import type { Component } from './option-types.js'

/** The content of a tokenizer.json, as {@link Tokenizer.toJSON} returns it. */
export interface TokenizerJson {
  /** The version of the format, `'1.0'`. */
  version: string
  /** Default: truncation, or `null` for none. */
  truncation: Record<string, unknown> | null
  /** Default: padding, or `null` for none. */
  padding: Record<string, unknown> | null
  /** Added tokens: found in the text before the model sees it. */
  added_tokens: AddedTokenJson[]
  /** The normalizer, or `null` for none. */
  normalizer: Component | null
  /** The pre-tokenizer, which splits text into words, or `null` for none. */
  pre_tokenizer: Component | null
  /** The post-processor, which adds special tokens, or `null` for none. */
  post_processor: Component | null
  /** The decoder, which turns tokens into text, or `null`: tokens are joined with spaces. */
  decoder: Component | null
  /** Vocabulary, merges and settings of the model. */
  model: ModelJson
}

/** An added token of a tokenizer.json. {@link AddedToken} documents its settings. */
export interface AddedTokenJson {
  /** The id. */
  id: number
  /** The text. */
  content: string
  /** Matches only if no letter or digit is next to it. */
  single_word: boolean
  /** Includes the white space before it. */
  lstrip: boolean
  /** Includes the white space after it. */
  rstrip: boolean
  /** Matches in the normalized text, in its own normalized form. */
  normalized: boolean
  /** Skipped by `skipSpecialTokens`, and subject to the option `specialTokens`. */
  special: boolean
}

/**
 * The model of a tokenizer.json. Further settings (`dropout`, `unk_token`, …) stand beside these.
 */
export type ModelJson = Record<string, unknown> & {
  /** The kind of model. */
  type: 'BPE' | 'WordPiece' | 'WordLevel' | 'Unigram'
  /** Tokens and their ids; for Unigram a list of pieces and scores, in order of their ids. */
  vocab: Record<string, number> | [string, number][]
  /** BPE: pairs of tokens that merge, in order of priority. */
  merges?: [string, string][]
}
