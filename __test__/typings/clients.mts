// Is compiled, never run: conversations and tools of the clients that people use, and interfaces
// without an index signature, in every call that takes them.
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type Anthropic from '@anthropic-ai/sdk'
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  type StoredMessage,
  ToolMessage,
} from '@langchain/core/messages'
import type { ModelMessage, UIMessage } from 'ai'
import type OpenAI from 'openai'
import { type ChatEntry, type ChatMessage, type ChatOptions, Tokenizer } from 'tokenlane'
import {
  type CompletionEvent,
  completionStream,
  fromOpenAi,
  parseCompletion,
  toAiSdk,
  toLangChain,
  toOpenAi,
} from '@tokenlane/completions'
import {
  type RequestCount,
  countRequest,
  fitChat,
  fromAiSdk,
  fromAnthropic,
  fromLangChain,
  fromResponses,
  toolsFromAnthropic,
  toolsFromResponses,
} from '@tokenlane/requests'
import { AutoTokenizer } from '@tokenlane/transformers'

// These types are there: a type that is not found accepts everything.
type Clients = [OpenAI.Chat.ChatCompletionMessageParam, ModelMessage, BaseMessage, Anthropic.MessageParam]
// @ts-expect-error of OpenAI
export const ofOpenAi: Clients[0] = 1
// @ts-expect-error of the Vercel AI SDK
export const ofVercel: Clients[1] = 1
// @ts-expect-error of LangChain
export const ofLangChain: Clients[2] = 1
// @ts-expect-error of Anthropic
export const ofAnthropic: Clients[3] = 1

const tokenizer: Tokenizer = await Tokenizer.fromEncoding('o200k_base')
const auto = await AutoTokenizer.from_pretrained('org/name')

/** Every call that takes a conversation. */
function calls(messages: readonly ChatEntry[], options: ChatOptions = {}): number {
  const text: string = tokenizer.applyChatTemplate(messages, { ...options, tokenize: false })
  const fitted: { messages: ChatEntry[]; tokens: number } = fitChat(tokenizer, messages, { maxTokens: 9, ...options })
  calls(fitted.messages)
  return text.length + tokenizer.countChat(messages, options) + tokenizer.applyChatTemplate(messages).length
}

export function openai(
  messages: OpenAI.Chat.ChatCompletionMessageParam[],
  tools: OpenAI.Chat.ChatCompletionTool[],
  answer: OpenAI.Chat.ChatCompletionMessage,
  items: OpenAI.Responses.ResponseInput,
  responseTools: readonly OpenAI.Responses.Tool[],
) {
  auto.apply_chat_template(messages, { tools, tokenize: false })
  auto.apply_chat_template([...messages, answer])
  const body: OpenAI.Chat.ChatCompletionCreateParams = { model: 'gpt-4o', messages: [...messages, answer], tools }
  const counted: { tokens: number; estimated: string[] } = countRequest(tokenizer, body)
  const left: OpenAI.Chat.ChatCompletionMessageParam[] = fitChat(tokenizer, messages, {
    maxTokens: counted.tokens,
    partTokens: () => 1,
  }).messages
  tokenizer.countChat(left, { tools, model: 'gpt-4o' })
  const typed = items.filter((item) => 'role' in item)
  return calls(messages, { tools }) + calls([answer]) + calls(typed, { tools: responseTools })
}

/** Bodies of requests, and messages of the other APIs in the form of chat completions. */
export function requests(
  chat: OpenAI.Chat.ChatCompletionCreateParams,
  responses: OpenAI.Responses.ResponseCreateParams,
  claude: Anthropic.MessageCreateParams,
  beta: Anthropic.Beta.Messages.MessageCreateParams,
  answer: OpenAI.Responses.Response,
): RequestCount[] {
  calls(fromAnthropic(beta), { tools: toolsFromAnthropic(beta.tools ?? []) })
  calls(fromResponses({ input: answer.output, instructions: answer.instructions }))
  calls(fromResponses(responses), { tools: toolsFromResponses(responses.tools ?? []) })
  calls(fromAnthropic(claude), { tools: toolsFromAnthropic(claude.tools ?? []) })
  return [chat, responses, claude, beta].map((body) => countRequest(tokenizer, body, { api: 'openai-chat' }))
}

export function frozen(
  messages: readonly Readonly<OpenAI.Chat.ChatCompletionMessageParam>[],
  request: Readonly<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming>,
) {
  auto.apply_chat_template(messages)
  return calls(messages) + calls(request.messages, { tools: request.tools ?? null })
}

export function vercel(messages: ModelMessage[], shown: UIMessage[]) {
  auto.apply_chat_template(messages)
  auto.apply_chat_template(shown)
  return calls(messages) + calls(shown) + calls(fromAiSdk(messages)) + calls(fromAiSdk(shown))
}

export function langchain(messages: BaseMessage[], stored: StoredMessage[]) {
  auto.apply_chat_template(messages)
  auto.apply_chat_template(stored)
  const made = [new HumanMessage('hi'), new AIMessage('ho'), new ToolMessage({ content: '1', tool_call_id: 'a' })]
  return calls(messages) + calls(stored) + calls(made) + calls(fromLangChain(messages)) + calls(fromLangChain(stored))
}

export function anthropic(messages: Anthropic.MessageParam[], tools: Anthropic.Tool[], answer: Anthropic.Message) {
  auto.apply_chat_template(messages, { tools })
  const { role, content } = answer
  return calls(messages, { tools }) + calls([...messages, { role, content }, answer])
}

// As @huggingface/tasks writes them, with and without an index signature, and types of a project.
interface HubMessage {
  content?: { type: string; text?: string; [property: string]: unknown }[] | string
  role: string
  tool_calls?: { id: string }[]
  [property: string]: unknown
}
interface OwnMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
  readonly sentAt?: Date
}
interface OwnTool {
  readonly name: string
}
interface OwnVariables {
  enable_thinking: boolean
}
class Said {
  readonly content: readonly { text: string }[] = []
  constructor(readonly role: string) {}
}

export function own(hub: HubMessage[], mine: OwnMessage[], tools: OwnTool[], variables: OwnVariables) {
  auto.apply_chat_template(hub, { tools })
  auto.apply_chat_template(mine)
  auto.apply_chat_template([new Said('user')] as const)
  const fixed = [{ role: 'user', content: [{ type: 'text', text: 'hi' }], name: 'ann', refusal: null }] as const
  auto.apply_chat_template(fixed)
  const options = { tools, documents: tools, variables }
  return calls(hub) + calls(mine, options) + calls(fixed) + calls([new Said('user')])
}

// Types of this package go where those of clients go, and their fields stay readable.
export function roundTrip(message: ChatMessage): unknown {
  auto.apply_chat_template([message])
  return [message.role.length, message.tool_calls, calls([message])]
}

export function refused(text: string, entry: OwnTool) {
  // @ts-expect-error a limit
  fitChat(tokenizer, [{ role: 'user', content: 'x' }], {})
  // @ts-expect-error another limit
  fitChat(tokenizer, [{ role: 'user', content: 'x' }], { maxTokens: '9' })
  // @ts-expect-error a body is an object
  countRequest(tokenizer, text)
  // @ts-expect-error no tokenizer
  countRequest(entry, {})
  // @ts-expect-error no API
  countRequest(tokenizer, entry, { api: 'openai' })
  // @ts-expect-error an option of countRequest
  const wrong: string = tokenizer.countChat([], { partTokens: () => 1 })
  // @ts-expect-error no messages
  calls(fromAnthropic({ system: text }), { variables: { wrong } })
  // @ts-expect-error a conversation is a list
  calls({ role: 'user', content: 'x' })
  // @ts-expect-error a text is no conversation
  calls(text)
  // @ts-expect-error a text is no message
  calls([text])
  // @ts-expect-error a number is no message
  calls([1])
  // @ts-expect-error neither role nor type
  calls([entry])
  // @ts-expect-error a role is a text
  calls([{ role: 1, content: 'x' }])
  // @ts-expect-error a content is no number
  calls([{ role: 'user', content: 1 }])
  // @ts-expect-error tools are a list
  calls([], { tools: entry })
  // @ts-expect-error a tool is an object
  calls([], { tools: [text] })
  // @ts-expect-error documents are objects
  calls([], { documents: [1] })
  // @ts-expect-error variables have names
  calls([], { variables: text })
  // @ts-expect-error a text is no conversation
  auto.apply_chat_template(text)
  // @ts-expect-error a text is no message
  auto.apply_chat_template([text])
  // @ts-expect-error neither role nor type
  auto.apply_chat_template([entry])
  // @ts-expect-error a content is no number
  auto.apply_chat_template([{ role: 'user', content: 1 }])
  // @ts-expect-error a tool is an object
  auto.apply_chat_template([], { tools: [text] })
}

/** Answers of a model as the streams of the clients. */
export async function* answers(source: AsyncIterable<number>, chunks: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const events: AsyncIterable<CompletionEvent> = completionStream(tokenizer, source, { format: 'harmony' })
  for await (const part of toAiSdk(events)) yield part satisfies LanguageModelV3StreamPart
  for await (const chunk of toOpenAi(events)) yield chunk satisfies OpenAI.ChatCompletionChunk
  for await (const fields of toLangChain(events)) yield new AIMessageChunk(fields)
  for await (const event of fromOpenAi(chunks)) if (event.type === 'toolCall') yield event.arguments
  const message: OpenAI.ChatCompletionMessageParam = parseCompletion(undefined, 'text', { format: 'hermes' }).message
  // @ts-expect-error no such option
  completionStream(tokenizer, { formats: 'hermes' })
  yield message
}
