/**
 * The tokens of requests by their JSON bodies, conversations within a limit, and the messages and
 * tools of client libraries as those of chat completions.
 *
 * The adapters (`from…`, `toolsFrom…`) read the fields of the clients' objects and load none of the
 * clients. Arguments of calls become JSON, the texts of a message one text, images `image_url`
 * parts with a URL; other parts stay as they are. What is no list of messages, and a field that is
 * read and has another type than the client's, is a `TypeError`, `ERR_TOKENLANE_ARGUMENT_TYPE`,
 * with its place in what was passed; what JSON cannot hold is a `RangeError`,
 * `ERR_TOKENLANE_ARGUMENT_VALUE`.
 *
 * ```js
 * import { countRequest, fromAnthropic } from '@tokenlane/requests'
 *
 * const messages = fromAnthropic({ messages: [{ role: 'user', content: 'Hi' }] })
 * ```
 *
 * @module @tokenlane/requests
 */
import type { ChatEntry, ChatMessage, CountChatOptions, ImageSize } from 'tokenlane'

/**
 * A tokenizer of tokenlane or `@tokenlane/web`, or what has these calls of one. The property
 * `[Symbol.for('tokenlane.chatFormat')]` says how chats are counted: `{ kind: 'openai', encoding,
 * model }` with an encoding of OpenAI, `{ kind: 'harmony' }` with that of gpt-oss. Without it,
 * `countChat` renders a template.
 */
export interface RequestTokenizer {
  /** The number of ids of a text. */
  count(text: string, options?: { specialTokens?: 'text' | undefined; addSpecialTokens?: boolean | undefined }): number
  /** The number of ids of a conversation. */
  countChat(messages: readonly ChatEntry[], options?: CountChatOptions): number
}

/** What estimates of OpenAI's and Anthropic's requests need to know. */
export interface EstimateOptions {
  /**
   * The model, such as `'gpt-4.1-mini'`, whose images, calls and tools are counted. Default: the
   * model that the tokenizer was loaded for, or that of the request; without one, `gpt-4o` for
   * o200k_base and `gpt-4` for cl100k_base.
   */
  model?: string | undefined
  /**
   * Returns the size of an image in pixels by its URL. Default: the size is read from a `data:` URL
   * with a PNG, JPEG, GIF or WebP, which also happens if the function returns `undefined`. An image
   * of unknown size counts as one of 1024 x 1024 pixels, which is an estimate.
   */
  imageSize?: ((url: string) => ImageSize | undefined) | undefined
  /**
   * Returns the tokens of a part of a message that is neither text nor image, such as audio or a
   * file. If it returns `undefined`, such a part is `ERR_TOKENLANE_CHAT_UNDOCUMENTED`. Default:
   * none: every such part is.
   */
  partTokens?: ((part: object) => number | undefined) | undefined
}

/** The API whose requests have the form of a body. */
export type RequestApi =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-embeddings'
  | 'openai-completions'
  | 'anthropic'
  | 'gemini'

/** Options of {@link countRequest}. */
export interface CountRequestOptions extends EstimateOptions {
  /**
   * The API. Default: by the fields of the body: `input` or `instructions` are those of OpenAI's
   * Responses, `system` and blocks such as `tool_use` of Anthropic's messages, `contents` those of
   * Gemini; all others of chat
   * completions, also as vLLM, llama.cpp and Ollama take them.
   */
  api?: RequestApi | undefined
}

/** A place of a request whose tokens are an estimate. */
export interface EstimatedPlace {
  /**
   * The place in the body, such as `messages[2].tool_calls`. `model` stands for a model for which
   * OpenAI did not say that its rule holds.
   */
  place: string
  /** What is estimated, and why. */
  reason: string
  /**
   * A share of the tokens of the request (0.05: five percent). 95 of 100 recorded requests with
   * such a part were counted within it, or within two tokens, by constants that were fitted without
   * the recordings of their project; 0.5 if there are no recordings.
   */
  error: number
}

/** The tokens of a request, and how sure they are. */
export interface RequestCount {
  /** The number of tokens. */
  tokens: number
  /** The places whose tokens are estimates. Empty if the number is exact. */
  estimated: EstimatedPlace[]
  /** The API by whose rules the body was read. */
  api: RequestApi
}

/**
 * The number of tokens of the input of a request, by its JSON body: messages, tools, the choice of
 * a tool and the format of the answer.
 *
 * - With an encoding of OpenAI: chat completions, Responses, and messages of Anthropic that a
 *   gateway forwards to OpenAI. What OpenAI does not document is estimated. `estimated` has
 *   `model` for a body with a model that is not known to have this encoding.
 * - Embeddings and completions: the sum of the tokens of all texts, or the number of ids.
 * - With a tokenizer that has a chat template, and gpt-oss: what a server such as vLLM renders,
 *   with `add_generation_prompt` (default: true), `chat_template_kwargs`, `chat_template`,
 *   `documents`, `reasoning_effort` and `continue_final_message`. Bodies of Responses and of
 *   Anthropic are converted. The tokens of images are not counted.
 * - For a model of Claude, with `o200k_base`: an estimate, because its tokenizer is not public.
 * - Bodies of Gemini's generateContent, with the tokenizer of Gemma 3, which has Gemini's
 *   vocabulary. The option `model` names the model. Texts are counted exactly; tools, calls,
 *   signatures of thoughts, images, pages of PDF and WAV are estimated.
 *
 * Throws the errors of `countChat` with a template, and `ERR_TOKENLANE_CHAT_UNDOCUMENTED` for a
 * part whose tokens cannot be estimated, such as audio, unless `partTokens` has them. A field that
 * is read and has another type than its API documents is `ERR_TOKENLANE_ARGUMENT_TYPE`, and what
 * JSON cannot hold `ERR_TOKENLANE_ARGUMENT_VALUE`; the message has the place in `body`, such as
 * `messages[0].content[1].source`.
 *
 * ```js
 * const { tokens, estimated } = countRequest(Tokenizer.forModelSync('gpt-4o'), JSON.parse(body))
 * ```
 */
export function countRequest(tokenizer: RequestTokenizer, body: object, options?: CountRequestOptions): RequestCount

/** Options of {@link fitChat}: those of `countChat`, and: */
export interface FitChatOptions<Message extends ChatEntry = ChatEntry>
  extends Omit<CountChatOptions, keyof EstimateOptions>,
    EstimateOptions {
  /** The maximum number of tokens of the result. */
  maxTokens: number
  /**
   * Whether a message stays, wherever it is. What belongs together stays together: a call of tools
   * and its results. Default: messages of the roles `system` and `developer`.
   */
  keep?: ((message: Message, index: number) => unknown) | undefined
  /**
   * The role of the oldest message after those that are kept, if others are dropped: `'user'` for
   * templates that want the user to begin. Default: any, but the result of a tool.
   */
  startOn?: string | undefined
}

/** The result of {@link fitChat}. */
export interface FittedChat<Message extends ChatEntry = ChatEntry> {
  /** The messages that are left, the same objects in the same order. */
  messages: Message[]
  /** Their tokens, counted as a whole. */
  tokens: number
  /** The number of messages that are not among them. */
  dropped: number
}

/**
 * The newest messages of a conversation that take at most `maxTokens`, with those that are always
 * kept, such as system messages. A call of tools is never without its results. The result and the
 * next larger conversation were counted whole: as {@link countRequest} counts them with an encoding
 * of OpenAI, else as `countChat` does.
 *
 * Throws a `RangeError`, `ERR_TOKENLANE_LIMIT_TOO_SMALL`, if the newest message does not fit with
 * those that are kept, and the errors of the call that counts.
 *
 * ```js
 * const { messages, tokens } = fitChat(tokenizer, history, { maxTokens: 8000, tools })
 * ```
 */
export function fitChat<Message extends ChatEntry>(
  tokenizer: RequestTokenizer,
  messages: readonly Message[],
  options: FitChatOptions<Message>,
): FittedChat<Message>

/** A function in the form of chat completions, or a tool that the API runs, as it was. */
export type ChatTool = object

/** What {@link fromResponses} reads of a request to OpenAI's Responses API. */
export interface ResponsesRequest {
  /**
   * A text, or items: messages, calls of functions and their results, reasoning; also those of
   * `@openai/agents`.
   */
  input?: string | readonly object[] | null | undefined
  /** The first system message; items, as answers of the API have them. */
  instructions?: string | readonly object[] | null | undefined
}

/**
 * The messages of a request to OpenAI's Responses API. Adjacent calls become one message of the
 * assistant, reasoning the `reasoning_content` of the message after it.
 */
export function fromResponses(request: ResponsesRequest): ChatMessage[]
/** The tools of a request to OpenAI's Responses API. */
export function toolsFromResponses(tools: readonly object[]): ChatTool[]

/** A message of a client with a role, and a text or parts. */
export interface MessageOfParts {
  /** Such as `'user'`. */
  readonly role: string
  /** A text, or the parts or blocks that the client knows. */
  readonly content: string | readonly object[]
}

/** A message of Anthropic's API. */
export interface AnthropicMessage {
  /** Such as `'user'`. */
  readonly role: string
  /** A text, or blocks. Without it, a message of the system only has settings. */
  readonly content?: string | readonly object[] | null | undefined
}

/** What {@link fromAnthropic} reads of a request to Anthropic's API. */
export interface AnthropicRequest {
  /** The first system message: a text or blocks. */
  system?: string | readonly object[] | null | undefined
  /** Messages with texts or blocks. */
  messages: readonly AnthropicMessage[]
}

/**
 * The messages of a request to Anthropic's API. Results of tools become messages of their own,
 * documents of text and results of searches the texts in them.
 */
export function fromAnthropic(request: AnthropicRequest): ChatMessage[]
/** The tools of a request to Anthropic's API. */
export function toolsFromAnthropic(tools: readonly object[]): ChatTool[]

/** A `UIMessage` of the package `ai`. */
export interface AiUiMessage {
  /** `'system'`, `'user'` or `'assistant'`. */
  readonly role: string
  /** Texts, files, calls of tools with their results, reasoning. */
  readonly parts: readonly object[]
}

/**
 * The messages of `ModelMessage[]` or `UIMessage[]` of the package `ai` (4 to 7), as its provider
 * for chat completions sends them: results of other types than texts are JSON, and files and
 * results of the assistant are left out. The URL of an image that a provider has is its id.
 * Messages of another client are a `TypeError`.
 */
export function fromAiSdk(messages: readonly (MessageOfParts | AiUiMessage)[]): ChatMessage[]

/** A `BaseMessage` of `@langchain/core`. */
export interface LangChainMessage {
  /** A text, or blocks. */
  readonly content: string | readonly (string | object)[]
  /** The kind of message, such as `'human'`. */
  getType(): string
}

/** The stored form of a `BaseMessage`. */
export interface LangChainStoredMessage {
  /** The kind of message, such as `'human'`. */
  readonly type: string
  /** The fields of the message. */
  readonly data: object
}

/** What `JSON.stringify` makes of a `BaseMessage`. */
export interface LangChainSerializedMessage {
  /** Always `'constructor'`. */
  readonly type: string
  /** The path of the class. */
  readonly id: readonly string[]
  /** The fields of the message. */
  readonly kwargs: object
}

/**
 * The messages of `BaseMessage[]`, of what `mapChatMessagesToStoredMessages` returns, or of what
 * `JSON.stringify` makes of messages.
 */
export function fromLangChain(
  messages: readonly (LangChainMessage | LangChainStoredMessage | LangChainSerializedMessage)[],
): ChatMessage[]

/** A `ChatMessage` of `llamaindex`. */
export interface LlamaIndexMessage extends MessageOfParts {
  /** Has the calls of tools (`toolCall`) and their results (`toolResult`). */
  readonly options?: object | undefined
}

/** The messages of `ChatMessage[]` of `llamaindex`. */
export function fromLlamaIndex(messages: readonly LlamaIndexMessage[]): ChatMessage[]
/** The tools of `llamaindex`, by their `metadata`. */
export function toolsFromLlamaIndex(tools: readonly { readonly metadata: object }[]): ChatTool[]
