/**
 * Constants of the original.
 *
 * @module @tokenlane/gpt-tokenizer/constants
 */

/** The value of `allowedSpecial` and `disallowedSpecial` that selects all special tokens. */
export const ALL_SPECIAL_TOKENS: 'all'
/** The size of the original's word cache. tokenlane does not use it. */
export const DEFAULT_MERGE_CACHE_SIZE: 100000
