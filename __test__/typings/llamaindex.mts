// Is compiled, never run, by `npm run maintain clients`: messages and tools of llamaindex, which is
// too large for this checkout.
import type { BaseTool, ChatMessage, ToolCallLLMMessageOptions } from '@llamaindex/core/llms'
import { type ChatEntry, Tokenizer } from 'tokenlane'
import { countRequest, fromLlamaIndex, toolsFromLlamaIndex } from '@tokenlane/requests'

// The type is there: a type that is not found accepts everything.
// @ts-expect-error of LlamaIndex
export const ofLlamaIndex: ChatMessage = 1

export function llamaindex(messages: ChatMessage<ToolCallLLMMessageOptions>[], tools: BaseTool[]): number {
  const tokenizer = Tokenizer.forModelSync('gpt-4o')
  const entries: ChatEntry[] = fromLlamaIndex(messages)
  return countRequest(tokenizer, { messages: entries, tools: toolsFromLlamaIndex(tools) }).tokens
}
