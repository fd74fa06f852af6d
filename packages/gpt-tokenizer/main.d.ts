/**
 * The API of the npm package `gpt-tokenizer` 4, implemented with tokenlane. This entry point has
 * the functions of `o200k_base`; `encoding/NAME` and `model/NAME` have those of one encoding or
 * model. Each function is a bound method of {@link GptEncoding}. docs/drop-ins.md lists the
 * differences.
 *
 * Errors have the original's messages where the original has them, and a stable `code` that starts
 * with `ERR_TOKENLANE_`.
 *
 * @module @tokenlane/gpt-tokenizer
 */
import { GptEncoding } from './GptEncoding.js'

export * from './internal/texts.js'
export { default } from './internal/texts.js'

/**
 * Returns the ids of a chat: {@link GptEncoding.encodeChat}. Entry points of encodings need the
 * argument `model`.
 */
export const encodeChat: GptEncoding['encodeChat']
/** Yields the ids of a chat piece by piece: {@link GptEncoding.encodeChatGenerator}. */
export const encodeChatGenerator: GptEncoding['encodeChatGenerator']
