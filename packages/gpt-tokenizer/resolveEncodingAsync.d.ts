/**
 * The ranks of encodings, for `GptEncoding.getEncodingApi`.
 *
 * @module @tokenlane/gpt-tokenizer/resolveEncodingAsync
 */
import type { EncodingName } from './mapping.js'
import type { RawBytePairRanks } from './resolveEncoding.js'

/** Like `resolveEncoding`, but returns a promise. */
export const resolveEncodingAsync: (encoding: EncodingName) => Promise<RawBytePairRanks>
