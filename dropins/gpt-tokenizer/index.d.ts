/**
 * The API of the npm package `gpt-tokenizer` 4 over tokenlane: the functions of `o200k_base`, and under `encoding/NAME` and
 * `model/NAME` those of one encoding or model. Each of them is a method of {@link GptEncoding} that needs no `this`. docs/drop-ins.md says
 * what is different.
 *
 * Errors have the original's messages where it has some, and a stable `code` that starts with `ERR_TOKENLANE_`.
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

/** The ids of a text: {@link GptEncoding.encode}. */
export const encode: GptEncoding['encode']
/** The ids of a text, word by word: {@link GptEncoding.encodeGenerator}. */
export const encodeGenerator: GptEncoding['encodeGenerator']
/** The ids of a chat. Throws in the entries of encodings, unless a model is given: {@link GptEncoding.encodeChat}. */
export const encodeChat: GptEncoding['encodeChat']
/** The ids of a chat, piece by piece: {@link GptEncoding.encodeChatGenerator}. */
export const encodeChatGenerator: GptEncoding['encodeChatGenerator']
/** How many ids a text or a chat has: {@link GptEncoding.countTokens}. */
export const countTokens: GptEncoding['countTokens']
/** How many ids a text or a chat has, or `false` if they are more than a limit: {@link GptEncoding.isWithinTokenLimit}. */
export const isWithinTokenLimit: GptEncoding['isWithinTokenLimit']
/** How many ids a request has, functions included: {@link GptEncoding.countChatCompletionTokens}. Only in the entries of models that can call functions. */
export const countChatCompletionTokens: NonNullable<GptEncoding['countChatCompletionTokens']>
/** The text of ids: {@link GptEncoding.decode}. */
export const decode: GptEncoding['decode']
/** The text of ids as it becomes certain: {@link GptEncoding.decodeGenerator}. */
export const decodeGenerator: GptEncoding['decodeGenerator']
/** The text of ids that come one by one, as it becomes certain: {@link GptEncoding.decodeAsyncGenerator}. */
export const decodeAsyncGenerator: GptEncoding['decodeAsyncGenerator']
/** The text of ids that come one by one: {@link GptEncoding.decodeAsync}. */
export const decodeAsync: GptEncoding['decodeAsync']
/** What so many ids cost, by prices that you give: {@link GptEncoding.estimateCost}. */
export const estimateCost: GptEncoding['estimateCost']
/** Checks the number, and does nothing: {@link GptEncoding.setMergeCacheSize}. */
export const setMergeCacheSize: GptEncoding['setMergeCacheSize']
/** Does nothing: {@link GptEncoding.clearMergeCache}. */
export const clearMergeCache: GptEncoding['clearMergeCache']
/** How many tokens there are, special tokens included: {@link GptEncoding.vocabularySize}. */
export const vocabularySize: GptEncoding['vocabularySize']
/** All of these as one object. */
export default api
