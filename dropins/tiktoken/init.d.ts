/**
 * `tokenlane/tiktoken` behind an `init()` that code for the original calls.
 *
 * @module tokenlane/tiktoken/init
 */
export type { TiktokenEncoding, TiktokenModel } from './index.js'
export { Tiktoken, encoding_for_model, get_encoding, get_encoding_name_for_model } from './index.js'

/**
 * As in the original nothing else works before this was called: an `Error`, `ERR_TOKENLANE_NOT_INITIALIZED`. There is no
 * WebAssembly: `callback` is not called.
 */
export function init(callback?: (imports: object) => unknown): Promise<typeof import('./index.js')>
