/**
 * The API of the npm package `gpt-tokenizer` 4, implemented with tokenlane. This entry point has
 * the functions of `o200k_base`; `encoding/NAME` and `model/NAME` have those of one encoding or
 * model. Each function is a bound method of {@link GptEncoding}. docs/drop-ins.md lists the
 * differences.
 *
 * Errors have the original's messages where the original has them, and a stable `code` that starts
 * with `ERR_TOKENLANE_`.
 *
 * @module tokenlane/gpt-tokenizer
 */
import { GptEncoding } from './GptEncoding.js'

export * from './constants.js'
export * from './special-tokens.js'
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
  FunctionChoice,
  HarmonyTerminator,
  ModelSpec,
  PriceData,
  Prices,
} from './GptEncoding.js'

/** All functions as one object. */
declare const api: GptEncoding

/** Returns the ids of a text: {@link GptEncoding.encode}. */
export const encode: GptEncoding['encode']
/** Yields the ids of each word of a text: {@link GptEncoding.encodeGenerator}. */
export const encodeGenerator: GptEncoding['encodeGenerator']
/**
 * Returns the ids of a chat: {@link GptEncoding.encodeChat}. Entry points of encodings need the
 * argument `model`.
 */
export const encodeChat: GptEncoding['encodeChat']
/** Yields the ids of a chat piece by piece: {@link GptEncoding.encodeChatGenerator}. */
export const encodeChatGenerator: GptEncoding['encodeChatGenerator']
/** Returns the number of ids of a text or a chat: {@link GptEncoding.countTokens}. */
export const countTokens: GptEncoding['countTokens']
/**
 * Returns the number of ids of a text or a chat, or `false` if there are more than a limit:
 * {@link GptEncoding.isWithinTokenLimit}.
 */
export const isWithinTokenLimit: GptEncoding['isWithinTokenLimit']
/**
 * Returns the number of ids of a request, functions included:
 * {@link GptEncoding.countChatCompletionTokens}. Only entry points of models that support function
 * calls have it.
 */
export const countChatCompletionTokens: NonNullable<GptEncoding['countChatCompletionTokens']>
/** Returns the text of ids: {@link GptEncoding.decode}. */
export const decode: GptEncoding['decode']
/**
 * Yields the text of ids as soon as characters are complete: {@link GptEncoding.decodeGenerator}.
 */
export const decodeGenerator: GptEncoding['decodeGenerator']
/** Yields the text of an async iterable of ids: {@link GptEncoding.decodeAsyncGenerator}. */
export const decodeAsyncGenerator: GptEncoding['decodeAsyncGenerator']
/** Resolves to the text of an async iterable of ids: {@link GptEncoding.decodeAsync}. */
export const decodeAsync: GptEncoding['decodeAsync']
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
