#!/usr/bin/env node
// The package's side of differential.py: one JSON request a line in, one JSON answer a line out.
//
//   {"load": path, "format": "hf" | "tiktoken-npm"} -> {} or {"refused": message}
//   {"encode": text | words, "options": {…}}        -> the columns that the package has, offsets in code points
//   {"decode": ids, "options": {…}}                 -> {"text": …}
//   {"abilities": true}                             -> {"capabilities": […], "columns": […]}
// A call that throws answers {"threw": message}.

import { createInterface } from 'node:readline'

import { capabilities, columns, load } from '../__test__/conformance/adapter.mjs'

let subject

async function answer(request) {
  if (request.abilities) return { capabilities, columns }
  if (request.load !== undefined) {
    try {
      subject = await load(request.load, { format: request.format })
      return {}
    } catch (error) {
      return { refused: error.message }
    }
  }
  try {
    if (request.decode !== undefined) return { text: subject.decode(request.decode, request.options) }
    return plain(subject.encode(request.encode, { ...request.options, offsets: 'codepoint' }))
  } catch (error) {
    return { threw: error.message }
  }
}

/** The columns as JSON: offsets flat, `null` for the word or sequence of a token that has none. */
function plain(encoding) {
  const result = {}
  for (const name of ['ids', ...columns]) {
    const column = encoding[name]
    if (name === 'overflowing') result[name] = column.map(plain)
    else if (name === 'wordIds' || name === 'sequenceIds')
      result[name] = Array.from(column, (id) => (id < 0 ? null : id))
    else result[name] = Array.from(column).flat()
  }
  return result
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`)
}
