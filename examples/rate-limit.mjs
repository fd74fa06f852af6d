// Rate limiting by tokens: each user may send so many a minute. What is too long for the model is refused first, without looking at
// more of it than that needs.

import { Tokenizer } from 'tokenlane'

const MOST_OF_A_PROMPT = 1000
const PER_MINUTE = 1500

const tokenizer = await Tokenizer.fromEncoding('o200k_base')
const text = { specialTokens: 'text' } // what users write is never a special token

/** What is left for each user, and since when. */
const buckets = new Map()

/** The tokens of a prompt that may be sent now; an error with an HTTP status otherwise. */
export function admit(user, prompt, now = Date.now()) {
  if (!tokenizer.isWithin(prompt, MOST_OF_A_PROMPT, text)) {
    throw Object.assign(new Error(`a prompt has at most ${MOST_OF_A_PROMPT} tokens`), { status: 413 })
  }
  const tokens = tokenizer.count(prompt, text)
  const { left, since } = buckets.get(user) ?? { left: PER_MINUTE, since: now }
  const refilled = Math.min(PER_MINUTE, left + ((now - since) / 60_000) * PER_MINUTE)
  if (tokens > refilled) {
    const seconds = Math.ceil(((tokens - refilled) / PER_MINUTE) * 60)
    throw Object.assign(new Error(`try again in ${seconds} s`), { status: 429, retryAfter: seconds })
  }
  buckets.set(user, { left: refilled - tokens, since: now })
  return tokens
}

const prompts = ['Hello, world!', 'word '.repeat(900), 'word '.repeat(900), 'word '.repeat(10_000_000)]
for (const prompt of prompts) {
  try {
    console.log(`${admit('ann', prompt, 0)} tokens`)
  } catch ({ status, message }) {
    console.log(`${status}: ${message}`)
  }
}
