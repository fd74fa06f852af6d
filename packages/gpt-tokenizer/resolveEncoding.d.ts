/**
 * The ranks of encodings, for `GptEncoding.getEncodingApi`.
 *
 * @module @tokenlane/gpt-tokenizer/resolveEncoding
 */
import type { EncodingName } from './mapping.js'

/** The text of each token by its rank, or its bytes if they are not UTF-8. */
export type RawBytePairRanks = readonly (string | readonly number[])[]

/**
 * Returns the ranks of an encoding. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING` for other names.
 */
export const resolveEncoding: (encoding: EncodingName) => RawBytePairRanks
