// Fits a conversation into a token budget: drops the oldest turns, and keeps the system message and
// the last turn.

import { Tokenizer } from 'tokenlane'

const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/**
 * Returns the messages without as many of the oldest turns as necessary to have at most `limit`
 * tokens.
 */
export function fit(messages, limit) {
  const system = messages.filter(({ role }) => role === 'system')
  const turns = messages.filter(({ role }) => role !== 'system')
  while (turns.length > 1 && tokenizer.countChat([...system, ...turns]) > limit) turns.shift()
  return [...system, ...turns]
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
