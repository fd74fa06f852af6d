/**
 * What hands ranks to `GptEncoding` in the original.
 *
 * @module tokenlane/gpt-tokenizer/resolveEncoding
 */
import type { EncodingName } from './mapping.js'

/** What `GptEncoding.getEncodingApi` wants as its second argument in the original. Here it gives the name back. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING`. */
export function resolveEncoding(name: EncodingName): EncodingName
/** As {@link resolveEncoding}; rejects as it throws. */
export function resolveEncodingAsync(name: EncodingName): Promise<EncodingName>
