/**
 * The API of the npm package `js-tiktoken` 1.0, implemented with tokenlane, for code that is
 * written for that package, such as LangChain's splitters. docs/drop-ins.md lists the differences.
 *
 * Errors have the original's messages where the original has them, and a stable `code` that starts
 * with `ERR_TOKENLANE_`.
 *
 * @module @tokenlane/js-tiktoken
 */
import type { Tiktoken, TiktokenEncoding, TiktokenModel } from './lite.js'

export { Tiktoken, getEncodingNameForModel } from './lite.js'
export type { TiktokenBPE, TiktokenEncoding, TiktokenModel } from './lite.js'

/**
 * Returns an encoder for a bundled encoding. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING` for any other
 * name.
 *
 * @param extendSpecialTokens additional special tokens and their ids. Default: none
 */
export function getEncoding(encoding: TiktokenEncoding, extendSpecialTokens?: Record<string, number>): Tiktoken

/**
 * Returns an encoder for the encoding of a model. Throws `ERR_TOKENLANE_UNKNOWN_MODEL` for a name
 * that is not in the original's list.
 *
 * @param extendSpecialTokens additional special tokens and their ids. Default: none
 */
export function encodingForModel(model: TiktokenModel, extendSpecialTokens?: Record<string, number>): Tiktoken
