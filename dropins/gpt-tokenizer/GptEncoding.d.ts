/**
 * Encodings by name or by model, for code that selects them at run time.
 *
 * @module tokenlane/gpt-tokenizer/GptEncoding
 */
import type { EncodingName, ModelName } from './mapping.js'

/** A function call in a message. */
export interface ChatMessageFunctionCall {
  /** The name of the function. */
  name?: string
  /** The arguments, as JSON. */
  arguments?: string
}

/** The token that ends a message in the harmony format. */
export type HarmonyTerminator = '<|end|>' | '<|return|>' | '<|call|>'

/** A message of a chat. The last five fields apply to the harmony format only. */
export interface ChatMessage {
  /**
   * The role, such as `'system'`, `'user'` or `'assistant'`. Default: `'system'`, in the harmony
   * format `'user'`.
   */
  role?: string
  /** The name of the author, which replaces the role. Default: the role. */
  name?: string
  /** The text of the message. */
  content: string
  /**
   * The function that the assistant called. Only {@link GptEncoding.countChatCompletionTokens} uses
   * it.
   */
  function_call?: ChatMessageFunctionCall
  /** The channel of the answer, such as `'analysis'` or `'final'`. Default: none. */
  channel?: string
  /** The recipient of the message, such as `'functions.weather'`. Default: none. */
  recipient?: string
  /**
   * The position of the recipient. Default: after the channel, or after the role without a channel.
   */
  recipientPlacement?: 'role' | 'channel'
  /** The format of the content, such as `'json'`. Default: none. */
  constraint?: string
  /** The token that ends the message. Default: `'<|end|>'`. */
  terminator?: HarmonyTerminator
}

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

/** Options for the end of a chat. */
export interface EncodeChatOptions {
  /**
   * The role with which the answer starts; `''` for no start of an answer. Default: `'assistant'`.
   */
  primeWithAssistantResponse?: string
}

/** A function that a model can call, described with JSON Schema. */
export interface ChatCompletionFunctionDefinition {
  /** The name of the function. */
  name: string
  /** The description of the function. Default: none. */
  description?: string
  /** The parameters of the function. Default: none. */
  parameters?: ChatCompletionFunctionParameters
}

/** The parameters of a function, as the properties of an object. */
export interface ChatCompletionFunctionParameters extends ChatCompletionObjectProperty {}

/** The types of JSON Schema. */
export type ChatCompletionFunctionType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/** The JSON Schema of a parameter. */
export type ChatCompletionFunctionProperty =
  | ChatCompletionStringProperty
  | ChatCompletionNumberProperty
  | ChatCompletionBooleanProperty
  | ChatCompletionNullProperty
  | ChatCompletionArrayProperty
  | ChatCompletionObjectProperty

/** The schema of a string. */
export interface ChatCompletionStringProperty {
  /** The type. */
  type: 'string'
  /** The description. Default: none. */
  description?: string
  /** The allowed values. Default: all. */
  enum?: string[]
}

/** The schema of a number. */
export interface ChatCompletionNumberProperty {
  /** The type. */
  type: 'integer' | 'number'
  /** The description. Default: none. */
  description?: string
  /** The smallest allowed value. It is not part of the prompt. Default: none. */
  minimum?: number
  /** The largest allowed value. It is not part of the prompt. Default: none. */
  maximum?: number
  /** The allowed values. Default: all. */
  enum?: (number | string)[]
}

/** The schema of a boolean. */
export interface ChatCompletionBooleanProperty {
  /** The type. */
  type: 'boolean'
  /** The description. Default: none. */
  description?: string
}

/** The schema of `null`. */
export interface ChatCompletionNullProperty {
  /** The type. */
  type: 'null'
  /** The description. Default: none. */
  description?: string
}

/** The schema of an array. */
export interface ChatCompletionArrayProperty {
  /** The type. */
  type: 'array'
  /** The description. Default: none. */
  description?: string
  /** The schema of the elements. Default: any value. */
  items?: ChatCompletionFunctionProperty
}

/** The schema of an object. */
export interface ChatCompletionObjectProperty {
  /** The type. */
  type: 'object'
  /** The description. Default: none. */
  description?: string
  /** The names of the required properties. Default: none. */
  required?: string[]
  /** The schemas of the properties, by name. Default: none. */
  properties?: Record<string, ChatCompletionFunctionProperty>
}

/** Whether the model can call functions, cannot, or must call the named function. */
export type ChatCompletionFunctionCallOption = 'auto' | 'none' | FunctionChoice

/** The function that the model must call. */
export interface FunctionChoice {
  /** The name of the function. */
  name: string
}

/** A request to OpenAI's chat completions API. */
export interface ChatCompletionRequest {
  /** The conversation. */
  messages: readonly ChatMessage[]
  /** The functions that the model can call. Default: none. */
  functions?: readonly ChatCompletionFunctionDefinition[]
  /** Whether the model can call functions, cannot, or must call this one. Default: `'auto'`. */
  function_call?: ChatCompletionFunctionCallOption
}

/**
 * Prices of a million tokens, or the cost of a number of tokens. Missing prices are `undefined`.
 */
export interface Prices {
  /** For the tokens of a request. */
  input?: number | undefined
  /** For the tokens of an answer. */
  output?: number | undefined
  /** For the tokens of a request that the provider has cached. */
  cached_input?: number | undefined
  /** For the tokens of an answer that the provider has cached. */
  cached_output?: number | undefined
}

/** Prices by type of request. */
export interface PriceData {
  /** Requests that are answered immediately. */
  main?: Prices
  /** Requests of the batch API. */
  batch?: Prices
}

/** The description of a model. tokenlane has no price list, so the caller provides the prices. */
export interface ModelSpec {
  /** The name of the model. */
  name: string
  /** The prices of its tokens. */
  price_data?: PriceData
  /**
   * The features of the model. {@link GptEncoding.countChatCompletionTokens} exists if they include
   * `'function_calling'`. Default: derived from the name of the model.
   */
  supported_features?: readonly string[]
}

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
   * @param getMergeableRanks ignored: the ranks are bundled
   */
  static getEncodingApi(encodingName: EncodingName, getMergeableRanks?: unknown): GptEncoding
  /**
   * Returns the encoding of a model. The model is also the default for its chat methods.
   *
   * @param getMergeableRanks ignored: the ranks are bundled
   */
  static getEncodingApiForModel(modelName: ModelName, getMergeableRanks?: unknown, modelSpec?: ModelSpec): GptEncoding

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
