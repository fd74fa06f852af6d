// A conversation that has to fit a model: the oldest turns go first, the system's words and the last turn stay.

import { Tokenizer } from 'tokenlane'

const tokenizer = await Tokenizer.fromEncoding('o200k_base')

/** The messages without as many of the oldest as it takes to have at most so many tokens. */
export function fit(messages, most) {
  const system = messages.filter(({ role }) => role === 'system')
  const turns = messages.filter(({ role }) => role !== 'system')
  while (turns.length > 1 && tokenizer.countChat([...system, ...turns]) > most) turns.shift()
  return [...system, ...turns]
}

const talk = Array.from({ length: 40 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `This is what was said in turn ${i}.` }))
const messages = [{ role: 'system', content: 'Answer in one sentence.' }, ...talk, { role: 'user', content: 'What did I ask first?' }]
const kept = fit(messages, 200)
console.log(`${messages.length} messages, ${tokenizer.countChat(messages)} tokens`)
console.log(`${kept.length} messages, ${tokenizer.countChat(kept)} tokens, the first turn: ${kept[1].content}`)
