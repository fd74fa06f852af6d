import type { EncodingName, ModelName } from './mapping.js'

/** A message of a chat. The last five are for models with the harmony format. */
export interface ChatMessage {
  role?: string
  name?: string
  content: string
  function_call?: { name?: string; arguments?: string }
  channel?: string
  recipient?: string
  /** Where the recipient is written. Default behind the channel, if there is one. */
  recipientPlacement?: 'role' | 'channel'
  constraint?: string
  /** What ends the message. Default `'<|end|>'`. */
  terminator?: '<|end|>' | '<|return|>' | '<|call|>'
}

export interface EncodeOptions {
  /** Special tokens that become their token. Default none. */
  allowedSpecial?: Set<string> | 'all'
  /** `'all'` refuses every special token that is not allowed, which is the default without `allowedSpecial: 'all'`. */
  disallowedSpecial?: Set<string> | 'all'
}

export interface EncodeChatOptions {
  /** What the answer starts with. Default `'assistant'`; `''` for nothing. */
  primeWithAssistantResponse?: string
}

/** A function that a model may call, described as JSON Schema. */
export interface FunctionDefinition {
  name: string
  description?: string
  parameters?: { type: 'object'; properties?: Record<string, object>; required?: string[] }
}

export interface ChatCompletionRequest {
  messages: readonly ChatMessage[]
  functions?: readonly FunctionDefinition[]
  function_call?: 'auto' | 'none' | { name: string }
}

/** Prices for a million tokens. */
export interface Prices {
  input?: number | undefined
  output?: number | undefined
  cached_input?: number | undefined
  cached_output?: number | undefined
}

export interface PriceData {
  main?: Prices
  batch?: Prices
}

/** What is known of a model. tokenlane carries no prices: give them. */
export interface ModelSpec {
  name: string
  price_data?: PriceData
  supported_features?: readonly string[]
}

/** The API of the npm package `gpt-tokenizer` 4 for one encoding; its methods need no `this`. */
export class GptEncoding {
  static EndOfPrompt: string
  static EndOfText: string
  static FimMiddle: string
  static FimPrefix: string
  static FimSuffix: string
  private constructor()

  /** Throws `ERR_TOKENLANE_UNKNOWN_ENCODING`. The second argument of the original is not needed. */
  static getEncodingApi(encodingName: EncodingName, getMergeableRanks?: unknown): GptEncoding
  /** The encoding of a model, which then is the model of its chats. */
  static getEncodingApiForModel(modelName: ModelName, getMergeableRanks?: unknown, modelSpec?: ModelSpec): GptEncoding

  modelName?: ModelName
  modelSpec?: ModelSpec
  readonly vocabularySize: number

  /** The ids of a text. A special token that is not allowed is an error, `ERR_TOKENLANE_SPECIAL_TOKEN`. */
  encode(lineToEncode: string, encodeOptions?: EncodeOptions): number[]
  /** The ids of a text, word by word; what it returns is their number. */
  encodeGenerator(lineToEncode: string, encodeOptions?: EncodeOptions): Generator<number[], number, undefined>
  /** The ids of a chat, with those that the format of the model adds. */
  encodeChat(chat: readonly ChatMessage[], model?: ModelName, encodeOptions?: EncodeOptions & EncodeChatOptions): number[]
  /** The same, piece by piece. */
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
  /** The text of ids. */
  decode(inputTokensToDecode: Iterable<number>): string
  /** The text of ids as it becomes certain, never half a character. */
  decodeGenerator(inputTokensToDecode: Iterable<number>): Generator<string, void, void>
  decodeAsyncGenerator(inputTokensToDecode: AsyncIterable<number>): AsyncGenerator<string, void>
  decodeAsync(inputTokensToDecode: AsyncIterable<number>): Promise<string>
  /** What so many ids cost by the prices of `modelSpec`. Throws `ERR_TOKENLANE_ARGUMENT_VALUE` without prices. */
  estimateCost(tokenCount: number, modelSpec?: ModelSpec): PriceData
  /** Checks the number; tokenlane's cache of words has a bound of its own. */
  setMergeCacheSize(size: number): void
  /** Does nothing: the cache of words changes no result. */
  clearMergeCache(): void
}
