/**
 * Messages and tools of client libraries, as those of chat completions, which `countChat`,
 * `fitChat` and `applyChatTemplate` of a tokenizer take. The functions read the fields of the
 * clients' objects and load none of the clients. Arguments of calls become JSON, the texts of a
 * message one text, images `image_url` parts with a URL; other parts stay as they are. What is no
 * list of messages, and a field that is read and has another type than the client's, is a
 * `TypeError`, `ERR_TOKENLANE_ARGUMENT_TYPE`, with its place in what was passed; what JSON cannot
 * hold is a `RangeError`, `ERR_TOKENLANE_ARGUMENT_VALUE`.
 *
 * ```js
 * import { fromAnthropic } from 'tokenlane/adapters'
 *
 * const messages = fromAnthropic({ messages: [{ role: 'user', content: 'Hi' }] })
 * ```
 *
 * @module tokenlane/adapters
 */
import type { ChatMessage } from '../chat-types.js'

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
