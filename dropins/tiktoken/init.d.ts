export { Tiktoken, encoding_for_model, get_encoding, get_encoding_name_for_model } from './index.js'

/** As in the original nothing else works before this was called. There is no WebAssembly: `callback` is not called. */
export function init(callback?: (imports: object) => unknown): Promise<typeof import('./index.js')>
