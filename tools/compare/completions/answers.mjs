// Reads answers for cases.py and harmony.py: a line of JSON in, a line of JSON out.
//
//   { format, text, options } or { format, ids, model, options } -> { message, parts, damage }
//   { format, options, isStream: true } -> {}, then { push: text } -> { events }

import readline from 'node:readline'

import { completionStream, parseCompletion } from '@tokenlane/completions'
import { Tokenizer } from '../../../index.mjs'

let stream
function answer({ format, text, ids, model, options, isStream, push }) {
  if (push !== undefined) return { events: stream.push(push) }
  const all = { ...options, format, createId: (index) => `call_${index}` }
  if (ids !== undefined) return parseCompletion(Tokenizer.forModelSync(model), ids, all)
  if (!isStream) return parseCompletion(undefined, text, all)
  stream = completionStream(undefined, all)
  return {}
}

for await (const line of readline.createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`)
