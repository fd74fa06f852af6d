/**
 * The original's helpers for special tokens.
 *
 * @module @tokenlane/gpt-tokenizer/util
 */

/** Returns the largest value of a map, and 0 for an empty one. */
export function getMaxValueFromMap(map: Map<unknown, number>): number
/** Returns the source of a regular expression that matches a string. */
export function escapeRegExp(string: string): string
/** Returns a regular expression that matches any of some tokens, with one group. */
export function getSpecialTokenRegex(tokens: Set<string>): RegExp
