/** What every entry point of an encoding or model exports. */
import { GptEncoding } from '../GptEncoding.js'

export * from '../constants.js'
export * from '../specialTokens.js'
export type {
  ChatCompletionArrayProperty,
  ChatCompletionBooleanProperty,
  ChatCompletionFunctionCallOption,
  ChatCompletionFunctionDefinition,
  ChatCompletionFunctionParameters,
  ChatCompletionFunctionProperty,
  ChatCompletionFunctionType,
  ChatCompletionNullProperty,
  ChatCompletionNumberProperty,
  ChatCompletionObjectProperty,
  ChatCompletionRequest,
  ChatCompletionStringProperty,
  ChatMessage,
  ChatMessageFunctionCall,
  EncodeChatOptions,
  EncodeOptions,
  HarmonyTerminator,
} from '../GptEncoding.js'

export type { ModelSpec, PriceData, Prices } from '../modelTypes.js'

/** All functions as one object. */
declare const api: GptEncoding

/** Returns the ids of a text: {@link GptEncoding.encode}. */
export const encode: GptEncoding['encode']
/** Yields the ids of each word of a text: {@link GptEncoding.encodeGenerator}. */
export const encodeGenerator: GptEncoding['encodeGenerator']
/** Returns the number of ids of a text or a chat: {@link GptEncoding.countTokens}. */
export const countTokens: GptEncoding['countTokens']
/**
 * Returns the number of ids of a text or a chat, or `false` if there are more than a limit:
 * {@link GptEncoding.isWithinTokenLimit}.
 */
export const isWithinTokenLimit: GptEncoding['isWithinTokenLimit']
/** Returns the text of ids: {@link GptEncoding.decode}. */
export const decode: GptEncoding['decode']
/**
 * Yields the text of ids as soon as characters are complete: {@link GptEncoding.decodeGenerator}.
 */
export const decodeGenerator: GptEncoding['decodeGenerator']
/** Yields the text of an async iterable of ids: {@link GptEncoding.decodeAsyncGenerator}. */
export const decodeAsyncGenerator: GptEncoding['decodeAsyncGenerator']
/** Returns the cost of a number of tokens by given prices: {@link GptEncoding.estimateCost}. */
export const estimateCost: GptEncoding['estimateCost']
/** Only checks the argument: {@link GptEncoding.setMergeCacheSize}. */
export const setMergeCacheSize: GptEncoding['setMergeCacheSize']
/** Does nothing: {@link GptEncoding.clearMergeCache}. */
export const clearMergeCache: GptEncoding['clearMergeCache']
/** The number of tokens, special tokens included: {@link GptEncoding.vocabularySize}. */
export const vocabularySize: GptEncoding['vocabularySize']
/** All functions as one object. */
export default api
