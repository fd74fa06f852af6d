/**
 * The original's functions that provide ranks to `GptEncoding`.
 *
 * @module tokenlane/gpt-tokenizer/resolveEncoding
 */
import type { EncodingName } from './mapping.js'

/**
 * Returns its argument. In the original it returns ranks, and is the second argument of
 * `GptEncoding.getEncodingApi`. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING` for other names.
 */
export function resolveEncoding(name: EncodingName): EncodingName
/** Like {@link resolveEncoding}, but returns a promise. */
export function resolveEncodingAsync(name: EncodingName): Promise<EncodingName>
