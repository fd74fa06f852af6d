/**
 * Encodings by name or by model, for code that takes them from a variable.
 *
 * @module tokenlane/gpt-tokenizer/GptEncoding
 */
import type { EncodingName, ModelName } from './mapping.js'

/** A call of a function in a message. */
export interface ChatMessageFunctionCall {
  /** The function. */
  name?: string
  /** What it is called with, as JSON. */
  arguments?: string
}

/** What ends a message in the harmony format. */
export type HarmonyTerminator = '<|end|>' | '<|return|>' | '<|call|>'

/** A message of a chat. The last five are for models with the harmony format. */
export interface ChatMessage {
  /** `'system'`, `'user'`, `'assistant'`, …. Default `'system'`, in the harmony format `'user'`. */
  role?: string
  /** Who speaks, in place of the role. Default the role. */
  name?: string
  /** What is said. */
  content: string
  /** A function that was called, for {@link GptEncoding.countChatCompletionTokens}; encodings of chats leave it out. */
  function_call?: ChatMessageFunctionCall
  /** The channel of the answer, such as `'analysis'` or `'final'`. Default none. */
  channel?: string
  /** Whom it is for, such as `'functions.weather'`. Default none. */
  recipient?: string
  /** Where the recipient is written. Default behind the channel, if there is one. */
  recipientPlacement?: 'role' | 'channel'
  /** The format of the content, such as `'json'`. Default none. */
  constraint?: string
  /** What ends the message. Default `'<|end|>'`. */
  terminator?: HarmonyTerminator
}

/** What becomes of special tokens that a text spells out. */
export interface EncodeOptions {
  /** Special tokens that become their token. Default none. */
  allowedSpecial?: Set<string> | 'all'
  /** `'all'` refuses every special token that is not allowed, which is the default without `allowedSpecial: 'all'`. */
  disallowedSpecial?: Set<string> | 'all'
}

/** How a chat ends. */
export interface EncodeChatOptions {
  /** What the answer starts with. Default `'assistant'`; `''` for nothing. */
  primeWithAssistantResponse?: string
}

/** A function that a model may call, described as JSON Schema. */
export interface ChatCompletionFunctionDefinition {
  /** Its name. */
  name: string
  /** What it does. */
  description?: string
  /** Its parameters. Default none. */
  parameters?: ChatCompletionFunctionParameters
}

/** The parameters of a function: fields of an object. */
export interface ChatCompletionFunctionParameters extends ChatCompletionObjectProperty {}

/** The kinds of values that a parameter may have. */
export type ChatCompletionFunctionType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object'

/** A parameter, as JSON Schema. */
export type ChatCompletionFunctionProperty =
  | ChatCompletionStringProperty
  | ChatCompletionNumberProperty
  | ChatCompletionBooleanProperty
  | ChatCompletionNullProperty
  | ChatCompletionArrayProperty
  | ChatCompletionObjectProperty

/** A string. */
export interface ChatCompletionStringProperty {
  /** Its kind. */
  type: 'string'
  /** What it is. */
  description?: string
  /** The only values that it may have. */
  enum?: string[]
}

/** A number. */
export interface ChatCompletionNumberProperty {
  /** Its kind. */
  type: 'integer' | 'number'
  /** What it is. */
  description?: string
  /** The least that it may be; the model does not see it. */
  minimum?: number
  /** The most that it may be; the model does not see it. */
  maximum?: number
  /** The only values that it may have. */
  enum?: (number | string)[]
}

/** `true` or `false`. */
export interface ChatCompletionBooleanProperty {
  /** Its kind. */
  type: 'boolean'
  /** What it is. */
  description?: string
}

/** Always `null`. */
export interface ChatCompletionNullProperty {
  /** Its kind. */
  type: 'null'
  /** What it is. */
  description?: string
}

/** A list. */
export interface ChatCompletionArrayProperty {
  /** Its kind. */
  type: 'array'
  /** What it is. */
  description?: string
  /** What is in it. Default anything. */
  items?: ChatCompletionFunctionProperty
}

/** An object. */
export interface ChatCompletionObjectProperty {
  /** Its kind. */
  type: 'object'
  /** What it is. */
  description?: string
  /** The names of the fields that have to be given. Default none. */
  required?: string[]
  /** The fields, by name. Default none. */
  properties?: Record<string, ChatCompletionFunctionProperty>
}

/** Whether a model may call a function, must not, or has to call the one that is named. */
export type ChatCompletionFunctionCallOption = 'auto' | 'none' | FunctionChoice

/** The function that a model has to call. */
export interface FunctionChoice {
  /** Its name. */
  name: string
}

/** A request to OpenAI's chat completions. */
export interface ChatCompletionRequest {
  /** The conversation. */
  messages: readonly ChatMessage[]
  /** The functions that the model may call. Default none. */
  functions?: readonly ChatCompletionFunctionDefinition[]
  /** Whether it may call one, must not, or has to call this one. Default `'auto'`. */
  function_call?: ChatCompletionFunctionCallOption
}

/** Prices for a million tokens, or what so many tokens cost; `undefined` where there is no such price. */
export interface Prices {
  /** Of a request. */
  input?: number | undefined
  /** Of an answer. */
  output?: number | undefined
  /** Of the part of a request that was sent before. */
  cached_input?: number | undefined
  /** Of the part of an answer that was given before. */
  cached_output?: number | undefined
}

/** Prices by the way a request is made. */
export interface PriceData {
  /** At once. */
  main?: Prices
  /** In a batch, some time later. */
  batch?: Prices
}

/** What is known of a model. tokenlane carries no prices: give them. */
export interface ModelSpec {
  /** Its name. */
  name: string
  /** What its tokens cost. */
  price_data?: PriceData
  /** What it can do: with `'function_calling'` there is {@link GptEncoding.countChatCompletionTokens}. Default by its name. */
  supported_features?: readonly string[]
}

/** The API of the npm package `gpt-tokenizer` 4 for one encoding; its methods need no `this`. */
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

  /** The encoding of a name. Throws `ERR_TOKENLANE_UNKNOWN_ENCODING`. The second argument of the original is not needed. */
  static getEncodingApi(encodingName: EncodingName, getMergeableRanks?: unknown): GptEncoding
  /** The encoding of a model, which then is the model of its chats. */
  static getEncodingApiForModel(modelName: ModelName, getMergeableRanks?: unknown, modelSpec?: ModelSpec): GptEncoding

  /** The model whose chats these are; `undefined` of an encoding that was asked for by its own name. */
  modelName?: ModelName
  /** What was said of the model, for {@link estimateCost}. */
  modelSpec?: ModelSpec
  /** How many tokens there are, special tokens included. */
  readonly vocabularySize: number

  /** The ids of a text. A special token that is not allowed is an error, `ERR_TOKENLANE_SPECIAL_TOKEN`. */
  encode(lineToEncode: string, encodeOptions?: EncodeOptions): number[]
  /** The ids of a text, word by word; what it returns is their number. */
  encodeGenerator(lineToEncode: string, encodeOptions?: EncodeOptions): Generator<number[], number, undefined>
  /**
   * The ids of a chat, with those that the format of the model adds. Throws `ERR_TOKENLANE_UNSUPPORTED` for a model that does not
   * chat, and `ERR_TOKENLANE_ARGUMENT_VALUE` where no model is known.
   */
  encodeChat(chat: readonly ChatMessage[], model?: ModelName, encodeOptions?: EncodeOptions & EncodeChatOptions): number[]
  /** The ids of a chat, piece by piece. Throws as {@link encodeChat}. */
  encodeChatGenerator(
    chat: Iterable<ChatMessage>,
    model?: ModelName,
    encodeOptions?: EncodeOptions & EncodeChatOptions,
  ): Generator<number[], void, undefined>
  /** How many ids a text or a chat has. */
  countTokens(input: string | Iterable<ChatMessage>, encodeOptions?: EncodeOptions): number
  /** How many ids a text or a chat has, or `false` if they are more than `tokenLimit`. A long text is not looked at then. */
  isWithinTokenLimit(
    input: string | Iterable<ChatMessage>,
    tokenLimit: number,
    encodeOptions?: EncodeOptions,
  ): false | number
  /** How many ids a request has, functions included, as OpenAI counts it. Only there for models that can call functions. */
  countChatCompletionTokens?: (request: ChatCompletionRequest) => number
  /** The text of ids; half a character at their end becomes U+FFFD. Throws `ERR_TOKENLANE_UNKNOWN_ID`. */
  decode(inputTokensToDecode: Iterable<number>): string
  /** The text of ids as it becomes certain, never half a character. */
  decodeGenerator(inputTokensToDecode: Iterable<number>): Generator<string, void, void>
  /** As {@link decodeGenerator}, of ids that come one by one. */
  decodeAsyncGenerator(inputTokensToDecode: AsyncIterable<number>): AsyncGenerator<string, void>
  /** As {@link decode}, of ids that come one by one. */
  decodeAsync(inputTokensToDecode: AsyncIterable<number>): Promise<string>
  /** What so many ids cost by the prices of `modelSpec`. Throws `ERR_TOKENLANE_ARGUMENT_VALUE` without prices. */
  estimateCost(tokenCount: number, modelSpec?: ModelSpec): PriceData
  /**
   * Checks the number, and does nothing: tokenlane's cache of words has a bound of its own. A `TypeError` for what is no number
   * (`ERR_TOKENLANE_ARGUMENT_TYPE`).
   */
  setMergeCacheSize(size: number): void
  /** Does nothing: the cache of words changes no result. */
  clearMergeCache(): void
}
