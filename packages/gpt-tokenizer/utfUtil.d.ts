/**
 * The original's helpers for UTF-8 and UTF-16.
 *
 * @module @tokenlane/gpt-tokenizer/utfUtil
 */

/** Whether a code point is ASCII. */
export const isAscii: (codePoint: number) => boolean
/** Whether a string ends with the first half of a surrogate pair. */
export function endsWithIncompleteUtfPairSurrogate(string: string): boolean
/** Returns the text of bytes, and `undefined` if they are not UTF-8. */
export function tryConvertToString(arr: Uint8Array): string | undefined
/** Compares bytes, for sorting: negative if `a` comes first. */
export function compareUint8Arrays(a: Uint8Array, b: Uint8Array): number
