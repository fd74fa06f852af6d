import { GptEncoding } from './GptEncoding.js'

export * from './constants.js'
export * from './special-tokens.js'
export type {
  ChatCompletionRequest,
  ChatMessage,
  EncodeChatOptions,
  EncodeOptions,
  FunctionDefinition,
  ModelSpec,
  PriceData,
  Prices,
} from './GptEncoding.js'

declare const api: GptEncoding

export const encode: typeof api.encode
export const encodeGenerator: typeof api.encodeGenerator
export const encodeChat: typeof api.encodeChat
export const encodeChatGenerator: typeof api.encodeChatGenerator
export const countTokens: typeof api.countTokens
export const isWithinTokenLimit: typeof api.isWithinTokenLimit
/** Only in the entries of models that can call functions. */
export const countChatCompletionTokens: NonNullable<typeof api.countChatCompletionTokens>
export const decode: typeof api.decode
export const decodeGenerator: typeof api.decodeGenerator
export const decodeAsyncGenerator: typeof api.decodeAsyncGenerator
export const decodeAsync: typeof api.decodeAsync
export const estimateCost: typeof api.estimateCost
export const setMergeCacheSize: typeof api.setMergeCacheSize
export const clearMergeCache: typeof api.clearMergeCache
export const vocabularySize: typeof api.vocabularySize
export default api
