/**
 * Constants of the original.
 *
 * @module tokenlane/gpt-tokenizer/constants
 */

/** Stands for all special tokens, as `allowedSpecial` or `disallowedSpecial`. */
export const ALL_SPECIAL_TOKENS: 'all'
/** How many words the original's cache has; nothing here uses it. */
export const DEFAULT_MERGE_CACHE_SIZE: 100000
