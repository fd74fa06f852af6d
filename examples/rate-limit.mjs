// Limits the rate of tokens: each user can send a number of tokens per minute. Prompts that are too
// long for the model are refused first; `isWithin` reads no more of the text than it needs.

import { Tokenizer } from 'tokenlane'

const MAX_PROMPT = 1000
const PER_MINUTE = 1500

const tokenizer = await Tokenizer.fromEncoding('o200k_base')
const text = { specialTokens: 'text' } // special tokens in user input are ordinary text

/** The remaining tokens of each user, and the time of that value. */
const buckets = new Map()

/**
 * Returns the number of tokens of a prompt. Throws an error with an HTTP status above the limits.
 */
export function admit(user, prompt, now = Date.now()) {
  if (!tokenizer.isWithin(prompt, MAX_PROMPT, text)) {
    throw Object.assign(new Error(`a prompt can have at most ${MAX_PROMPT} tokens`), { status: 413 })
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
