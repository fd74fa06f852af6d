/**
 * Encodings by name or by model, for code that selects them at run time.
 *
 * @module @tokenlane/gpt-tokenizer/GptEncoding
 */
import type { ChatCompletionRequest, ChatMessage, EncodeChatOptions } from './functionCalling.js'
import type { EncodingName, ModelName } from './mapping.js'
import type { ModelSpec, PriceData } from './modelTypes.js'
import type { RawBytePairRanks } from './resolveEncoding.js'

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
  HarmonyTerminator,
} from './functionCalling.js'

/** Handling of special tokens in a text. */
export interface EncodeOptions {
  /** Special tokens that are encoded as one id. Default: none. */
  allowedSpecial?: Set<string> | 'all'
  /**
   * `'all'` makes every special token that is not allowed an error. With `allowedSpecial: 'all'` a
   * set excludes tokens from those that are allowed. Default: `'all'`, with `allowedSpecial: 'all'`
   * none.
   */
  disallowedSpecial?: Set<string> | 'all'
}

/**
 * The cost of a number of tokens by kind. As in the original, no call returns it:
 * {@link GptEncoding.estimateCost} returns prices.
 */
export interface CostEstimate {
  /** Of a request. */
  input?: number
  /** Of an answer. */
  output?: number
  /** Of a request of the batch API. */
  batchInput?: number
  /** Of an answer of the batch API. */
  batchOutput?: number
  /** Of a request that the provider has cached. */
  cachedInput?: number
  /** Of a million tokens of training. */
  training?: number
}

/** Returns the ranks of an encoding, such as `resolveEncoding`. */
export type GetMergeableRanksFn = (encodingName: EncodingName) => RawBytePairRanks

/**
 * The API of the npm package `gpt-tokenizer` 4 for one encoding. The methods are bound and can be
 * called as plain functions.
 */
export class GptEncoding {
  /** `'<|endofprompt|>'` */
  static EndOfPrompt: string
  /** `'<|endoftext|>'` */
  static EndOfText: string
  /** `'<|fim_middle|>'` */
  static FimMiddle: string
  /** `'<|fim_prefix|>'` */
  static FimPrefix: string
  /** `'<|fim_suffix|>'` */
  static FimSuffix: string
  private constructor()

  /**
   * Returns the encoding of a name. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING` for other names.
   *
   * @param getMergeableRanks returns the ranks. Default: the bundled ones
   */
  static getEncodingApi(encodingName: EncodingName, getMergeableRanks?: GetMergeableRanksFn): GptEncoding
  /**
   * Returns the encoding of a model. The model is also the default for its chat methods.
   *
   * @param getMergeableRanks returns the ranks. Default: the bundled ones
   */
  static getEncodingApiForModel(
    modelName: ModelName,
    getMergeableRanks?: GetMergeableRanksFn,
    modelSpec?: ModelSpec,
  ): GptEncoding

  /**
   * The default model of the chat methods; `undefined` if the encoding was selected by its name.
   */
  modelName?: ModelName
  /** The description of the model, for {@link estimateCost}. */
  modelSpec?: ModelSpec
  /** The number of tokens, special tokens included. */
  readonly vocabularySize: number

  /**
   * Returns the ids of a text. Throws `ERR_TOKENLANE_SPECIAL_TOKEN` if the text contains a special
   * token that is not allowed.
   */
  encode(lineToEncode: string, encodeOptions?: EncodeOptions): number[]
  /** Yields the ids of each word of a text, and returns the number of ids. */
  encodeGenerator(lineToEncode: string, encodeOptions?: EncodeOptions): Generator<number[], number, undefined>
  /**
   * Returns the ids of a chat in the format of the model. Throws `ERR_TOKENLANE_UNSUPPORTED` for a
   * model without a chat format, and `ERR_TOKENLANE_ARGUMENT_VALUE` if there is no model.
   *
   * @param model the model that selects the format. Default: {@link GptEncoding.modelName}
   */
  encodeChat(
    chat: readonly ChatMessage[],
    model?: ModelName,
    encodeOptions?: EncodeOptions & EncodeChatOptions,
  ): number[]
  /** Yields the ids of a chat piece by piece. Throws the errors of {@link encodeChat}. */
  encodeChatGenerator(
    chat: Iterable<ChatMessage>,
    model?: ModelName,
    encodeOptions?: EncodeOptions & EncodeChatOptions,
  ): Generator<number[], void, undefined>
  /** Returns the number of ids of a text or a chat. */
  countTokens(input: string | Iterable<ChatMessage>, encodeOptions?: EncodeOptions): number
  /**
   * Returns the number of ids of a text or a chat, or `false` if there are more than `tokenLimit`.
   * The call stops as soon as the limit is exceeded.
   */
  isWithinTokenLimit(
    input: string | Iterable<ChatMessage>,
    tokenLimit: number,
    encodeOptions?: EncodeOptions,
  ): false | number
  /**
   * Returns the number of ids of a request, functions included, as OpenAI counts them. Only exists
   * for models that support function calls.
   */
  countChatCompletionTokens?: (request: ChatCompletionRequest) => number
  /**
   * Returns the text of ids. An incomplete character at the end becomes U+FFFD. Throws
   * `ERR_TOKENLANE_UNKNOWN_ID` for an id without a token.
   */
  decode(inputTokensToDecode: Iterable<number>): string
  /** Yields the text of ids as soon as characters are complete. */
  decodeGenerator(inputTokensToDecode: Iterable<number>): Generator<string, void, void>
  /** Like {@link decodeGenerator}, for an async iterable of ids. */
  decodeAsyncGenerator(inputTokensToDecode: AsyncIterable<number>): AsyncGenerator<string, void>
  /** Like {@link decode}, for an async iterable of ids. */
  decodeAsync(inputTokensToDecode: AsyncIterable<number>): Promise<string>
  /**
   * Returns the cost of `tokenCount` tokens. Throws `ERR_TOKENLANE_ARGUMENT_VALUE` without prices.
   *
   * @param modelSpec the description of the model, with prices. Default: {@link
   *   GptEncoding.modelSpec}
   */
  estimateCost(tokenCount: number, modelSpec?: ModelSpec): PriceData
  /**
   * Only checks the argument: the size of tokenlane's word cache is fixed. Throws a `TypeError`
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`) if `size` is not a number.
   */
  setMergeCacheSize(size: number): void
  /** Does nothing: tokenlane's word cache never changes a result. */
  clearMergeCache(): void
}
