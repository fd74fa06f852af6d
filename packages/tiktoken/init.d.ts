/**
 * `@tokenlane/tiktoken` with the `init()` of the original's WebAssembly entry.
 *
 * @module @tokenlane/tiktoken/init
 */
export type { TiktokenEncoding, TiktokenModel } from './index.js'
export { Tiktoken, encoding_for_model, get_encoding, get_encoding_name_for_model } from './index.js'

/**
 * Enables the other exports: before this call they throw `ERR_TOKENLANE_NOT_INITIALIZED`, as in the
 * original. `callback` is never called, because there is no WebAssembly to instantiate.
 */
// biome-ignore lint/suspicious/noExplicitAny: for WebAssembly.Imports, which not every library has.
export function init(callback: (imports: Record<string, Record<string, any>>) => Promise<unknown>): Promise<void>
