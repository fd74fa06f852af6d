// Answers compare.py: reads { file, texts, rooms, rows } from the standard input, and writes
// tokenlane's ids, tokens, offsets and decoded texts, and the calls of loops over encodeInto.

import fs from 'node:fs'

import { Tokenizer } from '../../../index.mjs'

const { file, texts, rooms, rows } = JSON.parse(fs.readFileSync(0, 'utf8'))
const tokenizer = await Tokenizer.fromFile(file)

/** The text of ids, decoded as a stream of one id after the other. */
function streamed(ids) {
  const stream = tokenizer.decodeStream()
  const pieces = Array.from(ids, (id) => stream.push(id))
  return pieces.join('') + stream.end()
}

/** The offsets of a text in each unit. */
function offsets(text) {
  const of = (/** @type {'byte' | 'codepoint' | 'utf16'} */ unit) => [
    ...tokenizer.encode(text, { offsets: unit }).offsets,
  ]
  return { byte: of('byte'), codepoint: of('codepoint'), utf16: of('utf16') }
}

/**
 * Encodes a text with an array of `room` ids, and with a larger one where nothing fits: the size of
 * the array, the units read and the ids written, of each call.
 */
function loop(text, room) {
  const calls = []
  for (let [rest, size] = [text, room]; rest !== ''; ) {
    const ids = new Uint32Array(size)
    const { read, written } = tokenizer.encodeInto(rest, ids)
    calls.push([size, read, [...ids.subarray(0, written)]])
    rest = rest.slice(read)
    size = read === 0 ? 2 * size : room
  }
  return calls
}

const answers = { texts: [], loops: [], rows: [] }
for (const text of texts) {
  const { ids, tokens } = tokenizer.encode(text)
  answers.texts.push([[...ids], tokens, offsets(text), tokenizer.decode(ids), streamed(ids)])
}
rooms.forEach((room, at) => answers.loops.push(loop(texts[at], room)))
for (const ids of rows) answers.rows.push([tokenizer.decode(ids), streamed(ids)])
process.stdout.write(JSON.stringify(answers))
