import type { GptEncoding } from './GptEncoding.js'

export * from './index.js'
/** All functions as one object. */
declare const api: GptEncoding
export default api
