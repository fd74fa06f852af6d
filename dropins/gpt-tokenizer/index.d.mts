import type { GptEncoding } from './GptEncoding.js'

export * from './index.js'
declare const api: GptEncoding
export default api
