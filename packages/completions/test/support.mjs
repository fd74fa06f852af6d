// What the specs of completions share: events that are joined, answers that are cut or changed, and
// a tokenizer that has the markers of a format.

import fs from 'node:fs'

import { Tokenizer } from 'tokenlane'

import { completionStream } from '@tokenlane/completions'

export const read = (name) => JSON.parse(fs.readFileSync(new URL(`data/${name}.json`, import.meta.url), 'utf8'))

export const createId = (index) => `call_${index}`

/** Events in which texts and arguments that were cut by chunks are one. */
export function joined(events) {
  const whole = []
  for (const event of events) {
    const last = whole.at(-1)
    if (last !== undefined && last.type === event.type && 'text' in event) last.text += event.text
    else if (last?.type === 'toolCall' && last.index === event.index && !last.isDone && !event.isDone)
      last.arguments += event.arguments
    else whole.push({ ...event })
  }
  return whole
}

/** All events of an answer in chunks, and the stream. */
export function streamed(tokenizer, chunks, options) {
  const stream = completionStream(tokenizer, { createId, ...options })
  const events = chunks.flatMap((chunk) => stream.push(chunk))
  return { events: [...events, ...stream.end()], stream }
}

/** A text or ids in chunks of a size, or of sizes that a generator draws. */
export function cut(answer, size) {
  const chunks = []
  for (let at = 0; at < answer.length; ) {
    const length = typeof size === 'number' ? size : 1 + size(9)
    chunks.push(answer.slice(at, at + length))
    at += length
  }
  return chunks
}

const CHAT = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)

/** The tokenizer of the chat specs with further control tokens. */
export function tokenizerWith(tokens, options) {
  const tokenizer = Tokenizer.fromFileSync(CHAT, options)
  const addedTokens = tokens.filter((token) => tokenizer.tokenToId(token) === undefined)
  // Tags of tools are no special tokens in Qwen's and other tokenizers.
  return tokenizer.with({
    addedTokens: addedTokens.map((content) => ({ content, special: !/^<\/?[a-z]/.test(content) })),
  })
}

/** What looks like a control token in an answer. */
export const tokensOf = (text) => [...new Set(text.match(/<[^<>\s]*>|\[[A-Z_]+\]|｜[^｜<>]+｜/g) ?? [])]

/** An answer with up to three changes: cut, without a part, with a part of another, or twice. */
export function changed(answers, next) {
  let [format, text] = answers[next(answers.length)]
  for (let count = next(4); count > 0; count--) {
    const from = next(text.length + 1)
    const to = Math.min(text.length, from + next(12))
    const other = answers[next(answers.length)][1]
    const start = next(other.length)
    const changes = [
      () => text.slice(0, from),
      () => text.slice(0, from) + text.slice(to),
      () => text.slice(0, from) + other.slice(start, start + next(24)) + text.slice(from),
      () => text.slice(0, to) + text.slice(from),
      () => text.slice(0, from) + String.fromCharCode(next(300)) + text.slice(to),
    ]
    text = changes[next(changes.length)]()
  }
  if (next(20) === 0) format = answers[next(answers.length)][0]
  return [format, text]
}

/** What is wrong with how a changed answer is read; undefined if nothing is. */
export function problemOf([format, text], next) {
  const options = { format, startsIn: next(3) === 0 ? 'reasoning' : 'text' }
  const { events, stream } = streamed(undefined, [text], options)
  if (stream.parts.map(({ raw }) => raw).join('') !== text) return 'characters are lost'
  const whole = JSON.stringify(joined(events))
  for (const size of [1, next])
    if (JSON.stringify(joined(streamed(undefined, cut(text, size), options).events)) !== whole) return 'chunks matter'
  return undefined
}
