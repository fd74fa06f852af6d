/**
 * Messages and tools of client libraries, as those of chat completions, which {@link
 * Tokenizer.countChat}, {@link Tokenizer.fitChat} and {@link Tokenizer.applyChatTemplate} take. The
 * functions read the fields of the clients' objects and load none of the clients. Arguments of calls
 * become JSON, texts of a message one text, images `image_url` parts with a URL; other parts stay as
 * they are. What is no list of messages is a `TypeError`, `ERR_TOKENLANE_ARGUMENT_TYPE`.
 *
 * @module tokenlane/adapters
 */
import type { ChatMessage } from '../option-types.js'

/** A function in the form of chat completions, or a tool that the API runs, as it was. */
export type ChatTool = object

/** What {@link fromResponses} reads of a request to OpenAI's Responses API. */
export interface ResponsesRequest {
  /** A text, or items: messages, calls of functions and their results, reasoning. */
  input?: string | readonly object[] | null | undefined
  /** The first system message. */
  instructions?: string | null | undefined
}

/**
 * The messages of a request to OpenAI's Responses API. Adjacent calls become one message of the
 * assistant, reasoning the `reasoning_content` of the message after it.
 */
export function fromResponses(request: ResponsesRequest): ChatMessage[]
/** The tools of a request to OpenAI's Responses API. */
export function toolsFromResponses(tools: readonly object[]): ChatTool[]

/** What {@link fromAnthropic} reads of a request to Anthropic's API. */
export interface AnthropicRequest {
  /** The first system message: a text or blocks. */
  system?: string | readonly object[] | null | undefined
  /** Messages with texts or blocks. */
  messages: readonly { readonly role: string; readonly content: string | readonly object[] }[]
}

/** The messages of a request to Anthropic's API. Results of tools become messages of their own. */
export function fromAnthropic(request: AnthropicRequest): ChatMessage[]
/** The tools of a request to Anthropic's API. */
export function toolsFromAnthropic(tools: readonly object[]): ChatTool[]

/** A `ModelMessage` or a `UIMessage` of the package `ai`. */
export type AiSdkMessage =
  | { readonly role: string; readonly content: string | readonly object[] }
  | { readonly role: string; readonly parts: readonly object[] }

/**
 * The messages of `ModelMessage[]` or `UIMessage[]` of the package `ai`, as its provider for chat
 * completions sends them.
 */
export function fromAiSdk(messages: readonly AiSdkMessage[]): ChatMessage[]

/** A `BaseMessage` of `@langchain/core`, or its stored form. */
export type LangChainMessage =
  | { readonly content: string | readonly (string | object)[]; getType(): string }
  | { readonly type: string; readonly data: object }

/** The messages of `BaseMessage[]`, or of what `mapChatMessagesToStoredMessages` returns. */
export function fromLangChain(messages: readonly LangChainMessage[]): ChatMessage[]

/** A `ChatMessage` of `llamaindex`. */
export interface LlamaIndexMessage {
  readonly role: string
  readonly content: string | readonly object[]
  /** Has the calls of tools (`toolCall`) and their results (`toolResult`). */
  readonly options?: object | undefined
}

/** The messages of `ChatMessage[]` of `llamaindex`. */
export function fromLlamaIndex(messages: readonly LlamaIndexMessage[]): ChatMessage[]
/** The tools of `llamaindex`, by their `metadata`. */
export function toolsFromLlamaIndex(tools: readonly { readonly metadata: object }[]): ChatTool[]
