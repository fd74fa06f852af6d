import type { EncodingName } from './mapping.js'

/** What {@link GptEncoding.getEncodingApi} wants as its second argument in the original. Here it gives the name back. */
export function resolveEncoding(name: EncodingName): EncodingName
export function resolveEncodingAsync(name: EncodingName): Promise<EncodingName>
