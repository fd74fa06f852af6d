/**
 * The class of {@link @tokenlane/js-tiktoken!}, without the bundled ranks: for ranks that are
 * imported from `@tokenlane/js-tiktoken/ranks/NAME`, or downloaded.
 *
 * @module @tokenlane/js-tiktoken/lite
 */
import type { TiktokenModel } from './internal/models.js'

export type { TiktokenModel } from './internal/models.js'

/** The names of the original's encodings. All of them are bundled. */
export type TiktokenEncoding = 'gpt2' | 'r50k_base' | 'p50k_base' | 'p50k_edit' | 'cl100k_base' | 'o200k_base'

/** Ranks, as the original's modules under `ranks` have them. */
export interface TiktokenBPE {
  /** The regular expression whose matches are the words (pre-tokens). */
  pat_str: string
  /** The ids of the special tokens, by token text. */
  special_tokens: Record<string, number>
  /** The ranks: lines `! RANK TOKEN TOKEN …` with tokens in base64, for consecutive ranks. */
  bpe_ranks: string
}

/** Encodes and decodes texts with one encoding. All calls are synchronous. */
export class Tiktoken {
  /**
   * Creates an encoder from ranks. Throws `ERR_TOKENLANE_RANK_LINE` for a line that is not base64,
   * `ERR_TOKENLANE_DUPLICATE_ID` if two tokens have the same id, and `ERR_TOKENLANE_PATTERN` for an
   * invalid regular expression.
   *
   * @param extendedSpecialTokens additional special tokens and their ids. Default: none
   */
  constructor(ranks: TiktokenBPE, extendedSpecialTokens?: Record<string, number>)
  /**
   * Returns the ids of a text. A special token that is neither allowed nor disallowed is encoded as
   * ordinary text.
   *
   * @param allowedSpecial special tokens that are encoded as one id. Default: none
   * @param disallowedSpecial tokens that make the call throw `ERR_TOKENLANE_SPECIAL_TOKEN` if the
   *   text contains them. Default: all special tokens that are not allowed
   */
  encode(text: string, allowedSpecial?: Array<string> | 'all', disallowedSpecial?: Array<string> | 'all'): number[]
  /** Returns the text of ids. Unknown ids are left out; bytes that are not UTF-8 become U+FFFD. */
  decode(tokens: number[]): string
}

/**
 * Returns the name of a model's encoding, as js-tiktoken does. Throws `ERR_TOKENLANE_UNKNOWN_MODEL`
 * for a name that is not in the original's list.
 */
export function getEncodingNameForModel(model: TiktokenModel): TiktokenEncoding
