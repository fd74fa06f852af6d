/**
 * What the original's `encoders/NAME` hold, one module for each bundled encoding: the arguments of `new Tiktoken(…)`.
 *
 * @module tokenlane/tiktoken/encoders
 */

/** The regular expression whose matches are the words. */
export const pat_str: string
/** Special tokens and their ids. */
export const special_tokens: Record<string, number>
/** Lines of base64 and rank. */
export const bpe_ranks: string
