// Fits a conversation into a token budget: drops the oldest turns, and keeps the system message.

import { fitChat } from '@tokenlane/requests'
import { Tokenizer } from 'tokenlane'

const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/** The newest turns that have at most `limit` tokens with the system message, from the user on. */
export function fit(messages, limit) {
  return fitChat(tokenizer, messages, { maxTokens: limit, startOn: 'user' }).messages
}

const talk = Array.from({ length: 40 }, (_, i) => ({
  role: i % 2 ? 'assistant' : 'user',
  content: `This is the text of turn ${i}.`,
}))
const messages = [
  { role: 'system', content: 'Answer in one sentence.' },
  ...talk,
  { role: 'user', content: 'What did I ask first?' },
]
const kept = fit(messages, 200)
console.log(`${messages.length} messages, ${tokenizer.countChat(messages)} tokens`)
console.log(`${kept.length} messages, ${tokenizer.countChat(kept)} tokens, the first turn: ${kept[1].content}`)
