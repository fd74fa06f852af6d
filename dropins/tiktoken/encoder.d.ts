/**
 * One module for each bundled encoding, with the same names as the original's `encoders/NAME`. The
 * exports are the arguments of `new Tiktoken(bpe_ranks, special_tokens, pat_str)`.
 *
 * @module tokenlane/tiktoken/encoders
 */

/** The regular expression whose matches are the words (pre-tokens). */
export const pat_str: string
/** The ids of the special tokens, by token text. */
export const special_tokens: Record<string, number>
/** The ranks: one line of base64 and rank for each token. */
export const bpe_ranks: string
